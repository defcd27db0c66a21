package timeouts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/spans"
)

// How many attempts of a hop call another is found among many calls as by looking at
// each of them.
func TestCallersAreFoundAmongManyCalls(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	hop := func(i int) spans.Hop { return spans.Hop{Name: fmt.Sprint("h", i), Kind: spans.Kind(i % 3)} }
	node := callgraph.Node{Hop: hop(0)}
	want := map[spans.Hop]uint64{}
	for i := range 300 {
		if random.IntN(2) == 0 {
			want[hop(i)] = uint64(i + 1)
			node.Calls = append(node.Calls, callgraph.Call{Hop: hop(i), Callers: uint64(i + 1)})
		}
	}
	slices.SortFunc(node.Calls, func(a, b callgraph.Call) int { return a.Hop.Compare(b.Hop) })
	a := &adviser{nodes: map[spans.Hop]*callgraph.Node{hop(0): &node}}
	for i := range 310 {
		if got := a.callers(hop(0), hop(i)); got != want[hop(i)] {
			t.Errorf("hop %d: %d callers, not %d", i, got, want[hop(i)])
		}
	}
	if a.callers(hop(1), hop(0)) != 0 {
		t.Error("a hop that calls nothing has callers")
	}
}
