package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// chain is room for what is known of the attempts of one chain, by their places.
type chain struct {
	hops     []spans.Hop // that the attempts number
	parts    []int32
	parents  []int32
	nested   []bool // by hop: an attempt of it lies in another hop's
	last     map[int32]int32
	tops     []int32
	siblings siblings
}

// AddChain looks at a chain of a hop log, all of whose attempts are there and in
// which cuts from below are marked. It keeps nothing of it.
func (w *Watch) AddChain(c *spans.Chain) {
	w.findParts(c)
	switch {
	case len(c.Attempts) == 0:
		return
	case c.TooLong():
		w.counts.tooLong++
		return
	}
	w.observeChain(c.Attempts)
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

// findParts notes the part of each attempt.
func (w *Watch) findParts(c *spans.Chain) {
	w.table.use(nil, c.Instances)
	w.chain.hops, w.chain.parts = c.Hops, w.chain.parts[:0]
	for i := range c.Attempts {
		a := &c.Attempts[i]
		w.chain.parts = append(w.chain.parts, w.table.partAt(w.hopOf(a), place{told: w.table.instances.at(a.Instance)}))
	}
}

// hopOf returns the number of an attempt's hop.
func (w *Watch) hopOf(a *spans.Attempt) int32 { return w.table.hopAt(w.chain.hops, a.Hop) }

// basisOf is containment where all attempts have times.
func basisOf(c *spans.Chain) int {
	if c.Timed {
		return containment
	}
	return serialSum
}

func (w *Watch) observeChain(c []spans.Attempt) {
	for i := range c {
		a := &c[i]
		if !a.Timed || !a.GaveUp() {
			continue
		}
		if kind := endedBy(a.Outcome, a.CutBy, a.Failure); kind != "" {
			w.ended(w.hopOf(a), kind, a.Start)
		}
	}
}

// addUp gives each hop the time of its attempts: without times, what ran inside
// what cannot be told.
func (w *Watch) addUp(c []spans.Attempt) {
	total := int64(0)
	for i := range c {
		ns := min(c[i].Duration, math.MaxInt64-total)
		total += ns
		w.path.spend(w.chain.parts[i], ns, c[i].Outcome == spans.Truncated)
	}
}

// contain hangs the attempts of the outermost hops of a chain under a node of their
// own, the last one, whose time is the gaps between them.
func (w *Watch) contain(c []spans.Attempt) {
	top := int32(len(c))
	w.takeParents(c)
	w.findTops(c)
	p := &w.path
	p.nodes = p.nodes[:0]
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range c {
		p.nodes = append(p.nodes, node{c[i].Start, c[i].End(), w.chain.parts[i], c[i].Outcome == spans.Truncated})
	}
	for _, i := range w.chain.tops {
		w.chain.parents[i] = top
		from, to = min(from, c[i].Start), max(to, c[i].End())
	}
	if from < 0 && to > math.MaxInt64+from {
		to = math.MaxInt64 + from // no int64 holds more
	}
	p.nodes = append(p.nodes, node{start: from, end: to, part: gap})
	p.link(append(w.chain.parents, -1))
}

// takeParents copies the parents of all attempts.
func (w *Watch) takeParents(c []spans.Attempt) {
	parents := w.chain.parents[:0]
	for i := range c {
		p := c[i].Parent
		parents = append(parents, p)
		if p >= 0 {
			w.noteUnsure(&c[p], &c[i])
		}
	}
	w.chain.parents = parents
}

// findTops lists the attempts of the outermost hops: those none of whose attempts
// lies in another hop's. Where each does, it is the hop that started first.
func (w *Watch) findTops(c []spans.Attempt) {
	for len(w.chain.nested) < len(w.chain.hops) {
		w.chain.nested = append(w.chain.nested, false)
	}
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
func (w *Watch) listFirst(c []spans.Attempt) {
	for i := range c {
		if w.chain.parents[i] < 0 && c[i].Hop == c[0].Hop {
			w.chain.tops = append(w.chain.tops, int32(i))
		}
	}
}

// judgeChain says whether a chain with times fails: where the last attempt of an
// outermost hop gave up.
func (w *Watch) judgeChain(c []spans.Attempt) bool {
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
func (w *Watch) judgeAttempt(c []spans.Attempt, i int32, fails bool) (until int64) {
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
func (w *Watch) allWell(c []spans.Attempt) bool {
	for i := range c {
		if c[i].GaveUp() {
			return false
		}
	}
	w.counts.outcomes[success]++
	return true
}

// lastOf returns the last attempt of each hop among some lines, which are sorted.
func (w *Watch) lastOf(c []spans.Attempt, among []int32) map[int32]int32 {
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
func (w *Watch) judgeUntimed(c []spans.Attempt) bool {
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
func (w *Watch) bestOf(c []spans.Attempt, all []int32) map[int32]int32 {
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
func (w *Watch) blame(c []spans.Attempt, outcome Outcome) (fails bool) {
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
func (w *Watch) deepestAttempt(c []spans.Attempt, of func(int) bool) int {
	best := -1
	for i := range c {
		if of(i) && (best < 0 || w.depth[i] > w.depth[best] || w.depth[i] == w.depth[best] && c[i].End() > c[best].End()) {
			best = i
		}
	}
	return best
}
