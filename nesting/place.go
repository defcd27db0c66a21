package nesting

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Reading is one way to read a log: which hops call which.
type Reading struct {
	step    int64
	index   map[spans.Hop]int32
	callers [][]int32 // by the hop called
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
	r := &Reading{step: f.Step, callers: make([][]int32, len(f.hops)), off: make([]bool, len(f.hops)), index: f.index}
	for _, p := range calls {
		r.callers[p.callee] = append(r.callers[p.callee], p.caller)
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
	return slices.ContainsFunc(r.callers, func(callers []int32) bool { return slices.Contains(callers, hop) })
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
	hops    []int32 // by the hops of the chains; -1 for one that the reading does not know
	running []int32
	first   int64 // end of those that run, the first to end

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
	p.running, p.first = p.running[:0], math.MaxInt64
	for i := range as {
		if p.first <= as[i].Start {
			p.forgetEnded(as, as[i].Start)
		}
		if callers := p.callersOf(c.Hops, as[i].Hop); len(callers) > 0 {
			as[i].Parent = p.parentOf(c, int32(i), callers)
		}
		p.running = append(p.running, int32(i))
		p.first = min(p.first, as[i].End())
	}
	if p.circular {
		p.cutRound(as)
	}
}

func (p *Placer) forgetEnded(as []spans.Attempt, now int64) {
	p.first = math.MaxInt64
	p.running = slices.DeleteFunc(p.running, func(k int32) bool {
		end := as[k].End()
		if end > now {
			p.first = min(p.first, end)
		}
		return end <= now
	})
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

// parentOf looks through the attempts that may hold attempt i, the innermost first.
func (p *Placer) parentOf(c *spans.Chain, i int32, callers []int32) int32 {
	left := int32(-1)
	found, sure := int32(-1), false
	last := i + 1
	for int(last) < len(c.Attempts) && notLater(c.Attempts[last].Start, c.Attempts[i].Start, p.step) {
		last++
	}
	consider := func(k int32) bool {
		if k == i || !slices.Contains(callers, p.hops[c.Attempts[k].Hop]) {
			return false
		}
		x, y := &c.Attempts[k], &c.Attempts[i]
		switch {
		case y.Start >= x.End():
		case notLater(y.End(), x.End(), p.step):
			found, sure = k, true
		case left < 0 && x.Outcome != spans.Completed:
			left = k
		}
		return sure
	}
	for k := last - 1; k > i; k-- {
		if consider(k) {
			return found
		}
	}
	for k := len(p.running) - 1; k >= 0; k-- {
		if consider(p.running[k]) {
			return found
		}
	}
	return left
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
