// Package depend says how the attempts of a sample hang together: n attempts that go
// the same way by trace, or by minute, know less than n independent ones.
//
//  1. A LogBucket is a threshold: all sums are kept for each, as the one that matters
//     is known only at the end.
//  2. Clusters sums up clusters such as traces, and the Blocks of a Window those of
//     time.
//  3. Dependence takes both; it gives the design Effect at a threshold, and the Drift
//     of the share beyond it.
package depend
