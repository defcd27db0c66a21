// Package runs keeps durations exactly, in nanoseconds, in little memory or in a file.
//
//  1. A Sample is an exact multiset: pages count whole microseconds where they are
//     dense, and sorted runs, delta-coded, hold the rest. Merging samples in any order
//     and any split gives the same values.
//  2. A Store bounds the memory of many samples, and writes the runs of the largest to
//     a temporary file.
//  3. A Union reads several samples as one. Its Cursor is a k-way merge that passes
//     over whole cells without reading their values; a RankQuery, answered with others
//     in one walk, reads values only where a rank falls.
//
// A Sample belongs to one goroutine; reading it sorts its buffers in place, so even two
// readers must not share one at the same time.
package runs
