package nesting

// pair is two hops by their numbers.
type pair struct{ caller, callee int32 }

// counts is how often attempts of two hops come in one chain, the first completed. Late:
// the second begins in the first, or as that ends, and outlasts it; ahead: it begins a
// little before. Unclear: it overlaps the first and has no vote; within: it lies in the
// first all the same.
type counts struct{ both, late, ahead, unclear, within uint64 }

func (c *counts) add(o *counts) {
	c.both += o.both
	c.late += o.late
	c.ahead += o.ahead
	c.unclear += o.unclear
	c.within += o.within
}

// pairTable holds counts by pair: most logs have few hops.
type pairTable struct {
	few  []counts // of hops below fewHops
	many map[pair]*counts
}

const fewHops = 64

func (t *pairTable) at(p pair) *counts {
	if p.caller < fewHops && p.callee < fewHops {
		if t.few == nil {
			t.few = make([]counts, fewHops*fewHops)
		}
		return &t.few[p.caller*fewHops+p.callee]
	}
	n := t.many[p]
	if n == nil {
		if t.many == nil {
			t.many = map[pair]*counts{}
		}
		n = new(counts)
		t.many[p] = n
	}
	return n
}

// each calls see with all pairs that have any.
func (t *pairTable) each(see func(pair, *counts)) {
	for i := range t.few {
		if n := &t.few[i]; *n != (counts{}) {
			see(pair{int32(i / fewHops), int32(i % fewHops)}, n)
		}
	}
	for p, n := range t.many {
		see(p, n)
	}
}

// lateVote is two hops by their local numbers, of which an attempt of the second
// outlasts one of the first in which it begins.
type lateVote struct {
	first, second int32
	ahead         bool // the second begins a little before
}

// countLate enters which hops the chain has, and how often one outlasts another.
func (v *Votes) countLate() {
	r := &v.room
	for _, l := range r.late {
		if n := v.late.at(pair{r.hops[l.first], r.hops[l.second]}); l.ahead {
			n.ahead++
		} else {
			n.late++
		}
	}
	r.present = append(r.present[:0], make([]present, len(r.hops))...)
	for i := range r.attempts {
		a := &r.attempts[i]
		r.present[a.local].all++
		if a.done {
			r.present[a.local].done++
		}
	}
	for i, a := range r.present {
		for k, b := range r.present {
			if i != k && a.done > 0 {
				v.late.at(pair{r.hops[i], r.hops[k]}).both += a.done * b.all
			}
		}
	}
}

// present is how many attempts of a hop a chain has.
type present struct{ all, done uint64 }
