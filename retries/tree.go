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
func (a *Accumulator) climb(t *spans.Trace) {
	a.tree.caller = append(a.tree.caller[:0], make([]int32, len(t.Spans))...)
	caller := a.tree.caller
	for _, i := range t.TopDown() {
		caller[i] = -1
		if p := t.Parents[i]; p >= 0 {
			if caller[i] = caller[p]; calls(t.HopOf(p).Kind) {
				caller[i] = p
			}
		}
		if c := caller[i]; c >= 0 && calls(t.HopOf(i).Kind) {
			a.edge(a.table.at(t.Hops, t.Spans[c].Hop), a.table.at(t.Hops, t.Spans[i].Hop))
		}
	}
}

// edge notes that one hop calls another.
func (a *Accumulator) edge(from, to int32) {
	if h := a.table.hops[to]; from != to && h.caller != from+1 {
		h.caller = from + 1
		a.edges[[2]int32{from, to}] = struct{}{}
	}
}

// addTree counts the attempts that are the same but for retries: under each
// attempt of a retried call the calls of one hop are matched in their order.
func (a *Accumulator) addTree(t *spans.Trace) {
	r := &a.tree
	r.clear(len(t.Spans))
	for i := range a.tries {
		if of := a.tries[i].of; of >= 0 {
			r.of[a.tries[i].span] = a.tries[of].span
		}
	}
	for _, i := range r.inOrder(t) {
		r.same[i] = r.sameAs(t, i)
		if calls(t.HopOf(i).Kind) {
			r.count[r.same[i]]++
		}
	}
	if len(r.count) > 0 {
		a.most = max(a.most, slices.Max(r.count))
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
// calls. Hops that are reached from each other count as one step, each once. Lines
// of hop logs name no parents: their hops that retry count as one path.
func (a *Accumulator) possible() uint64 {
	callees, callers := map[int32][]int32{}, map[int32][]int32{}
	for e := range a.edges {
		callees[e[0]] = append(callees[e[0]], e[1])
		callers[e[1]] = append(callers[e[1]], e[0])
	}
	best, path := uint64(1), uint64(1)
	for _, n := range a.products(callees, callers) {
		best = max(best, n)
	}
	for i, h := range a.table.hops {
		if at := int32(i); h.Kind == spans.NoKind && len(callees[at])+len(callers[at]) == 0 {
			path = times(path, max(1, h.mostAttempts))
		}
	}
	return max(best, path)
}

// products returns, for each group of hops that are reached from each other, the
// largest product along a path that ends in it. The groups come with callers before
// callees (Kosaraju's algorithm, as in Aho, Hopcroft, Ullman, Data Structures and
// Algorithms, 1983).
func (a *Accumulator) products(callees, callers map[int32][]int32) map[int32]uint64 {
	var all, done, roots []int32
	for i := range a.table.hops {
		all = append(all, int32(i))
	}
	depthFirst(all, callees, func(_, at int32) { done = append(done, at) })
	slices.Reverse(done)
	group, members := map[int32]int32{}, map[int32][]int32{}
	depthFirst(done, callers, func(root, at int32) {
		group[at], members[root] = root, append(members[root], at)
		if root == at {
			roots = append(roots, root)
		}
	})
	products := map[int32]uint64{}
	for _, root := range roots {
		above, own := uint64(1), uint64(1)
		for _, i := range members[root] {
			if h := a.table.hops[i]; calls(h.Kind) {
				own = times(own, max(1, h.mostAttempts))
			}
			for _, c := range callers[i] {
				above = max(above, products[group[c]]) // 0 for the group itself
			}
		}
		products[root] = times(above, own)
	}
	return products
}

// depthFirst calls leave for each hop once all that is reached from it was left,
// with the start from which it was reached. It does not call itself, as a graph may
// be deep.
func depthFirst(starts []int32, next map[int32][]int32, leave func(root, at int32)) {
	type step struct {
		at   int32
		rest []int32
	}
	seen := map[int32]bool{}
	var stack []step
	enter := func(i int32) {
		if !seen[i] {
			seen[i] = true
			stack = append(stack, step{i, next[i]})
		}
	}
	for _, root := range starts {
		enter(root)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.rest) > 0 {
				i := top.rest[0]
				top.rest = top.rest[1:]
				enter(i)
				continue
			}
			leave(root, top.at)
			stack = stack[:len(stack)-1]
		}
	}
}

// times multiplies up to the largest number there is.
func times(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return 1<<64 - 1
}
