package neighbors

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Pair is a hop right above another, and how many spans or attempts of the lower one
// lie there. Awaited are those that the upper one waits for.
type Pair struct {
	Above, Below spans.Hop
	N, Awaited   uint64
}

// Accumulator counts pairs. Not safe for concurrent use: each worker has its own. The
// zero value is empty.
type Accumulator struct {
	hops  spans.HopIndex
	pairs map[[2]int32]*counts
	last  []met // by the lower hop
}

// met is the upper hop that was met last above a lower one.
type met struct {
	above int32
	*counts
}

type counts struct{ n, awaited uint64 }

// between returns the counts of a pair. A hop mostly has one caller.
func (a *Accumulator) between(above, below int32) *counts {
	for int(below) >= len(a.last) {
		a.last = append(a.last, met{})
	}
	if m := &a.last[below]; m.counts == nil || m.above != above {
		*m = met{above, a.at([2]int32{above, below})}
	}
	return a.last[below].counts
}

func (a *Accumulator) at(key [2]int32) *counts {
	if a.pairs == nil {
		a.pairs = map[[2]int32]*counts{}
	}
	c := a.pairs[key]
	if c == nil {
		c = new(counts)
		a.pairs[key] = c
	}
	return c
}

// AddTrace counts the pairs of a trace with parents.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	for i, p := range t.Parents {
		if p < 0 {
			continue
		}
		above, below := a.hops.Translate(t.Hops, t.Spans[p].Hop), a.hops.Translate(t.Hops, t.Spans[i].Hop)
		c := a.between(above, below)
		c.n++
		if t.HoldsUp(int32(i)) {
			c.awaited++
		}
	}
}

// AddChain counts the pairs of a chain whose attempts are placed.
func (a *Accumulator) AddChain(c *spans.Chain) {
	for i := range c.Attempts {
		if p := c.Attempts[i].Parent; p >= 0 {
			above, below := a.hops.Translate(c.Hops, c.Attempts[p].Hop), a.hops.Translate(c.Hops, c.Attempts[i].Hop)
			one := a.at([2]int32{above, below})
			one.n, one.awaited = one.n+1, one.awaited+1
		}
	}
}

// Merge adds what o counted.
func (a *Accumulator) Merge(o *Accumulator) {
	numbers := a.hops.Merge(&o.hops)
	for key, c := range o.pairs {
		one := a.at([2]int32{numbers[key[0]], numbers[key[1]]})
		one.n, one.awaited = one.n+c.n, one.awaited+c.awaited
	}
}

// Pairs lists the pairs, those of most spans first.
func (a *Accumulator) Pairs() []Pair {
	var list []Pair
	for key, c := range a.pairs {
		list = append(list, Pair{a.hops.Hop(key[0]), a.hops.Hop(key[1]), c.n, c.awaited})
	}
	slices.SortFunc(list, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.N, x.N), x.Above.Compare(y.Above), x.Below.Compare(y.Below))
	})
	return list
}
