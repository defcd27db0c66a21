package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// chain is room for what is known of the attempts of one chain.
type chain struct {
	nested   []bool  // by hop: an attempt of it lies in another hop's
	tops     []int32 // attempts of the outermost hops
	order    []int32
	sorted   []bool          // by node: it is in order
	deciding map[int32]int32 // by hop: the attempt that decides how it ended
	siblings siblings
}

// AddChain looks at a chain of a hop log, all of whose attempts are there and in
// which cuts from below are marked. It keeps nothing of it.
func (a *Accumulator) AddChain(c *spans.Chain) {
	a.last = Request{}
	a.table.use(nil, c.Instances)
	switch {
	case len(c.Attempts) == 0:
		return
	case c.TooLong():
		for i := range c.Attempts {
			a.table.hopAt(c.Hops, c.Attempts[i].Hop)
		}
		a.counts.tooLong++
		return
	}
	a.nested.place(c)
	a.takeAttempts(c)
	a.path.reset()
	if !c.Timed {
		a.addUp(c.Attempts)
		a.count(c.Group, c.Name, a.judgeUntimed(c.Attempts), serialSum)
		return
	}
	a.findTops(c)
	fails := a.judgeChain()
	if len(a.chain.tops) == 0 {
		a.counts.topless++
		return
	}
	a.path.walk(a.hangTops())
	a.count(c.Group, c.Name, fails, containment)
}

// takeAttempts makes nodes of all attempts, and notes how those that gave up ended.
func (a *Accumulator) takeAttempts(c *spans.Chain) {
	nodes := a.path.nodes[:0]
	for i := range c.Attempts {
		one := &c.Attempts[i]
		hop := a.table.hopAt(c.Hops, one.Hop)
		part := a.table.partAt(hop, place{named: a.table.instances.at(one.Instance)})
		nodes = append(nodes, node{start: one.Start, end: one.End(), part: part, hop: hop, parent: one.Parent, outcome: one.Outcome, inTime: true})
		if one.Timed && one.GaveUp() {
			a.noteEnd(hop, one.Outcome, one.CutBy, one.Failure, one.Start)
		}
	}
	a.path.nodes = nodes
}

// addUp gives each hop the time of its attempts: without times, what ran inside
// what cannot be told.
func (a *Accumulator) addUp(c []spans.Attempt) {
	total := int64(0)
	for i := range c {
		sum := durations.Sum(total, c[i].Duration)
		a.path.spend(a.path.nodes[i].part, sum-total, c[i].Outcome == spans.Truncated)
		total = sum
	}
}

// findTops lists the attempts with which the request begins. Where it is not known
// what calls what, they are those of the hops none of whose attempts lies in another
// hop's; where each does, of the hop that started first.
func (a *Accumulator) findTops(c *spans.Chain) {
	if a.nested.finding != nil {
		i := -1
		a.chain.list(a.path.nodes, func(n *node) bool { i++; return n.parent < 0 && a.nested.top(c, c.Attempts[i].Hop) })
		return
	}
	x, nodes := &a.chain, a.path.nodes
	x.nested = append(x.nested, make([]bool, len(a.table.hops())-len(x.nested))...)
	for i := range nodes {
		x.nested[nodes[i].hop] = false
	}
	for i := range nodes {
		if nodes[i].parent >= 0 {
			x.nested[nodes[i].hop] = true
		}
	}
	x.list(nodes, func(n *node) bool { return !x.nested[n.hop] })
	if len(x.tops) == 0 {
		x.list(nodes, func(n *node) bool { return n.parent < 0 && n.hop == nodes[0].hop })
	}
}

func (x *chain) list(nodes []node, top func(*node) bool) {
	x.tops = x.tops[:0]
	for i := range nodes {
		if top(&nodes[i]) {
			x.tops = append(x.tops, int32(i))
		}
	}
}

// hangTops hangs the outermost attempts under a node of their own, the last one,
// whose time is the gaps between them, and returns it.
func (a *Accumulator) hangTops() int32 {
	p, top := &a.path, int32(len(a.path.nodes))
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, i := range a.chain.tops {
		n := &p.nodes[i]
		n.parent, from, to = top, min(from, n.start), max(to, n.end)
	}
	if from < 0 && to > math.MaxInt64+from {
		to = math.MaxInt64 + from // no int64 holds more
	}
	p.nodes = append(p.nodes, node{start: from, end: to, part: gap, parent: -1})
	p.link()
	return top
}

// judgeChain says whether a chain with times fails: where the last attempt of an
// outermost hop gave up.
func (a *Accumulator) judgeChain() bool {
	nodes, x := a.path.nodes, &a.chain
	if !a.anyGaveUp() {
		return len(x.tops) > 0 && a.succeeds()
	}
	x.decide(nodes, x.tops, func(_, _ int32) bool { return true })
	a.verdict.begin(len(nodes))
	for _, i := range x.deciding {
		a.verdict.under[i] = nodes[i].gaveUp()
	}
	outcome := x.outcome(nodes)
	if outcome != Success {
		x.siblings.link(nodes)
	}
	x.sortDown(nodes)
	a.verdict.spread(nodes, x.order, func(i int32) (int64, bool) { return x.siblings.answer(nodes, i) })
	return a.blame(outcome)
}

// sortDown orders the nodes so that each comes after its parent, which may seem to
// begin later where times are rounded.
func (x *chain) sortDown(nodes []node) {
	x.order = x.order[:0]
	x.sorted = append(x.sorted[:0], make([]bool, len(nodes))...)
	for i := range nodes {
		from := len(x.order)
		for at := int32(i); at >= 0 && !x.sorted[at]; at = nodes[at].parent {
			x.sorted[at] = true
			x.order = append(x.order, at)
		}
		slices.Reverse(x.order[from:])
	}
}

// decide finds, for each hop among some attempts, the one that no later one is better
// than.
func (x *chain) decide(nodes []node, among []int32, better func(a, b int32) bool) {
	if x.deciding == nil {
		x.deciding = map[int32]int32{}
	}
	clear(x.deciding)
	for _, i := range among {
		if best, seen := x.deciding[nodes[i].hop]; !seen || better(i, best) {
			x.deciding[nodes[i].hop] = i
		}
	}
}

// outcome says how a chain ended from the attempts that decide it.
func (x *chain) outcome(nodes []node) Outcome {
	var ended [4]int
	for _, i := range x.deciding {
		ended[nodes[i].outcome]++
	}
	gaveUp := ended[spans.Truncated] + ended[spans.Failed]
	switch {
	case len(x.deciding) == 0:
		return ""
	case gaveUp == 0:
		return Success
	case gaveUp < len(x.deciding):
		return Partial
	case ended[spans.Truncated] > 0:
		return Cut
	}
	return Failed
}

// judgeUntimed says whether a chain without times fails: where a hop gave up and
// none of its attempts completed. Nothing tells what lay inside what, so the
// shortest attempt counts as the deepest: it fits into the others.
func (a *Accumulator) judgeUntimed(c []spans.Attempt) bool {
	if !a.anyGaveUp() {
		return a.succeeds()
	}
	nodes, x := a.path.nodes, &a.chain
	x.list(nodes, func(*node) bool { return true })
	slices.SortStableFunc(x.tops, func(a, b int32) int { return cmp.Compare(c[b].Duration, c[a].Duration) })
	x.decide(nodes, x.tops, func(a, b int32) bool { return merit[nodes[a].outcome] > merit[nodes[b].outcome] })
	a.verdict.begin(len(nodes))
	for depth, i := range x.tops {
		a.verdict.depth[i] = int32(depth)
		a.verdict.under[i] = nodes[i].gaveUp() && nodes[x.deciding[nodes[i].hop]].gaveUp()
	}
	return a.blame(x.outcome(nodes))
}

// merit orders outcomes by what they say of a hop's call as a whole.
var merit = [...]int{spans.Completed: 3, spans.Truncated: 2, spans.Failed: 1, spans.Unfinished: 0}
