package callgraph

import (
	"testing"

	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/spans"
)

// What lies in no attempt of its caller, as where a line is missing, is not called by
// whoever began the request.
func TestACallWhoseCallerIsMissingIsNobodys(t *testing.T) {
	hops := []spans.Hop{{Name: "gateway"}, {Name: "stock"}}
	at := func(hop int32, start, took int64, o spans.Outcome) spans.Attempt {
		return spans.Attempt{Hop: hop, Parent: -1, Start: start, Duration: took, Outcome: o, Timed: true}
	}
	a := NewAccumulator(Config{})
	a.SetNesting(nesting.Known(0, [2]spans.Hop{hops[0], hops[1]}))
	a.AddChain(&spans.Chain{Hops: hops, Timed: true, Attempts: []spans.Attempt{
		at(0, 0, 100, spans.Completed), at(1, 10, 50, spans.Completed), at(1, 200, 10, spans.Truncated), at(1, 220, 10, spans.Completed),
	}})
	g := a.Graph()
	if len(g.Nodes) != 2 || len(g.Nodes[0].Calls) != 1 || g.Nodes[0].Calls[0].Name != "gateway" || g.Nodes[1].Calls[0].Callers != 1 {
		t.Errorf("%+v", g.Nodes)
	}
}
