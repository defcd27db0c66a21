// Package callgraph says what requests are made of: which hop makes which calls,
// how many in a row and which side by side, and how long each works itself.
//
//  1. Each worker gives whole traces (AddTrace) and nested chains of hop logs (AddChain)
//     to an Accumulator of its own.
//  2. Accumulator.Merge joins them; the order does not matter.
//  3. Accumulator.Graph gives a Node for each caller, with its Calls.
//
// A call is a first attempt with its retries. What a caller does not wait for
// begins a request of its own. A chain without times is taken for calls in a row.
package callgraph
