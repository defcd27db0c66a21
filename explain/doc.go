// Package explain tells everything that a run knows about one hop, in sentences and small
// tables: how its attempts ended, what each quantile stands on, what hides it, what is
// guessed beyond, what its timeout should be, who calls it and whom it calls, and what it
// has to do with slow requests.
//
//  1. Of finds the hop that is meant and picks what the results of all analyses say of it.
//  2. Result.Section words it. Every figure is one of those results: nothing is computed
//     here but how a canary's size follows from its quantile.
package explain
