package attribution_test

import (
	"fmt"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Of 400 chains 30 are slow, and their time is in the inner hop.
func Example() {
	hops := []spans.Hop{{Name: "gateway"}, {Name: "stock"}}
	a := attribution.NewAccumulator()
	for i := range int64(400) {
		inner := 5e6 + i*1e3
		if i >= 370 {
			inner += 200e6
		}
		a.AddChain(&spans.Chain{Hops: hops, Timed: true, Group: uint16(i), Attempts: []spans.Attempt{
			{Hop: 0, Parent: -1, Duration: inner + 2e6, Timed: true, Outcome: spans.Completed},
			{Hop: 1, Parent: 0, Start: 1e6, Duration: inner, Timed: true, Outcome: spans.Completed},
		}})
	}
	r := a.Result(attribution.Query{TailFrom: quantile.MustP("0.95"), Confidence: quantile.MustP("0.95")})
	fmt.Println(r.Owner.Name, r.Tail.Traces, r.Basis)
	// Output: stock 21 containment
}
