// Package orphans finds work that goes on after its caller left. No error rate
// shows it, but it holds threads and connections and works for nobody.
//
//  1. Each worker adds whole traces to an Accumulator of its own.
//  2. Accumulator.Merge joins them; the order does not matter.
//  3. Accumulator.Result gives the counts, the pairs of hops, inverted timeouts, the
//     order of nested cuts and the worst cases.
//
// An orphan is a child that runs on after a parent which gave up. It is not a
// span whose parent is absent: that is a missing parent, though many tools call
// it an orphan. State is one trace at a time; nothing recurses on the stack.
package orphans
