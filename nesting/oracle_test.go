package nesting

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// oracle is the rule in the words of the documentation, with the square of everything.
type oracle struct {
	step  int64
	pairs map[[2]string]*oraclePair
}

type oraclePair struct {
	n             [4]uint64 // in, out, early, around
	unclear       bool
	lasts         []*oracleLast
	before, after []int64
	verdict       Verdict
	out, chance   uint64
}

type oracleLast struct {
	chain, x    int
	end, length int64
	in          bool
}

func newOracle(step int64, chains []*spans.Chain) *oracle {
	o := &oracle{step: step, pairs: map[[2]string]*oraclePair{}}
	chains = slices.Clone(chains)
	slices.SortFunc(chains, func(a, b *spans.Chain) int {
		return cmp.Or(cmp.Compare(a.Attempts[0].Start, b.Attempts[0].Start), cmp.Compare(a.ID.Hi, b.ID.Hi), cmp.Compare(a.ID.Lo, b.ID.Lo))
	})
	for i, c := range chains {
		for y := range c.Attempts {
			for hop := range c.Hops {
				if int32(hop) != c.Attempts[y].Hop {
					o.vote(c, i, int32(hop), y)
				}
			}
		}
	}
	for _, p := range o.pairs {
		o.decide(p)
	}
	o.through()
	for key, p := range o.pairs {
		if back := o.pairs[[2]string{key[1], key[0]}]; p.verdict == Call && back != nil && back.verdict != Call {
			back.verdict = None
		}
	}
	return o
}

func (o *oracle) holds(x, y *spans.Attempt) bool {
	return x.Start-o.step <= y.Start && y.End() <= x.End()+o.step
}

func (o *oracle) begins(x, y *spans.Attempt) bool {
	return x.Start-o.step <= y.Start && y.Start < x.End()
}

// vote lets attempt y vote on the attempts of a hop.
func (o *oracle) vote(c *spans.Chain, chain int, hop int32, y int) {
	b := &c.Attempts[y]
	var all, done, good []int
	alike, around, later := false, false, true
	for x := range c.Attempts {
		a := &c.Attempts[x]
		if a.Hop != hop || a.Start+o.step >= b.End() || b.Start+o.step >= a.End() {
			continue
		}
		all = append(all, x)
		later = later && a.Start-o.step > b.Start
		if a.Outcome != spans.Completed {
			continue
		}
		done = append(done, x)
		switch {
		case o.holds(a, b) && o.holds(b, a):
			alike = true
			// Rounding hides which one is outside, but not that it begins first and takes longer.
			if a.Start <= b.Start && a.Duration >= b.Duration && *a != *b && (a.Start != b.Start || a.Duration != b.Duration) {
				good = append(good, x)
			}
			if b.Start <= a.Start && b.Duration >= a.Duration && (a.Start != b.Start || a.Duration != b.Duration) {
				around = true
			}
		case o.holds(a, b):
			good = append(good, x)
		case o.holds(b, a):
			around = true
		}
	}
	if len(all) == 0 {
		return
	}
	key := [2]string{c.Hops[hop].Name, c.Hops[b.Hop].Name}
	p := o.pairs[key]
	if p == nil {
		p = &oraclePair{}
		o.pairs[key] = p
	}
	kind := 1
	switch {
	case len(good) > 0:
		kind = 0
	case around:
		kind = 3
	case alike:
		p.unclear = true
		return
	case later:
		kind = 2
	}
	left := slices.ContainsFunc(c.Attempts, func(z spans.Attempt) bool { return z.Outcome != spans.Completed && o.begins(&z, b) && z != *b })
	if len(done) == 0 || kind != 0 && len(done) < len(all) || kind == 1 && left {
		p.unclear = true
		return
	}
	p.n[kind]++
	x := done[len(done)-1]
	if kind == 0 {
		x = good[len(good)-1]
	}
	a := &c.Attempts[x]
	o.enterLast(p, &oracleLast{chain, x, b.End() - a.Start, a.Duration, kind == 0})
	if kind == 0 {
		o.gaps(p, c, x, y)
	}
}

func (o *oracle) enterLast(p *oraclePair, one *oracleLast) {
	for _, l := range p.lasts {
		if l.chain == one.chain && l.x == one.x {
			if one.end > l.end {
				l.end, l.in = one.end, one.in
			}
			return
		}
	}
	p.lasts = append(p.lasts, one)
}

func (o *oracle) gaps(p *oraclePair, c *spans.Chain, x, y int) {
	a, b := &c.Attempts[x], &c.Attempts[y]
	next := a.End()
	for z := range c.Attempts {
		d := &c.Attempts[z]
		if z == x || z == y || !o.holds(a, d) {
			continue
		}
		if d.Start < b.End() && d.End() > b.End()+o.step && d.Start < a.End() {
			return
		}
		if d.Start >= b.End() {
			next = min(next, d.Start)
		}
	}
	p.before, p.after = append(p.before, b.Start-a.Start), append(p.after, next-b.End())
}

func (o *oracle) decide(p *oraclePair) {
	n := p.n[0] + p.n[1] + p.n[2] + p.n[3]
	in, held := p.n[0], uint64(0)
	var own, dealt []float64
	for i, l := range p.lasts {
		if l.end > l.length+o.step {
			p.out++
		}
		for _, k := range []int{-2, -1, 1, 2} {
			if l.end > p.lasts[((i+k)%len(p.lasts)+len(p.lasts))%len(p.lasts)].length+o.step {
				p.chance++
			}
		}
		if l.in {
			held++
		}
		own = append(own, float64(l.end-l.length))
		dealt = append(dealt, float64(l.end-p.lasts[(i+1)%len(p.lasts)].length))
	}
	chance := float64(p.chance) / 4
	most := 100*in >= 95*n && 100*held >= 95*uint64(len(p.lasts))
	bound := n >= 20 && (chance >= 8 && float64(p.out) <= chance/5 || spread(own) < spread(dealt)/2)
	switch {
	case n > 0 && 100*p.n[3] >= 95*n:
		p.verdict = None
	case n < 20:
		p.verdict = Either
	case bound && most && len(p.before) >= 20 && median(toFloats(p.after)) <= 5*max(median(toFloats(p.before)), float64(o.step)/2):
		p.verdict = Call
	case bound && most:
		p.verdict = Either
	case bound:
		p.verdict = Clocks
	case !most && float64(p.out) >= .7*chance:
		p.verdict = Siblings
	default:
		p.verdict = Either
	}
}

// through makes calls of those that go through another hop.
func (o *oracle) through() {
	for again := true; again; {
		again = false
		for key, p := range o.pairs {
			n := p.n[0] + p.n[1] + p.n[2] + p.n[3]
			for middle, first := range o.pairs {
				if p.verdict != Either || 100*p.n[0] < 95*n || first.verdict != Call || middle[0] != key[0] {
					continue
				}
				if second := o.pairs[[2]string{middle[1], key[1]}]; second != nil && second.verdict == Call {
					p.verdict, again = Call, true
				}
			}
		}
	}
}

func toFloats(list []int64) (floats []float64) {
	for _, v := range list {
		floats = append(floats, float64(v))
	}
	return floats
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

func spread(list []float64) float64 {
	middle := median(list)
	var away []float64
	for _, v := range list {
		away = append(away, max(v-middle, middle-v))
	}
	return median(away)
}

// parents places the attempts of a chain.
func (o *oracle) parents(c *spans.Chain, calls func(a, b string) bool) []int32 {
	var list []int32
	for y := range c.Attempts {
		b, best, left := &c.Attempts[y], int32(-1), int32(-1)
		for x := range c.Attempts {
			a := &c.Attempts[x]
			if x == y || !calls(c.Hops[a.Hop].Name, c.Hops[b.Hop].Name) || !o.begins(a, b) {
				continue
			}
			if b.End() <= a.End()+o.step {
				best = int32(x)
			} else if a.Outcome != spans.Completed {
				left = int32(x)
			}
		}
		if best < 0 {
			best = left
		}
		list = append(list, best)
	}
	return list
}
