package callgraph_test

import (
	"fmt"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// A gateway calls the same hop twice, one call after the other.
func Example() {
	a := callgraph.NewAccumulator(callgraph.Config{})
	defer a.Close()
	a.AddChain(&spans.Chain{Hops: []spans.Hop{{Name: "gateway"}, {Name: "stock"}}, Timed: true, Attempts: []spans.Attempt{
		{Hop: 0, Parent: -1, Duration: 100, Timed: true, Outcome: spans.Completed},
		{Hop: 1, Parent: 0, Start: 10, Duration: 20, Timed: true, Outcome: spans.Completed},
		{Hop: 1, Parent: 0, Start: 40, Duration: 20, Timed: true, Outcome: spans.Completed},
	}})
	for _, n := range a.Graph().Nodes {
		for _, c := range n.Calls {
			fmt.Printf("%q calls %s, %d in a row\n", n.Name, c.Name, c.InRow(quantile.MustP("1")))
		}
	}
	// Output:
	// "" calls gateway, 1 in a row
	// "gateway" calls stock, 2 in a row
}
