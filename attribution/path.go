package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// node is a span as the critical path sees it. Times are ns.
type node struct {
	start, end int64
	part       int32
	cut        bool // by a timeout or a caller that left
}

// offPath is the start of a node that no path can reach.
const offPath = math.MaxInt64

// path finds the critical path of one tree after the other, in the same memory.
type path struct {
	nodes []node
	// The children of node i, by start: those of the trace, else from kids.
	trace       *spans.Trace
	first, kids []int32

	stack   []frame
	among   []int32 // children being looked at
	spent   []int64 // by part
	cut     []bool  // by part: some of its time was ended by a cut
	on      []bool  // by part: it is in touched
	touched []int32
}

// frame is a node with the window that the path gives to it.
type frame struct {
	node   int32
	lo, hi int64
	cutEnd bool // the window ends because of a cut, its own or one above
}

// reset forgets the times of the last tree; parts is how many there are.
func (p *path) reset(parts int) {
	for _, i := range p.touched {
		p.spent[i], p.cut[i], p.on[i] = 0, false, false
	}
	p.touched = p.touched[:0]
	p.room(parts)
}

func (p *path) room(parts int) {
	for len(p.spent) < parts {
		p.spent, p.cut, p.on = append(p.spent, 0), append(p.cut, false), append(p.on, false)
	}
}

// spend gives time to a part. The sum over all parts stays within int64, as a
// window does.
func (p *path) spend(part int32, ns int64, cut bool) {
	if ns == 0 && !cut {
		return
	}
	p.room(int(part) + 1)
	if !p.on[part] {
		p.on[part] = true
		p.touched = append(p.touched, part)
	}
	p.spent[part] += ns
	p.cut[part] = p.cut[part] || cut
}

// walk gives each moment of a node to one node of its tree: from the end
// backwards, the child that ends last has the time up to its end, then the path
// goes on from its start; what no child has is the node's own. It does not call
// itself, so that a chain may be as deep as memory allows.
func (p *path) walk(top int32) {
	n := &p.nodes[top]
	p.stack = append(p.stack[:0], frame{top, n.start, n.end, n.cut})
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
		p.stack = append(p.stack, frame{c, lo, hi, n.cut || outlasts})
		own, at = own-(hi-lo), lo
	}
	p.spend(p.nodes[f.node].part, own, f.cutEnd)
}

// fewChildren are sorted faster one by one.
const fewChildren = 12

// byEnd returns the children of a frame's node, the one that ends last first;
// of those that end together, or with the window, the one that started first.
func (p *path) byEnd(f frame) []int32 {
	children := p.children(f.node)
	if len(children) < 2 {
		return children
	}
	p.among = append(p.among[:0], children...)
	if len(children) > fewChildren {
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

func (p *path) children(i int32) []int32 {
	if p.trace != nil {
		return p.trace.Children(i)
	}
	return p.kids[p.first[i]:p.first[i+1]]
}

// link lists the children of each node from its parents, -1 for those that hang
// nowhere. Children keep the order of the nodes.
func (p *path) link(parents []int32) {
	n := len(parents)
	p.trace = nil
	p.first = append(p.first[:0], make([]int32, n+1)...)
	for _, up := range parents {
		if up >= 0 {
			p.first[up]++
		}
	}
	for i := 1; i <= n; i++ {
		p.first[i] += p.first[i-1]
	}
	p.kids = append(p.kids[:0], make([]int32, p.first[n])...)
	for i := n - 1; i >= 0; i-- {
		if up := parents[i]; up >= 0 {
			p.first[up]--
			p.kids[p.first[up]] = int32(i)
		}
	}
}
