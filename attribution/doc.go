// Package attribution says which hop owns the tail, and where failures sit.
//
//  1. Each worker has a Watch. Add takes whole traces; AddLines takes batches of
//     hop logs, whose lines wait until their chain is whole.
//  2. Chains puts the chains together, once all lines are there.
//  3. A trace's critical path gives every moment of its end-to-end time to one
//     hop; only these times are kept, in about 4 + 4 h bytes for h hops.
//  4. Watch.Merge joins the workers; the order does not matter.
//  5. Watch.Result splits the traces into tail and body, takes the difference
//     apart by hop, and names an owner where the rules allow it.
//
// All sums are integers, so that no figure depends on the order of anything;
// only shares and their limits are floats, computed at the end.
package attribution
