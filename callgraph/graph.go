package callgraph

import (
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Graph is who calls what. Nodes and calls are sorted by hop, then kind; the node
// of those who are not seen to be called by anybody has a hop without a name.
type Graph struct {
	Nodes    []Node
	Requests uint64 // traces and chains
	Calls    uint64 // first attempts of callers
	Untimed  uint64 // requests whose calls are taken to be in a row for want of times
	Window   Window
}

// Node is a hop that makes calls, or with which requests begin.
type Node struct {
	spans.Hop
	Entries uint64 // requests that begin here
	Makers  uint64 // attempts that make calls
	Calls   []Call
	// Groups holds the places of calls made side by side, or one instead of the other,
	// one group after the other.
	Groups [][]int
	// Own is the time in ns that completed attempts worked themselves, nil where there
	// are none. Served are those of Own that were cut, and whose server did the work
	// all the same.
	Own    *quantile.Sample
	Served uint64
	// Whole is, of the node of those who are not seen to be called, what the calls of a
	// request took from the first start to the last end.
	Whole *quantile.Sample
}

// Call is the calls that a hop makes of another.
type Call struct {
	spans.Hop
	Callers uint64            // attempts of the caller that make one
	rows    map[uint32]uint64 // as in edge
	with    map[int]bool      // places of the calls that one of these makes too
	crowded bool              // with is not known
}

// Instead reports whether no caller is known that makes this call and the one at
// another place of its node.
func (c *Call) Instead(place int) bool { return !c.crowded && !c.with[place] }

// InRow is how many calls one after the other a caller makes, at the nearest rank
// of p among those that make any.
func (c *Call) InRow(p quantile.P) uint32 {
	rank, seen := p.Rank(c.Callers), c.Callers
	for _, n := range c.rows {
		seen -= n
	}
	for _, inRow := range slices.Sorted(maps.Keys(c.rows)) {
		if seen >= rank {
			break
		}
		if seen += c.rows[inRow]; seen >= rank {
			return inRow
		}
	}
	return 1
}

// Graph returns who calls what. Its samples are the accumulator's.
func (w *Accumulator) Graph() *Graph {
	w.flush()
	g := &Graph{Requests: w.requests, Calls: w.calls, Untimed: w.untimed, Window: w.window}
	for i := range w.nodes {
		if n := &w.nodes[i]; n.entries > 0 || len(n.edges) > 0 {
			g.Nodes = append(g.Nodes, w.node(int32(i)))
		}
	}
	slices.SortFunc(g.Nodes, func(a, b Node) int { return a.Hop.Compare(b.Hop) })
	return g
}

func (w *Accumulator) node(i int32) Node {
	n := &w.nodes[i]
	out := Node{Hop: w.hops.Hop(i), Entries: n.entries, Makers: n.makers, Own: n.own.sample, Whole: n.whole.sample, Served: n.served}
	edges := slices.Clone(n.edges)
	slices.SortFunc(edges, func(a, b edge) int { return w.hops.Hop(a.hop).Compare(w.hops.Hop(b.hop)) })
	s := newSharing(edges, n)
	for i, e := range edges {
		out.Calls = append(out.Calls, Call{w.hops.Hop(e.hop), e.callers, e.rows, s.with[i], e.crowded})
	}
	out.Groups = s.groups()
	return out
}
