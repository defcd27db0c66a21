// Package waterfall draws one request: which span or attempt ran when, what waited for
// what, what timed out, and what ran on for nobody.
//
//  1. Each worker has a Picker, which keeps a copy of the trace or chain that is asked for:
//     the one with an id, the slowest request, or that of the slowest call of a hop.
//  2. Picker.Merge joins them; the order does not matter.
//  3. Picker.Result says which one was chosen and by which rule, and has its spans.
//  4. Result.Section draws them for people, lists them as JSON and CSV, and WriteJaeger as
//     a file for Jaeger's UI.
//
// What is kept at a time is at most a few requests for each worker.
package waterfall
