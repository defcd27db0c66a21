// Package buckets groups attempts by hop, the truncated ones in a bucket of
// their own.
//
//  1. Each worker adds its batches to a Set of its own.
//  2. Set.Merge joins the workers' sets; the result does not depend on who saw
//     which attempt, nor in which order.
//  3. Set.Results resolves what only the whole input can tell (failures that
//     hold a cut of their chain, attempts that reached a given timeout where no
//     mark says how they ended) and gives a Result per hop.
//
// Classes does the same for traces that carry weights: a Set for each weight.
//
// Quantiles of a bucket are conditional on its outcome. The honest tail is in
// Result.Tail: first attempts, the cut ones known only to be longer than they
// read, the failed ones left out.
package buckets
