// Package attribution says which hop owns the tail, and where failures sit.
//
//  1. Each worker has an Accumulator. AddTrace takes whole traces; AddBatch counts the lines
//     of hop logs, and AddChain takes their chains.
//  2. A trace's critical path gives every moment of its end-to-end time to one
//     hop; only these times are kept, in about 4 + 4 h bytes for h hops.
//  3. Accumulator.Merge joins the workers; the order does not matter.
//  4. Accumulator.Result splits the traces into tail and body, takes the difference
//     apart by hop, and names an owner where the rules allow it.
//
// All sums are integers, so that no figure depends on the order of anything;
// only shares and their limits are floats, computed at the end.
package attribution
