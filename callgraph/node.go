package callgraph

import (
	"math/bits"

	"github.com/tailscope/tailscope/quantile"
)

// node is a caller.
type node struct {
	entries uint64 // requests that begin here
	edges   []edge
	places  map[int32]int // of edges by their hop, once they are many
	makers  uint64        // attempts that made calls
	// pairs counts callers under which two hops were called side by side.
	pairs map[pair]uint64
	// both are hops that one caller calls, besides those in edge.with.
	both map[pair]bool
	// Of completed attempts the time that no call covers. Served counts attempts that
	// were cut and are in own with the time of their server.
	own    durations
	served uint64
	whole  durations // what the calls of a request took together, of whoever began it
}

// pair is two hops by their numbers, the smaller first.
type pair [2]int32

func pairOf(a, b int32) pair { return pair{min(a, b), max(a, b)} }

// edge is the calls that a caller makes of one hop.
type edge struct {
	hop     int32
	callers uint64            // attempts that make such a call
	rows    map[uint32]uint64 // how many of these make so many in a row, from 2 on
	with    uint64            // places of the edges, below 64, that one of these makes too
	crowded bool              // a caller called so many hops that nobody kept which
}

// few edges or pairs are looked through, more are looked up: a caller has few, unless
// requests have hops of their own.
const few = 16

// edge returns the edge to a hop. A caller has few, and meets them in turn.
func (n *node) edge(hop int32) *edge { return &n.edges[n.place(hop)] }

// place returns where the edge to a hop stands.
func (n *node) place(hop int32) int {
	for i := range n.edges[:min(few, len(n.edges))] {
		if n.edges[i].hop == hop {
			return i
		}
	}
	if len(n.edges) < few {
		n.edges = append(n.edges, edge{hop: hop})
		return len(n.edges) - 1
	}
	i, known := n.places[hop]
	if !known {
		if n.places == nil {
			n.places = map[int32]int{}
		}
		i = len(n.edges)
		n.places[hop] = i
		n.edges = append(n.edges, edge{hop: hop})
	}
	return i
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

func (n *node) sideBySide(p pair, callers uint64) {
	if n.pairs == nil {
		n.pairs = map[pair]uint64{}
	}
	n.pairs[p] += callers
}

// inBits is how many edges have a bit in edge.with.
const inBits = 64

// together enters the hops that one caller calls.
func (n *node) together(called []int32) {
	n.makers++
	if len(called) > few {
		for _, hop := range called {
			n.edge(hop).crowded = true
		}
		return
	}
	all := uint64(0)
	for _, hop := range called {
		if at := n.place(hop); at < inBits {
			all |= 1 << at
		}
	}
	for i, hop := range called {
		if at := n.place(hop); at < inBits {
			n.edges[at].with |= all &^ (1 << at)
			continue
		}
		for k, other := range called {
			if k != i {
				n.callsBoth(pairOf(hop, other))
			}
		}
	}
}

func (n *node) callsBoth(p pair) {
	if n.both == nil {
		n.both = map[pair]bool{}
	}
	n.both[p] = true
}

// eachBoth calls see with each two hops that one caller calls.
func (n *node) eachBoth(see func(pair)) {
	for i := range n.edges[:min(inBits, len(n.edges))] {
		for left := n.edges[i].with >> i; left != 0; left &= left - 1 {
			see(pairOf(n.edges[i].hop, n.edges[i+bits.TrailingZeros64(left)].hop))
		}
	}
	for p := range n.both {
		see(p)
	}
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
	o.eachBoth(func(p pair) { n.callsBoth(pairOf(hops[p[0]], hops[p[1]])) })
	n.own.merge(&o.own)
	n.whole.merge(&o.whole)
}

// durations are times in ns, many of which are entered at once: that costs less.
type durations struct {
	sample  *quantile.Sample // nil where there are none
	waiting []int64
}

const mostWaiting = 256

func (d *durations) add(store *quantile.Store, ns int64) {
	if d.waiting = append(d.waiting, ns); len(d.waiting) == mostWaiting {
		d.flush(store)
	}
}

func (d *durations) flush(store *quantile.Store) {
	if len(d.waiting) == 0 {
		return
	}
	if d.sample == nil {
		d.sample = sampleOf(store)
	}
	d.sample.AddAll(d.waiting)
	d.waiting = d.waiting[:0]
}

func sampleOf(store *quantile.Store) *quantile.Sample {
	if store == nil {
		return new(quantile.Sample)
	}
	return store.New()
}

// merge moves others into d; none waits.
func (d *durations) merge(o *durations) {
	if d.sample == nil {
		d.sample = o.sample
		return
	}
	d.sample.Merge(o.sample)
}
