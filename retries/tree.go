package retries

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// tree is room for what is known of the spans of one trace by their place in it.
type tree struct {
	caller []int32 // the nearest call above a span, -1 for none
	same   []int32 // a number that all attempts share which are the same but for retries above or beside them
	of     []int32 // what a span retries
	place  map[place]int32
	beside map[[2]int32]int32
	count  []uint64
	order  []int32
}

// place is a call: under what, of which hop, and the how manieth of that hop.
type place struct{ above, hop, n int32 }

// climb finds the nearest call above each span, and notes which hop calls which.
func (w *Watch) climb(t *spans.Trace) {
	w.tree.caller = append(w.tree.caller[:0], make([]int32, len(t.Spans))...)
	caller := w.tree.caller
	for _, i := range t.TopDown() {
		caller[i] = -1
		if p := t.Parents[i]; p >= 0 {
			if caller[i] = caller[p]; calls(t.HopOf(p).Kind) {
				caller[i] = p
			}
		}
		if c := caller[i]; c >= 0 && calls(t.HopOf(i).Kind) {
			w.edge(w.table.at(t.Hops, t.Spans[c].Hop), w.table.at(t.Hops, t.Spans[i].Hop))
		}
	}
}

// edge notes that one hop calls another.
func (w *Watch) edge(from, to int32) {
	if h := w.table.hops[to]; from != to && h.caller != from+1 {
		h.caller = from + 1
		w.edges[[2]int32{from, to}] = struct{}{}
	}
}

// addTree counts the attempts that are the same but for retries: under each
// attempt of a retried call the calls of one hop are matched in their order.
func (w *Watch) addTree(t *spans.Trace) {
	r := &w.tree
	r.clear(len(t.Spans))
	for i := range w.tries {
		if of := w.tries[i].of; of >= 0 {
			r.of[w.tries[i].span] = w.tries[of].span
		}
	}
	for _, i := range r.inOrder(t) {
		r.same[i] = r.sameAs(t, i)
		if calls(t.HopOf(i).Kind) {
			r.count[r.same[i]]++
		}
	}
	if len(r.count) > 0 {
		w.most = max(w.most, slices.Max(r.count))
	}
}

// clear makes room for n spans of which nothing is known.
func (r *tree) clear(n int) {
	r.of = append(r.of[:0], make([]int32, n)...)
	r.same = append(r.same[:0], make([]int32, n)...)
	for i := range n {
		r.of[i], r.same[i] = -1, -1
	}
	if r.place == nil {
		r.place, r.beside = map[place]int32{}, map[[2]int32]int32{}
	}
	clear(r.place)
	clear(r.beside)
	r.count = r.count[:0]
}

// inOrder returns all spans, each after its parent and after what it retries. In a
// chain of a log whose nesting was inferred from times they need not have the same
// parent, but both start before it.
func (r *tree) inOrder(t *spans.Trace) []int32 {
	if !t.OfLog() {
		return t.TopDown()
	}
	r.order = append(r.order[:0], t.TopDown()...)
	slices.SortStableFunc(r.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Spans[a].Start, t.Spans[b].Start), cmp.Compare(t.Spans[b].Duration, t.Spans[a].Duration), cmp.Compare(a, b))
	})
	return r.order
}

// sameAs returns the number of a span whose parent has one.
func (r *tree) sameAs(t *spans.Trace, i int32) int32 {
	if of := r.of[i]; of >= 0 && r.same[of] >= 0 {
		return r.same[of]
	}
	parent, above := t.Parents[i], int32(-1)
	if parent >= 0 {
		above = r.same[parent]
	}
	beside := [2]int32{parent, t.Spans[i].Hop}
	at := place{above, t.Spans[i].Hop, r.beside[beside]}
	r.beside[beside]++
	number, known := r.place[at]
	if !known {
		number = int32(len(r.count))
		r.place[at] = number
		r.count = append(r.count, 0)
	}
	return number
}

// possible is the largest product of the most attempts of each hop along a path of
// calls. Lines of hop logs name no parents: their hops that retry count as one path.
func (w *Watch) possible() uint64 {
	callees := map[int32][]int32{}
	linked := map[int32]bool{}
	for e := range w.edges {
		callees[e[0]] = append(callees[e[0]], e[1])
		linked[e[0]], linked[e[1]] = true, true
	}
	best, path := uint64(1), uint64(1)
	g := graph{w: w, callees: callees, below: map[int32]uint64{}}
	for _, i := range w.table.sorted() {
		best = max(best, g.largest(i))
		if h := w.table.hops[i]; h.Kind == spans.NoKind && !linked[i] {
			path = times(path, max(1, h.mostAttempts))
		}
	}
	return max(best, path)
}

// graph finds products along paths. A hop that is reached from itself counts once.
type graph struct {
	w       *Watch
	callees map[int32][]int32
	below   map[int32]uint64 // 0 while it is being looked for
}

// largest walks without calling itself, as a graph may be deep. A hop is pushed
// once to look below it and stays until all there is known.
func (g *graph) largest(from int32) uint64 {
	stack := []int32{from}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if n, begun := g.below[i]; begun && n > 0 {
			stack = stack[:len(stack)-1]
			continue
		} else if !begun {
			g.below[i] = 0
			list := g.callees[i]
			slices.SortFunc(list, func(a, b int32) int { return compareHops(g.w.table.hops[a].Hop, g.w.table.hops[b].Hop) })
			for _, c := range list {
				if _, begun := g.below[c]; !begun {
					stack = append(stack, c)
				}
			}
			continue
		}
		most := uint64(1)
		for _, c := range g.callees[i] {
			most = max(most, g.below[c])
		}
		if h := g.w.table.hops[i]; calls(h.Kind) {
			most = times(most, max(1, h.mostAttempts))
		}
		g.below[i] = most
		stack = stack[:len(stack)-1]
	}
	return g.below[from]
}

// times multiplies up to the largest number there is.
func times(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return 1<<64 - 1
}
