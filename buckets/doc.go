// Package buckets groups attempts by hop, the truncated ones in a bucket of
// their own.
//
//  1. Each worker adds its batches, chains and traces to an Accumulator of its own.
//  2. Accumulator.Merge joins them; the result does not depend on who saw which
//     attempt, nor in which order.
//  3. Accumulator.Results resolves what only the whole input can tell (failures that
//     hold a cut of their chain, attempts that reached a given timeout where no
//     mark says how they ended) and gives a Result per hop.
//
// Traces that carry weights are counted apart for each weight.
//
// Quantiles of a bucket are conditional on its outcome. The honest tail is in
// Result.Tail: first attempts, the cut ones known only to be longer than they
// read, the failed ones left out.
package buckets
