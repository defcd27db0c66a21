package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// node is a span as the critical path sees it. Times are ns.
type node struct {
	start, end       int64
	part, hop        int32 // numbers in the table
	parent           int32 // -1 for none
	outcome          spans.Outcome
	inTime, detached bool // detached: its parent does not wait for it
}

func (n *node) cut() bool { return n.outcome == spans.Truncated }

func (n *node) gaveUp() bool { return n.cut() || n.outcome == spans.Failed }

// offPath is the start of a node that no path can reach.
const offPath = math.MaxInt64

// path finds the critical path of one tree after the other, in the same memory.
type path struct {
	nodes []node
	// The children of node i, by start: those of the trace, else from first[i] on, each
	// followed by next, as numbers one too large, to none, 0.
	trace       *spans.Trace
	first, next []int32

	stack []frame
	among []int32 // children being looked at
	times         // by part
	cut   []bool  // by part: some of its time was ended by a cut
}

// frame is a node with the window that the path gives to it.
type frame struct {
	node   int32
	lo, hi int64
	cutEnd bool // the window ends because of a cut, its own or one above
}

// reset forgets the times of the last tree.
func (p *path) reset() {
	for _, i := range p.used {
		p.cut[i] = false
	}
	p.clear()
}

// spend gives time to a part. The sum over all parts stays within int64, as a
// window does.
func (p *path) spend(part int32, ns int64, cut bool) {
	if ns == 0 && !cut {
		return
	}
	p.add(part, ns)
	for len(p.cut) < len(p.ns) {
		p.cut = append(p.cut, false)
	}
	p.cut[part] = p.cut[part] || cut
}

// walk gives each moment of a node to one node of its tree: from the end
// backwards, the child that ends last has the time up to its end, then the path
// goes on from its start; what no child has is the node's own. It does not call
// itself, so that a chain may be as deep as memory allows.
func (p *path) walk(top int32) {
	n := &p.nodes[top]
	p.stack = append(p.stack[:0], frame{top, n.start, n.end, n.cut()})
	for len(p.stack) > 0 {
		f := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.share(f)
	}
}

// share takes a window apart among a node and its children, which are clipped to
// the window and to the point reached, so that overlapping ones count once.
func (p *path) share(f frame) {
	own, at := f.hi-f.lo, f.hi
	for _, c := range p.byEnd(f) {
		n := &p.nodes[c]
		if n.start >= at {
			continue // it ran beside what came after
		}
		lo, hi := max(n.start, f.lo), min(n.end, at)
		if lo >= hi {
			continue
		}
		outlasts := f.cutEnd && hi == f.hi && n.end > hi
		p.stack = append(p.stack, frame{c, lo, hi, n.cut() || outlasts})
		own, at = own-(hi-lo), lo
	}
	p.spend(p.nodes[f.node].part, own, f.cutEnd)
}

// fewChildren are sorted faster one by one.
const fewChildren = 12

// byEnd returns the children of a frame's node, the one that ends last first;
// of those that end together, or with the window, the one that started first.
func (p *path) byEnd(f frame) []int32 {
	p.among = p.among[:0]
	if p.trace != nil {
		p.among = append(p.among, p.trace.Children(f.node)...)
	} else {
		for c := p.first[f.node]; c > 0; c = p.next[c-1] {
			p.among = append(p.among, c-1)
		}
	}
	if len(p.among) > fewChildren {
		slices.SortFunc(p.among, func(a, b int32) int { return p.compareEnds(a, b, f.hi) })
		return p.among
	}
	for i := 1; i < len(p.among); i++ {
		for k := i; k > 0 && p.compareEnds(p.among[k-1], p.among[k], f.hi) > 0; k-- {
			p.among[k-1], p.among[k] = p.among[k], p.among[k-1]
		}
	}
	return p.among
}

// compareEnds orders children whose window ends at hi.
func (p *path) compareEnds(a, b int32, hi int64) int {
	x, y := min(p.nodes[a].end, hi), min(p.nodes[b].end, hi)
	if x != y {
		return cmp.Compare(y, x)
	}
	return cmp.Compare(a, b)
}

// link lists the children of each node of a chain. They keep the order of the nodes.
func (p *path) link() {
	n := len(p.nodes)
	p.trace, p.first, p.next = nil, append(p.first[:0], make([]int32, n)...), append(p.next[:0], make([]int32, n)...)
	for i := n - 1; i >= 0; i-- {
		if up := p.nodes[i].parent; up >= 0 {
			p.next[i], p.first[up] = p.first[up], int32(i)+1
		}
	}
}
