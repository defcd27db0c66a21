package nesting

import (
	"math"
	"slices"
	"sort"

	"github.com/tailscope/tailscope/spans"
)

// Reading is one way to read a log: which hops call which.
type Reading struct {
	step    int64
	index   map[spans.Hop]int32
	callers [][]int32 // by the hop called
	calling []bool    // hops that call others
	off     []bool    // hops that nobody calls and nobody waits for
	// circular: hops call each other, so an attempt might come to lie in itself.
	circular bool
	turned   *Pair // that is read otherwise than the others
}

// same reports whether two readings are alike.
func (r *Reading) same(o *Reading) bool {
	return slices.Equal(r.off, o.off) && slices.EqualFunc(r.callers, o.callers, slices.Equal[[]int32])
}

func newReading(f *Finding, calls []pair, off ...int32) *Reading {
	r := &Reading{step: f.Step, callers: make([][]int32, len(f.hops)), off: make([]bool, len(f.hops)), calling: make([]bool, len(f.hops)), index: f.index}
	for _, p := range calls {
		r.callers[p.callee] = append(r.callers[p.callee], p.caller)
		r.calling[p.caller] = true
	}
	for i := range r.callers {
		slices.Sort(r.callers[i])
	}
	for _, hop := range off {
		r.off[hop] = true
	}
	r.circular = r.goesRound()
	return r
}

// top reports whether requests may begin with a hop.
func (r *Reading) top(hop int32) bool {
	return int(hop) >= len(r.callers) || len(r.callers[hop]) == 0 && !r.off[hop]
}

// calls reports whether a hop calls another.
func (r *Reading) calls(hop int32) bool {
	return r.calling[hop]
}

// goesRound reports whether a hop calls itself through others.
func (r *Reading) goesRound() bool {
	state := make([]uint8, len(r.callers)) // 1: on the way, 2: done
	var visit func(hop int32) bool
	visit = func(hop int32) bool {
		if state[hop] > 0 {
			return state[hop] == 1
		}
		state[hop] = 1
		round := slices.ContainsFunc(r.callers[hop], visit)
		state[hop] = 2
		return round
	}
	for hop := range r.callers {
		if visit(int32(hop)) {
			return true
		}
	}
	return false
}

// Placer places the attempts of chains in one reading. Not safe for concurrent use.
type Placer struct {
	*Reading
	source  *spans.Hop
	hops    []int32      // by the hops of the chains; -1 for one that the reading does not know
	places  []int32      // by hop: one more than that of its holders, 0 for none
	holding []int32      // hops that have holders
	holders [][2]holders // by place in holding: of all its attempts, and of those cut or failed

	chain   spans.Chain // of a trace
	parents []int32

	seen []int32 // by which walk along the parents each attempt was met, from 1
}

// NewPlacer returns a placer for one worker.
func (r *Reading) NewPlacer() *Placer { return &Placer{Reading: r} }

// Place sets the parents of a chain's attempts, which are sorted. An attempt lies in
// the innermost attempt of a hop that calls it which holds it, else in one in which it
// begins that was cut or failed; else in none, -1.
func (p *Placer) Place(c *spans.Chain) {
	as := c.Attempts
	if c.PlacedBy == p.Reading {
		return
	}
	c.PlacedBy = p.Reading
	for i := range as {
		as[i].Parent = -1
	}
	if !c.Timed || len(as) < 2 || c.TooLong() {
		return
	}
	p.begin()
	known := 0 // attempts that may hold attempt i
	for i := range as {
		for known < len(as) && (known <= i || notLater(as[known].Start, as[i].Start, p.step)) {
			p.hold(c, int32(known))
			known++
		}
		if callers := p.callersOf(c.Hops, as[i].Hop); len(callers) > 0 {
			as[i].Parent = p.parentOf(as, int32(i), callers)
		}
	}
	if p.circular {
		p.cutRound(as)
	}
}

// holders are the attempts of one hop that may hold others, in the order in which they
// start. One that ends no later than another that starts after it is left out: what it
// holds lies in that one too, and further in. So each ends before the one in front of it.
type holders []int32

func (h holders) with(as []spans.Attempt, k int32) holders {
	for len(h) > 0 && as[h[len(h)-1]].End() <= as[k].End() {
		h = h[:len(h)-1]
	}
	return append(h, k)
}

// innermost returns the last one that ends after a moment, -1 for none.
func (h holders) innermost(as []spans.Attempt, after int64) int32 {
	n := len(h)
	if n > 0 && as[h[n-1]].End() <= after {
		n = sort.Search(n-1, func(i int) bool { return as[h[i]].End() <= after })
	}
	if n == 0 {
		return -1
	}
	return h[n-1]
}

// begin forgets the holders of the chain before.
func (p *Placer) begin() {
	if p.places == nil {
		p.places = make([]int32, len(p.callers))
	}
	for _, hop := range p.holding {
		p.places[hop] = 0
	}
	p.holding = p.holding[:0]
}

// holdersOf returns the holders of a hop, which come into being. A chain has few hops of
// all that there are.
func (p *Placer) holdersOf(hop int32) *[2]holders {
	if p.places[hop] == 0 {
		p.holding = append(p.holding, hop)
		p.places[hop] = int32(len(p.holding))
		if len(p.holders) < len(p.holding) {
			p.holders = append(p.holders, [2]holders{})
		}
		h := &p.holders[len(p.holding)-1]
		h[0], h[1] = h[0][:0], h[1][:0]
	}
	return &p.holders[p.places[hop]-1]
}

// hold makes an attempt one that may hold others, if its hop calls any.
func (p *Placer) hold(c *spans.Chain, k int32) {
	x := &c.Attempts[k]
	hop := p.numberOf(c.Hops, x.Hop)
	if hop < 0 || !p.calling[hop] {
		return
	}
	h := p.holdersOf(hop)
	h[0] = h[0].with(c.Attempts, k)
	if x.Outcome != spans.Completed {
		h[1] = h[1].with(c.Attempts, k)
	}
}

// numberOf returns the number of a chain's hop, -1 for one without votes.
func (p *Placer) numberOf(hops []spans.Hop, hop int32) int32 {
	if p.source != &hops[0] || len(p.hops) < len(hops) {
		p.source, p.hops = &hops[0], p.hops[:0]
		for _, h := range hops {
			n, known := p.index[h]
			if !known {
				n = -1
			}
			p.hops = append(p.hops, n)
		}
	}
	return p.hops[hop]
}

func (p *Placer) callersOf(hops []spans.Hop, hop int32) []int32 {
	if n := p.numberOf(hops, hop); n >= 0 {
		return p.callers[n]
	}
	return nil
}

// Top reports whether requests may begin with a hop of the chain.
func (p *Placer) Top(c *spans.Chain, hop int32) bool {
	n := p.numberOf(c.Hops, hop)
	return n < 0 || p.top(n)
}

// parentOf finds the innermost attempt of the callers that holds attempt i, else the
// innermost that was cut or failed in which it begins.
func (p *Placer) parentOf(as []spans.Attempt, i int32, callers []int32) int32 {
	y := &as[i]
	held, left := int32(-1), int32(-1)
	for _, hop := range callers {
		if p.places[hop] == 0 {
			continue
		}
		h := &p.holders[p.places[hop]-1]
		held = max(held, h[0].innermost(as, max(y.Start, before(y.End(), p.step))))
		left = max(left, h[1].innermost(as, y.Start))
	}
	if held >= 0 {
		return held
	}
	return left
}

// before is the last moment that lies more than a step before another.
func before(moment, step int64) int64 {
	if moment <= math.MinInt64+step {
		return math.MinInt64
	}
	return moment - step - 1
}

// notLater reports whether a moment lies at most a step after another.
func notLater(a, b, step int64) bool { return a <= b || uint64(a)-uint64(b) <= uint64(step) }

// cutRound takes the first attempt of every circle of parents out of it.
func (p *Placer) cutRound(as []spans.Attempt) {
	p.seen = append(p.seen[:0], make([]int32, len(as))...)
	for i := range as {
		at, walk := int32(i), int32(i)+1
		for at >= 0 && p.seen[at] == 0 {
			p.seen[at] = walk
			at = as[at].Parent
		}
		if at >= 0 && p.seen[at] == walk {
			as[firstOfCircle(as, at)].Parent = -1
		}
	}
}

// firstOfCircle returns the first attempt of the circle of parents that one is part of.
func firstOfCircle(as []spans.Attempt, from int32) int32 {
	first := from
	for at := as[from].Parent; at != from; at = as[at].Parent {
		first = min(first, at)
	}
	return first
}
