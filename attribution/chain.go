package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// chain is room for what is known of the attempts of one chain, by their places.
type chain struct {
	parts    []int32
	parents  []int32
	last     map[int32]int32
	tops     []int32
	siblings siblings

	hops      []chainHop
	nested    []bool      // by hop: an attempt of it lies in another hop's
	theirs    []spans.Hop // that the attempts number
	instances []string
}

// AddChain looks at a chain of a hop log, all of whose attempts are there and in
// which cuts from below are marked. It keeps nothing of it.
func (w *Accumulator) AddChain(c *spans.Chain) {
	w.enter(c)
	switch {
	case len(c.Attempts) == 0:
		return
	case c.TooLong():
		w.counts.tooLong++
		return
	}
	w.path.reset(len(w.table.parts))
	if basis := basisOf(c); basis == serialSum || len(c.Attempts) == 1 {
		w.addUp(c.Attempts)
		w.count(c.Group, c.Name, w.judgeUntimed(c.Attempts), basis)
		return
	}
	w.contain(c.Attempts)
	w.path.walk(int32(len(c.Attempts)))
	w.count(c.Group, c.Name, w.judgeChain(c.Attempts), containment)
}

// enter notes the part of each attempt, and how those that gave up ended.
func (w *Accumulator) enter(c *spans.Chain) {
	w.chain.follow(w, c)
	parts, counts := w.chain.parts[:0], !c.TooLong()
	for i := range c.Attempts {
		a := &c.Attempts[i]
		h := &w.chain.hops[a.Hop]
		if h.part == 0 || h.instance != a.Instance {
			w.find(h, c, a)
		}
		parts = append(parts, h.part-1)
		if counts && a.Timed && a.GaveUp() {
			if kind := endedBy(a.Outcome, a.CutBy, a.Failure); kind != "" {
				w.ended(h.hop, kind, a.Start)
			}
		}
	}
	w.chain.parts = parts
}

// chainHop is what a hop of chains is here, and the part as which it was seen last.
type chainHop struct {
	instance  int32 // of theirs
	hop, part int32 // part: one more than the number
}

// follow makes room for the hops of a chain; those of all chains of a store, or of
// an assembler, have one list.
func (x *chain) follow(w *Accumulator, c *spans.Chain) {
	if same(x.theirs, c.Hops) && same(x.instances, c.Instances) {
		return
	}
	w.table.use(nil, c.Instances)
	x.theirs, x.instances = c.Hops, c.Instances
	x.hops, x.nested = make([]chainHop, len(c.Hops)), make([]bool, len(c.Hops))
}

// same reports whether two lists are one.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (w *Accumulator) find(h *chainHop, c *spans.Chain, a *spans.Attempt) {
	h.instance, h.hop = a.Instance, w.table.hopAt(c.Hops, a.Hop)
	h.part = w.table.partAt(h.hop, place{named: w.table.instances.at(a.Instance)}) + 1
}

// hopOf returns the number of an attempt's hop.
func (w *Accumulator) hopOf(a *spans.Attempt) int32 { return w.chain.hops[a.Hop].hop }

// basisOf is containment where all attempts have times.
func basisOf(c *spans.Chain) int {
	if c.Timed {
		return containment
	}
	return serialSum
}

// addUp gives each hop the time of its attempts: without times, what ran inside
// what cannot be told.
func (w *Accumulator) addUp(c []spans.Attempt) {
	total := int64(0)
	for i := range c {
		ns := min(c[i].Duration, math.MaxInt64-total)
		total += ns
		w.path.spend(w.chain.parts[i], ns, c[i].Outcome == spans.Truncated)
	}
}

// contain hangs the attempts of the outermost hops of a chain under a node of their
// own, the last one, whose time is the gaps between them.
func (w *Accumulator) contain(c []spans.Attempt) {
	top := int32(len(c))
	w.takeNodes(c)
	w.findTops(c)
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, i := range w.chain.tops {
		w.chain.parents[i] = top
		from, to = min(from, c[i].Start), max(to, c[i].End())
	}
	if from < 0 && to > math.MaxInt64+from {
		to = math.MaxInt64 + from // no int64 holds more
	}
	p := &w.path
	p.nodes = append(p.nodes, node{start: from, end: to, part: gap})
	p.link(append(w.chain.parents, -1))
}

// takeNodes makes nodes of all attempts, and copies their parents.
func (w *Accumulator) takeNodes(c []spans.Attempt) {
	nodes, parents := w.path.nodes[:0], w.chain.parents[:0]
	for i := range c {
		a := &c[i]
		nodes = append(nodes, node{a.Start, a.End(), w.chain.parts[i], a.Outcome == spans.Truncated})
		parents = append(parents, a.Parent)
		if a.Parent >= 0 {
			w.noteUnsure(&c[a.Parent], a)
		}
	}
	w.path.nodes, w.chain.parents = nodes, parents
}

// findTops lists the attempts of the outermost hops: those none of whose attempts
// lies in another hop's. Where each does, it is the hop that started first.
func (w *Accumulator) findTops(c []spans.Attempt) {
	nested := w.chain.nested
	for i := range c {
		nested[c[i].Hop] = false
	}
	for i := range c {
		if w.chain.parents[i] >= 0 {
			nested[c[i].Hop] = true
		}
	}
	tops := w.chain.tops[:0]
	for i := range c {
		if !nested[c[i].Hop] {
			tops = append(tops, int32(i))
		}
	}
	w.chain.tops = tops
	if len(tops) == 0 {
		w.listFirst(c)
	}
}

// listFirst lists the attempts of the hop that started first.
func (w *Accumulator) listFirst(c []spans.Attempt) {
	for i := range c {
		if w.chain.parents[i] < 0 && c[i].Hop == c[0].Hop {
			w.chain.tops = append(w.chain.tops, int32(i))
		}
	}
}

// judgeChain says whether a chain with times fails: where the last attempt of an
// outermost hop gave up.
func (w *Accumulator) judgeChain(c []spans.Attempt) bool {
	if w.allWell(c) {
		return false
	}
	w.depth = append(w.depth[:0], make([]int32, len(c))...)
	w.under = append(w.under[:0], make([]bool, len(c))...)
	last := w.lastOf(c, w.chain.tops)
	outcome := outcomeOf(c, last)
	if outcome != Success {
		w.chain.siblings.link(c, w.chain.parents)
	}
	w.until = w.until[:0]
	for i := range int32(len(c)) {
		w.until = append(w.until, w.judgeAttempt(c, i, outcome != Success))
		if l, top := last[c[i].Hop]; top && l == i && c[i].GaveUp() {
			w.under[i] = true
			w.until[i] = min(w.until[i], c[i].End())
		}
	}
	return w.blame(c, outcome)
}

// judgeAttempt says from the attempt that holds it how deep one lies and, in a chain that
// fails, whether it may be to blame: not if a retry rescued it. It returns when the
// first call at or above it gave up.
func (w *Accumulator) judgeAttempt(c []spans.Attempt, i int32, fails bool) (until int64) {
	up := w.chain.parents[i]
	if up < 0 || up >= int32(len(c)) {
		return math.MaxInt64
	}
	until = w.until[up]
	w.depth[i] = w.depth[up] + 1
	w.under[i] = fails && w.under[up] && !w.chain.siblings.rescued(c, i, until)
	if w.under[i] && c[i].GaveUp() {
		until = min(until, c[i].End())
	}
	return until
}

// allWell counts a chain in which nothing gave up, as most are.
func (w *Accumulator) allWell(c []spans.Attempt) bool {
	for i := range c {
		if c[i].GaveUp() {
			return false
		}
	}
	w.counts.outcomes[success]++
	return true
}

// lastOf returns the last attempt of each hop among some lines, which are sorted.
func (w *Accumulator) lastOf(c []spans.Attempt, among []int32) map[int32]int32 {
	if w.chain.last == nil {
		w.chain.last = map[int32]int32{}
	}
	clear(w.chain.last)
	for _, i := range among {
		w.chain.last[c[i].Hop] = i
	}
	return w.chain.last
}

// outcomeOf says how a chain ended from the last attempts of its outermost hops.
func outcomeOf(c []spans.Attempt, last map[int32]int32) Outcome {
	var ended [4]int
	for _, i := range last {
		ended[c[i].Outcome]++
	}
	gaveUp := ended[spans.Truncated] + ended[spans.Failed]
	switch {
	case gaveUp == 0:
		return Success
	case gaveUp < len(last):
		return Partial
	case ended[spans.Truncated] > 0:
		return Cut
	}
	return Failed
}

// judgeUntimed says whether a chain without times fails: where a hop gave up and
// none of its attempts completed. Nothing tells what lay inside what, so the
// shortest attempt counts as the deepest: it fits into the others.
func (w *Accumulator) judgeUntimed(c []spans.Attempt) bool {
	if w.allWell(c) {
		return false
	}
	w.depth = append(w.depth[:0], make([]int32, len(c))...)
	w.under = append(w.under[:0], make([]bool, len(c))...)
	byLength := w.chain.tops[:0]
	for i := range c {
		byLength = append(byLength, int32(i))
	}
	w.chain.tops = byLength
	slices.SortStableFunc(byLength, func(a, b int32) int { return cmp.Compare(c[b].Duration, c[a].Duration) })
	best := w.bestOf(c, byLength)
	for depth, i := range byLength {
		w.depth[i] = int32(depth)
		w.under[i] = c[i].GaveUp() && c[best[c[i].Hop]].GaveUp()
	}
	return w.blame(c, outcomeOf(c, best))
}

// bestOf returns, for each hop, an attempt that completed, if there is one; else
// one that was cut, else any.
func (w *Accumulator) bestOf(c []spans.Attempt, all []int32) map[int32]int32 {
	best := w.lastOf(c, all)
	for _, i := range all {
		if b := best[c[i].Hop]; merit[c[i].Outcome] > merit[c[b].Outcome] {
			best[c[i].Hop] = i
		}
	}
	return best
}

// merit orders outcomes by what they say of a hop's call as a whole.
var merit = [...]int{spans.Completed: 3, spans.Truncated: 2, spans.Failed: 1, spans.Unfinished: 0}

// blame counts how a chain ended and which hop is to blame.
func (w *Accumulator) blame(c []spans.Attempt, outcome Outcome) (fails bool) {
	w.counts.outcomes[outcome.index()]++
	if at := w.deepestAttempt(c, func(i int) bool { return c[i].Outcome == spans.Truncated }); at >= 0 {
		w.anyCut[w.hopOf(&c[at])]++
	}
	if outcome == Success {
		return false
	}
	at := w.deepestAttempt(c, func(i int) bool { return w.under[i] && c[i].GaveUp() })
	w.failures[w.hopOf(&c[at])]++
	return true
}

// deepestAttempt is deepest for the attempts of a chain.
func (w *Accumulator) deepestAttempt(c []spans.Attempt, of func(int) bool) int {
	best := -1
	for i := range c {
		if of(i) && (best < 0 || w.depth[i] > w.depth[best] || w.depth[i] == w.depth[best] && c[i].End() > c[best].End()) {
			best = i
		}
	}
	return best
}
