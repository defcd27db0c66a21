// Package sampling says how the traces of an input were chosen, and so whether
// they can carry a statistic.
//
//  1. Each worker has an Accumulator and shows it every whole trace; Accumulator.Merge
//     joins them. The result depends neither on the order of traces nor on the split.
//  2. Accumulator.Verdict holds what was seen against what the user Stated and gives
//     the kind (none, probability, biased, unknown), its evidence and warnings.
//  3. WeightOf is the one weight of a trace.
//
// Data alone never make a sample biased: where their durations, their endings or
// their number look chosen, the kind stays unknown and a warning names the
// signs. What was left out leaves no trace, so no sign proves anything, and a
// biased sample need not show one.
package sampling
