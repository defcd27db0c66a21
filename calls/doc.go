// Package calls says why a call is slow: whether it waits in a queue for workers of its
// callee, or for a connection of its caller's, on the way, or whether the work itself
// takes long.
//
//  1. Each worker gives whole traces to an Accumulator of its own (AddTrace). It keeps one
//     moment for each server span, with the call that it answers.
//  2. Accumulator.Merge joins them; the order does not matter.
//  3. Accumulator.Result goes through the moments of each callee in the order of its own
//     clock, and gives a Pair for each call of a callee, with its verdict, and a Callee for
//     each service and each of its instances.
//
// The gap of a call is its duration less that of its server's span: wait and return
// together, without a clock in it. A full pool is shown by hand-overs: calls that waited
// begin just as another one ends and gives up its place. A plateau of calls open at once
// shows none, as a serial caller or a load generator makes one too.
package calls
