// Package quantile keeps durations exactly and says what they prove about
// the tail of a hop.
//
//  1. A P is a probability, kept as the decimal it was written as, so that
//     ranks are integers: rank = max(1, ceil(p n)).
//  2. A Sample collects durations in nanoseconds. It is an exact multiset:
//     merging samples in any order and any split gives the same values. A Store
//     bounds the memory of many, and writes the rest to a temporary file.
//  3. A Union reads several samples as one; Summarize takes its count, mean,
//     extremes and nearest-rank quantiles, SummarizeEach those of several in one
//     walk that reads values only where a rank falls.
//  4. Observed holds the completed and the cut (right-censored) attempts of a
//     hop; Tails gives each quantile with its status (exact, at_least,
//     no_value) and its distribution-free limits.
//     TailsByWeight does the same where attempts stand for different numbers of
//     others.
//  5. KMBeyond walks the survival curve above a threshold; StratifiedKMQuantile
//     pools strata that have different timeouts.
//  6. ClopperPearson, UpperRank, LowerRank, CanarySize and HighestCertifiable
//     are the binomial bounds; all limits are one-sided.
//  7. InferWalls finds timeouts from cuts that lie together.
//  8. Effects says how the attempts beyond a quantile hang together, and Widen puts
//     the limits where so many independent attempts would put them.
//
// Package runs keeps the durations (Sample, Store and Union are names for what stands
// there), depend sums up how attempts hang together, fit guesses beyond the wall.
//
// Nothing is sampled and nothing is rounded: floats appear only in ratios,
// survival curves, bounds and fits. No function panics on data. A Sample belongs to
// one goroutine; reading it sorts its buffers in place, so even two readers
// must not share one at the same time.
package quantile
