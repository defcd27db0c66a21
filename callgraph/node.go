package callgraph

import "github.com/tailscope/tailscope/quantile"

// node is a caller.
type node struct {
	entries uint64 // requests that begin here
	edges   []edge
	places  map[int32]int // of edges by their hop, once they are many
	makers  uint64        // attempts that made calls
	// pairs counts callers under which two hops were called side by side, both those
	// that call two hops at all.
	pairs, both map[pair]uint64
	// Of completed attempts that made calls: the time that no call covers, and the
	// whole time. Served counts attempts that were cut and are in own with the time
	// of their server.
	own, whole *quantile.Sample
	served     uint64
}

// pair is two hops by their numbers, the smaller first.
type pair [2]int32

func pairOf(a, b int32) pair { return pair{min(a, b), max(a, b)} }

// edge is the calls that a caller makes of one hop.
type edge struct {
	hop     int32
	callers uint64            // attempts that make such a call
	rows    map[uint32]uint64 // how many of these make so many in a row, from 2 on
	crowded bool              // a caller called so many hops that both leaves it out
}

// few edges or pairs are looked through, more are looked up: a caller has few, unless
// each call bears a name of its own.
const few = 16

// edge returns the edge to a hop.
func (n *node) edge(hop int32) *edge {
	if n.places == nil {
		for i := range n.edges {
			if n.edges[i].hop == hop {
				return &n.edges[i]
			}
		}
	} else if i, known := n.places[hop]; known {
		return &n.edges[i]
	}
	n.edges = append(n.edges, edge{hop: hop})
	n.enter(hop)
	return &n.edges[len(n.edges)-1]
}

// enter notes where the last edge is.
func (n *node) enter(hop int32) {
	switch {
	case n.places != nil:
		n.places[hop] = len(n.edges) - 1
	case len(n.edges) > few:
		n.places = map[int32]int{}
		for i := range n.edges {
			n.places[n.edges[i].hop] = i
		}
	}
}

// call counts a caller that makes so many calls of the hop in a row.
func (e *edge) call(inRow uint32) {
	e.callers++
	if inRow > 1 {
		e.addRows(inRow, 1)
	}
}

func (e *edge) addRows(inRow uint32, callers uint64) {
	if e.rows == nil {
		e.rows = map[uint32]uint64{}
	}
	e.rows[inRow] += callers
}

func (n *node) sideBySide(p pair, callers uint64) { addPair(&n.pairs, p, callers) }

func addPair(into *map[pair]uint64, p pair, callers uint64) {
	if *into == nil {
		*into = map[pair]uint64{}
	}
	(*into)[p] += callers
}

// together enters the hops that one caller calls.
func (n *node) together(called []int32) {
	n.makers++
	for i, hop := range called {
		if len(called) > few {
			n.edge(hop).crowded = true
			continue
		}
		for _, other := range called[:i] {
			addPair(&n.both, pairOf(hop, other), 1)
		}
	}
}

// worked enters the time that a completed attempt worked itself, and all it took.
func (n *node) worked(store *quantile.Store, own, whole int64) {
	if n.own == nil {
		n.own, n.whole = sampleOf(store), sampleOf(store)
	}
	n.own.Add(own)
	n.whole.Add(whole)
}

// serverWorked enters what the server of an attempt that was cut worked itself.
func (n *node) serverWorked(store *quantile.Store, own int64) {
	if n.own == nil {
		n.own, n.whole = sampleOf(store), sampleOf(store)
	}
	n.own.Add(own)
	n.served++
}

func sampleOf(store *quantile.Store) *quantile.Sample {
	if store == nil {
		return new(quantile.Sample)
	}
	return store.New()
}

// merge moves another node into n; hops are the numbers of its hops here.
func (n *node) merge(o *node, hops []int32) {
	n.entries += o.entries
	n.served += o.served
	n.makers += o.makers
	for _, e := range o.edges {
		mine := n.edge(hops[e.hop])
		mine.callers += e.callers
		mine.crowded = mine.crowded || e.crowded
		for inRow, callers := range e.rows {
			mine.addRows(inRow, callers)
		}
	}
	for p, callers := range o.pairs {
		n.sideBySide(pairOf(hops[p[0]], hops[p[1]]), callers)
	}
	for p, callers := range o.both {
		addPair(&n.both, pairOf(hops[p[0]], hops[p[1]]), callers)
	}
	mergeSample(&n.own, o.own)
	mergeSample(&n.whole, o.whole)
}

func mergeSample(into **quantile.Sample, from *quantile.Sample) {
	if *into == nil {
		*into = from
		return
	}
	(*into).Merge(from)
}
