package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// line is one attempt of a hop log, without pointers. Times are ns.
type line struct {
	start, duration int64
	hop, part       int32 // part is of hop
	outcome         spans.Outcome
	cutBy           spans.CutBy
	failure         spans.Failure
	timed, retry    bool
}

func (l *line) end() int64 {
	if l.start > math.MaxInt64-l.duration {
		return math.MaxInt64
	}
	return l.start + l.duration
}

func (l *line) gaveUp() bool { return l.outcome == spans.Truncated || l.outcome == spans.Failed }

// chain is room for the lines of one chain.
type chain struct {
	lines   []line
	cuts    []line
	nesting spans.Nesting
	nested  []bool // by hop: an attempt of it lies in another hop's
	last    map[int32]int32
	tops    []int32
	told    []spans.Attempt
	twins   twins
}

// addLog looks at a chain of a hop log that was put together as a trace.
func (w *Watch) addLog(t *spans.Trace) {
	w.table.use(nil, t.Instances)
	c := w.chain.lines[:0]
	for i := range t.Spans {
		s := &t.Spans[i]
		if !s.Flags.Has(spans.HasDuration) || s.Duration < 0 {
			continue
		}
		c = append(c, line{
			start: s.Start, duration: s.Duration, hop: w.table.hopAt(t.Hops, s.Hop),
			part:    w.table.partAt(w.table.hopAt(t.Hops, s.Hop), place{told: w.table.instances.at(s.Instance)}),
			outcome: s.Outcome, cutBy: s.CutBy, failure: s.Failure, timed: s.Flags.Has(spans.HasStart), retry: s.Retry(),
		})
	}
	w.chain.lines = c
	w.addChain(c, groupOf(t.ID), t.Name)
	w.flush()
}

// addChain looks at the lines of one chain, which it sorts.
func (w *Watch) addChain(c []line, group uint16, name func() string) {
	switch {
	case len(c) == 0:
		return
	case len(c) > spans.MostNested: // nesting takes up to the square of their number
		w.counts.tooLong++
		return
	}
	w.observeLines(c)
	w.path.reset(len(w.table.parts))
	if len(c) == 1 {
		w.addUp(c)
		w.tell(c, nil)
		w.count(group, name, w.judgeUntimed(c), basisOf(&c[0]))
		return
	}
	w.sortLines(c)
	if slices.ContainsFunc(c, func(l line) bool { return !l.timed }) {
		w.addUp(c)
		w.tell(c, nil)
		w.count(group, name, w.judgeUntimed(c), serialSum)
		return
	}
	w.contain(c)
	w.tell(c, w.parents)
	w.path.walk(int32(len(c)))
	w.count(group, name, w.judgeChain(c), containment)
}

// tell hands a chain to who asked for all of them. What lies under no line, or
// under the node of the outermost hops, has no parent.
func (w *Watch) tell(c []line, parents []int32) {
	if w.lines.config.EachChain == nil {
		return
	}
	told := w.chain.told[:0]
	for i := range c {
		l := &c[i]
		a := spans.Attempt{Hop: l.hop, Parent: -1, Start: l.start, Duration: l.duration, Outcome: l.outcome, Timed: l.timed, Retry: l.retry}
		if parents != nil && int(parents[i]) < len(c) {
			a.Parent = parents[i]
		}
		told = append(told, a)
	}
	w.chain.told = told
	w.lines.config.EachChain(w.table.hops(), told)
}

// basisOf is the basis of a line that is a chain of its own.
func basisOf(l *line) int {
	if l.timed {
		return containment
	}
	return serialSum
}

// fewLines are sorted faster one by one.
const fewLines = 12

// sortLines sorts by compareLines. Most chains are short, and nearly sorted.
func (w *Watch) sortLines(c []line) {
	if len(c) > fewLines {
		slices.SortFunc(c, w.compareLines)
		return
	}
	for i := 1; i < len(c); i++ {
		if w.inOrder(&c[i-1], &c[i]) {
			continue
		}
		one, k := c[i], i
		for ; k > 0 && !w.inOrder(&c[k-1], &one); k-- {
			c[k] = c[k-1]
		}
		c[k] = one
	}
}

func (w *Watch) inOrder(a, b *line) bool {
	return a.start < b.start || a.start == b.start && w.compareLines(*a, *b) <= 0
}

// compareLines is an order by start, of two that start together the longer first;
// lines that compare equal are the same in all that counts.
func (w *Watch) compareLines(a, b line) int {
	if c := cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.duration, a.duration)); c != 0 {
		return c
	}
	if a.hop != b.hop {
		return w.table.hops()[a.hop].Compare(w.table.hops()[b.hop])
	}
	if c := cmp.Or(cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.cutBy, b.cutBy), cmp.Compare(a.failure, b.failure)); c != 0 || a.part == b.part {
		return c
	}
	return w.table.compareParts(a.part, b.part)
}

func (w *Watch) observeLines(c []line) {
	for i := range c {
		if !c[i].timed || !c[i].gaveUp() {
			continue
		}
		if kind := endedBy(c[i].outcome, c[i].cutBy, c[i].failure); kind != "" {
			w.ended(c[i].hop, kind, c[i].start)
		}
	}
}

// addUp gives each hop the time of its attempts: without times, what ran inside
// what cannot be told.
func (w *Watch) addUp(c []line) {
	total := int64(0)
	for i := range c {
		ns := min(c[i].duration, math.MaxInt64-total)
		total += ns
		w.path.spend(c[i].part, ns, c[i].outcome == spans.Truncated)
	}
}

// contain nests the lines of a chain by their times and hangs the attempts of
// its outermost hops under a node of their own, the last one, whose time is the
// gaps between them.
func (w *Watch) contain(c []line) {
	top := int32(len(c))
	w.nest(c)
	w.findTops(c)
	p := &w.path
	p.nodes = p.nodes[:0]
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range c {
		p.nodes = append(p.nodes, node{c[i].start, c[i].end(), c[i].part, c[i].outcome == spans.Truncated})
	}
	for _, i := range w.chain.tops {
		w.parents[i] = top
		from, to = min(from, c[i].start), max(to, c[i].end())
	}
	if from < 0 && to > math.MaxInt64+from {
		to = math.MaxInt64 + from // no int64 holds more
	}
	p.nodes = append(p.nodes, node{start: from, end: to, part: gap})
	p.link(append(w.parents, -1))
}

// nest finds the parent of each line.
func (w *Watch) nest(c []line) {
	w.parents = w.parents[:0]
	w.chain.nesting.Begin()
	for i := range c {
		p := w.chain.nesting.Place(c[i].hop, c[i].start, c[i].end())
		w.parents = append(w.parents, p)
		if p >= 0 {
			w.noteUnsure(&c[p], &c[i])
		}
	}
}

// findTops lists the attempts of the outermost hops: those none of whose attempts
// lies in another hop's. Where each does, it is the hop that started first.
func (w *Watch) findTops(c []line) {
	for len(w.chain.nested) < len(w.table.hops()) {
		w.chain.nested = append(w.chain.nested, false)
	}
	nested := w.chain.nested
	for i := range c {
		nested[c[i].hop] = false
	}
	for i := range c {
		if w.parents[i] >= 0 {
			nested[c[i].hop] = true
		}
	}
	tops := w.chain.tops[:0]
	for i := range c {
		if !nested[c[i].hop] {
			tops = append(tops, int32(i))
		}
	}
	w.chain.tops = tops
	if len(tops) == 0 {
		w.listFirst(c)
	}
}

// listFirst lists the attempts of the hop that started first.
func (w *Watch) listFirst(c []line) {
	for i := range c {
		if w.parents[i] < 0 && c[i].hop == c[0].hop {
			w.chain.tops = append(w.chain.tops, int32(i))
		}
	}
}

// judgeChain says whether a chain with times fails: where the last attempt of an
// outermost hop gave up.
func (w *Watch) judgeChain(c []line) bool {
	if w.allWell(c) {
		return false
	}
	w.depth = append(w.depth[:0], make([]int32, len(c))...)
	w.under = append(w.under[:0], make([]bool, len(c))...)
	last := w.lastOf(c, w.chain.tops)
	outcome := outcomeOf(c, last)
	if outcome != Success {
		w.chain.twins.link(c, w.parents)
	}
	w.until = w.until[:0]
	for i := range int32(len(c)) {
		w.until = append(w.until, w.judgeLine(c, i, outcome != Success))
		if l, top := last[c[i].hop]; top && l == i && c[i].gaveUp() {
			w.under[i] = true
			w.until[i] = min(w.until[i], c[i].end())
		}
	}
	return w.blame(c, outcome)
}

// judgeLine says from the line that holds it how deep one lies and, in a chain that
// fails, whether it may be to blame: not if a retry rescued it. It returns when the
// first call at or above it gave up.
func (w *Watch) judgeLine(c []line, i int32, fails bool) (until int64) {
	up := w.parents[i]
	if up < 0 || up >= int32(len(c)) {
		return math.MaxInt64
	}
	until = w.until[up]
	w.depth[i] = w.depth[up] + 1
	w.under[i] = fails && w.under[up] && !w.chain.twins.rescued(c, i, until)
	if w.under[i] && c[i].gaveUp() {
		until = min(until, c[i].end())
	}
	return until
}

// allWell counts a chain in which nothing gave up, as most are.
func (w *Watch) allWell(c []line) bool {
	for i := range c {
		if c[i].gaveUp() {
			return false
		}
	}
	w.counts.outcomes[success]++
	return true
}

// lastOf returns the last attempt of each hop among some lines, which are sorted.
func (w *Watch) lastOf(c []line, among []int32) map[int32]int32 {
	if w.chain.last == nil {
		w.chain.last = map[int32]int32{}
	}
	clear(w.chain.last)
	for _, i := range among {
		w.chain.last[c[i].hop] = i
	}
	return w.chain.last
}

// outcomeOf says how a chain ended from the last attempts of its outermost hops.
func outcomeOf(c []line, last map[int32]int32) Outcome {
	var ended [4]int
	for _, i := range last {
		ended[c[i].outcome]++
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
func (w *Watch) judgeUntimed(c []line) bool {
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
	slices.SortStableFunc(byLength, func(a, b int32) int { return cmp.Compare(c[b].duration, c[a].duration) })
	best := w.bestOf(c, byLength)
	for depth, i := range byLength {
		w.depth[i] = int32(depth)
		w.under[i] = c[i].gaveUp() && c[best[c[i].hop]].gaveUp()
	}
	return w.blame(c, outcomeOf(c, best))
}

// bestOf returns, for each hop, an attempt that completed, if there is one; else
// one that was cut, else any.
func (w *Watch) bestOf(c []line, all []int32) map[int32]int32 {
	best := w.lastOf(c, all)
	for _, i := range all {
		if b := best[c[i].hop]; merit[c[i].outcome] > merit[c[b].outcome] {
			best[c[i].hop] = i
		}
	}
	return best
}

// merit orders outcomes by what they say of a hop's call as a whole.
var merit = [...]int{spans.Completed: 3, spans.Truncated: 2, spans.Failed: 1, spans.Unfinished: 0}

// blame counts how a chain ended and which hop is to blame.
func (w *Watch) blame(c []line, outcome Outcome) (fails bool) {
	w.counts.outcomes[outcome.index()]++
	if at := w.deepestLine(c, func(i int) bool { return c[i].outcome == spans.Truncated }); at >= 0 {
		w.anyCut[c[at].hop]++
	}
	if outcome == Success {
		return false
	}
	at := w.deepestLine(c, func(i int) bool { return w.under[i] && c[i].gaveUp() })
	w.failures[c[at].hop]++
	return true
}

// deepestLine is deepest for the lines of a chain.
func (w *Watch) deepestLine(c []line, of func(int) bool) int {
	best := -1
	for i := range c {
		if of(i) && (best < 0 || w.depth[i] > w.depth[best] || w.depth[i] == w.depth[best] && c[i].end() > c[best].end()) {
			best = i
		}
	}
	return best
}
