// Package nesting finds what calls what in a hop log, which names no callers, from the
// times of its attempts.
//
//  1. Each worker has Votes, and gives it whole chains by AddChain. In each chain every
//     attempt of a hop votes on every other hop that it overlaps: it lies in that
//     hop's attempt, outlasts it, begins before it, or holds it.
//
//     Where a column of the log names callers, Votes.State says so first: its pairs are
//     calls without votes.
//
//  2. Votes.Merge joins the workers; the order does not matter.
//
//  3. Votes.Find decides each ordered pair of hops by its votes: a call, none, calls
//     side by side, clocks that disagree, or not known.
//
//  4. A Placer puts the attempts of a chain under those that made them, in one Reading
//     of what is not known.
//
// Pairs come first and attempts second: whether an attempt starts inside another one
// says little, as calls made side by side do so too; that it ends with it in nearly all
// chains, whatever its length, says much.
package nesting
