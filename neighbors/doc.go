// Package neighbors counts which hop lies right above which, and finds the hop that
// somebody means.
//
//  1. Each worker gives whole traces (AddTrace) and placed chains of hop logs (AddChain)
//     to an Accumulator of its own.
//  2. Accumulator.Merge joins them; the order does not matter.
//  3. Accumulator.Pairs lists who lies above whom.
//  4. Find resolves "search → catalog", "search -> catalog", "search call catalog" or any
//     part of a name that only one call has.
//
// Unlike package callgraph, which knows calls only, it knows every span.
package neighbors
