package waterfall

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// node is a row that may be drawn: a span, or a call with the span that serves it.
type node struct {
	span     int32
	parent   int32 // a node, -1 for none
	children []int32
	below    int32 // spans under it
	weight   int64 // what it, or a node below it, is worth showing
}

// tree is what a request's rows are chosen from. Each node stands after its parent.
type tree struct {
	*Result
	nodes []node
	roots []int32
}

// newTree joins calls with what serves them.
func newTree(r *Result) *tree {
	t := &tree{Result: r}
	places := make([]int32, len(r.Spans))
	for i := range r.Spans {
		s := &r.Spans[i]
		if s.parent >= 0 && r.Spans[s.parent].server == int32(i) {
			places[i] = places[s.parent]
			t.nodes[places[i]].below++
			continue
		}
		places[i] = int32(len(t.nodes))
		n := node{span: int32(i), parent: -1}
		if s.parent >= 0 {
			n.parent = places[s.parent]
		}
		t.nodes = append(t.nodes, n)
	}
	for i := range t.nodes {
		if p := t.nodes[i].parent; p >= 0 {
			t.nodes[p].children = append(t.nodes[p].children, int32(i))
		} else {
			t.roots = append(t.roots, int32(i))
		}
	}
	t.weigh()
	return t
}

// weigh says what each node is worth: those that ended badly, ran on for nobody or are
// retries more than any that only took long.
func (t *tree) weigh() {
	remarkable := t.longest() + 1
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		own := int64(0)
		if d := t.Spans[n.span].Duration; d != nil {
			own = *d
		}
		if t.remarkable(n) {
			own = min(own, remarkable) + remarkable
		}
		n.weight = max(n.weight, own)
		if n.parent >= 0 {
			p := &t.nodes[n.parent]
			p.weight, p.below = max(p.weight, n.weight), p.below+n.below+1
		}
		slices.SortStableFunc(n.children, func(a, b int32) int { return t.compareStarts(a, b) })
	}
}

func (t *tree) longest() (ns int64) {
	for i := range t.Spans {
		if d := t.Spans[i].Duration; d != nil {
			ns = max(ns, min(*d, 1<<60))
		}
	}
	return ns
}

// remarkable reports whether something is to be said of a node.
func (t *tree) remarkable(n *node) bool {
	s := &t.Spans[n.span]
	if s.Outcome != spans.Completed || s.Retry != "" || s.Orphan != nil || s.Stray {
		return true
	}
	return s.server >= 0 && (t.Spans[s.server].Orphan != nil || t.Spans[s.server].Outcome != spans.Completed)
}

func (t *tree) compareStarts(a, b int32) int {
	x, y := t.Spans[t.nodes[a].span].Start, t.Spans[t.nodes[b].span].Start
	if x == nil || y == nil {
		return 0
	}
	return cmp.Compare(*x, *y)
}

// alike is what siblings have in common that look the same.
type alike struct {
	parent int32
	hop    spans.Hop
	badly  bool
}

func (t *tree) alike(i int32) alike {
	n := &t.nodes[i]
	return alike{n.parent, t.Spans[n.span].Hop, t.remarkable(n)}
}

// mostAlike is how many siblings that look the same are drawn where not all fit.
const mostAlike = 3

// choose returns which nodes are drawn: all if they fit, else those most worth it, each
// with all above it.
func (t *tree) choose(most int) []bool {
	drawn := make([]bool, len(t.nodes))
	if most <= 0 || len(t.nodes) <= most {
		for i := range drawn {
			drawn[i] = true
		}
		return drawn
	}
	q := &queue{t, nil}
	for _, r := range t.roots {
		heap.Push(q, r)
	}
	same := map[alike]int{}
	for left := most; left > 0 && q.Len() > 0; {
		i := heap.Pop(q).(int32)
		key := t.alike(i)
		if same[key]++; same[key] > mostAlike {
			continue
		}
		drawn[i] = true
		left--
		for _, c := range t.nodes[i].children {
			heap.Push(q, c)
		}
	}
	return drawn
}

// queue has the node first that is most worth showing.
type queue struct {
	*tree
	list []int32
}

func (q *queue) Len() int { return len(q.list) }

func (q *queue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return cmp.Or(cmp.Compare(q.nodes[b].weight, q.nodes[a].weight), cmp.Compare(a, b)) < 0
}

func (q *queue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push adds a node.
func (q *queue) Push(x any) { q.list = append(q.list, x.(int32)) }

// Pop takes the last one off.
func (q *queue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

// row is a line of the drawing: a node, or siblings that are folded into one line.
type row struct {
	node   int32
	depth  int
	last   bool    // of its siblings
	open   []bool  // of each ancestor but the root: siblings follow it
	folded []int32 // nodes; the first of them is node
	like   bool    // they look like the row before
}

// rows lists the drawn nodes as a tree, and what is folded under each.
func (t *tree) rows(drawn []bool) []row {
	type level struct {
		list []row
		open []bool
	}
	var rows []row
	stack := []level{{list: t.siblings(t.roots, drawn)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.list) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		r := top.list[0]
		top.list = top.list[1:]
		r.last, r.depth, r.open = len(top.list) == 0, len(stack)-1, top.open
		rows = append(rows, r)
		if r.folded == nil {
			open := top.open
			if r.depth > 0 {
				open = append(slices.Clip(open), !r.last)
			}
			stack = append(stack, level{t.siblings(t.nodes[r.node].children, drawn), open})
		}
	}
	return rows
}

// siblings makes rows of siblings: what is not drawn is folded behind the last one that
// looks the same, what looks like none behind all.
func (t *tree) siblings(list []int32, drawn []bool) (rows []row) {
	after := map[alike]int{} // the place of the last row that looks so
	hidden := map[alike][]int32{}
	var others []int32
	for _, i := range list {
		if drawn[i] {
			after[t.alike(i)] = len(rows)
			rows = append(rows, row{node: i})
		}
	}
	for _, i := range list {
		if drawn[i] {
			continue
		}
		if _, shown := after[t.alike(i)]; shown {
			hidden[t.alike(i)] = append(hidden[t.alike(i)], i)
		} else {
			others = append(others, i)
		}
	}
	for at := len(rows) - 1; at >= 0; at-- {
		if key := t.alike(rows[at].node); after[key] == at && hidden[key] != nil {
			rows = slices.Insert(rows, at+1, row{node: hidden[key][0], folded: hidden[key], like: true})
		}
	}
	if others != nil {
		rows = append(rows, row{node: others[0], folded: others})
	}
	return rows
}
