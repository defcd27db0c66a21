package quantile_test

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile"
)

// Of a hundred attempts five were cut at their timeout of 500 ns: p90 is known, of p99
// only that it is at least that.
func Example() {
	var completed, cut quantile.Sample
	for ns := range int64(95) {
		completed.Add(ns)
	}
	cut.AddN(500, 5)
	o := quantile.Observed{Completed: quantile.Union{&completed}, CutAt: quantile.Union{&cut}}
	ps := []quantile.P{quantile.MustP("0.9"), quantile.MustP("0.99")}
	for _, t := range o.Tails(ps, quantile.MustP("0.95")).Tails {
		fmt.Println(t.P.Label(), t.Status, t.Value)
	}
	// Output:
	// p90 exact 89
	// p99 at_least 500
}
