package nesting

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Verdict says what one hop is to another.
type Verdict string

// Call: the first calls the second. None: it does not, the second one holds it.
// Siblings: neither waits for the other. Clocks: the second ends with the first but
// seems to outlast it, as where clocks disagree. Either: not known.
const (
	Call     Verdict = "call"
	None     Verdict = "none"
	Siblings Verdict = "siblings"
	Clocks   Verdict = "clocks"
	Either   Verdict = "either"
)

// Pair is what the attempts of one hop say of those of another that they overlap.
type Pair struct {
	Caller, Callee         spans.Hop
	Verdict                Verdict
	In, Out, Early, Around uint64 // of callees: in the caller's attempt, outlasting it, beginning before it, holding it
	Outlasting             uint64 // of all these, those that end after the caller's attempt
	ByChance               uint64 // in quarters, those that would, were the callers' lengths dealt anew
	within                 uint64 // In, and those that have no vote
	Stated                 bool   // a column of the log says so
	// Of a stated call, the callee's attempts with any of its callers in their chain, and
	// those that lie in one, or begin in one that was cut or failed.
	Called, Held uint64
}

// Votes is how many attempts said something.
func (p *Pair) Votes() uint64 { return p.In + p.Out + p.Early + p.Around }

// The figures of the rules.
const (
	leastVotes  = 20
	leastChance = 8 // of those outlasting by chance
)

// nearly reports whether n are at least 95 % of all.
func nearly(n, all uint64) bool { return 20*n >= 19*all }

// evidence is all votes on one pair, in the order of the chains.
type evidence struct {
	n             [kinds]uint64
	last          []lastOf
	chain         int32 // the chain at hand, from 1 on
	from          int   // where it begins in last
	before, after []int64
	unclear       uint64 // callees in a caller's attempt that have no vote
}

// lastOf is the callee that ends last of those that overlap one attempt of the caller:
// only that one can be what the caller waited for. Times are ns.
type lastOf struct {
	of          int32 // the caller's attempt
	within      bool
	end, length int64
}

// evidence puts the votes together by pair. Chains come by their starts, so that the
// order is the same whoever looked at them.
func (v *Votes) evidence() map[pair]*evidence {
	slices.SortFunc(v.ballots, func(a, b ballot) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id.Hi, b.id.Hi), cmp.Compare(a.id.Lo, b.id.Lo))
	})
	all := map[pair]*evidence{}
	v.late.each(func(p pair, n *counts) {
		if n.unclear > 0 {
			all[p] = &evidence{unclear: n.within}
		}
	})
	for i := range v.ballots {
		b := &v.ballots[i]
		for _, one := range v.lists[b.of][b.from:b.to] {
			p := pair{one.caller, one.callee}
			e := all[p]
			if e == nil {
				e = new(evidence)
				all[p] = e
			}
			e.add(one, int32(i))
		}
	}
	return all
}

func (e *evidence) add(one vote, chain int32) {
	e.n[one.kind]++
	if one.gaps {
		e.before, e.after = append(e.before, one.before), append(e.after, one.after)
	}
	if e.chain != chain+1 {
		e.chain, e.from = chain+1, len(e.last)
	}
	for i := len(e.last) - 1; i >= max(e.from, len(e.last)-mostOpen); i-- {
		if l := &e.last[i]; l.of == one.of {
			if one.end > l.end {
				l.end, l.within = one.end, one.kind == within
			}
			return
		}
	}
	e.last = append(e.last, lastOf{one.of, one.kind == within, one.end, one.length})
}

// mostOpen is among how many of the latest attempts of a caller that of a callee is
// looked for.
const mostOpen = 16

// neighbours are where the lengths come from that are dealt anew: the two attempts
// before and the two after.
var neighbours = [...]int{-2, -1, 1, 2}

// outlasting counts the callees that end after their caller, and in quarters those that
// would if the callers' lengths were dealt anew.
func (e *evidence) outlasting(step int64) (seen, byChance uint64) {
	n := len(e.last)
	for i := range e.last {
		end := e.last[i].end
		if end > e.last[i].length+step {
			seen++
		}
		for _, k := range neighbours {
			if end > e.last[((i+k)%n+n)%n].length+step {
				byChance++
			}
		}
	}
	return seen, byChance
}

// together reports whether the ends of callees lie less than half as far from those of
// their callers as from those of the next ones.
func (e *evidence) together() bool {
	n := len(e.last)
	own, dealt := make([]int64, n), make([]int64, n)
	for i := range n {
		own[i], dealt[i] = e.last[i].end-e.last[i].length, e.last[i].end-e.last[(i+1)%n].length
	}
	return 2*deviation(own) < deviation(dealt)
}

// mostlyWithin reports whether nearly all callees lie in their caller, and nearly all of
// those that end last.
func (e *evidence) mostlyWithin(p *Pair) bool {
	held := uint64(0)
	for i := range e.last {
		if e.last[i].within {
			held++
		}
	}
	return nearly(p.In, p.Votes()) && nearly(held, uint64(len(e.last)))
}

// find decides a pair by its own votes.
func (e *evidence) find(step int64) Pair {
	p := Pair{within: e.n[within] + e.unclear, In: e.n[within], Out: e.n[out], Early: e.n[early], Around: e.n[around]}
	p.Outlasting, p.ByChance = e.outlasting(step)
	switch n := p.Votes(); {
	case n > 0 && nearly(p.Around, n):
		p.Verdict = None
	case n < leastVotes:
		p.Verdict = Either
	case e.bound(&p):
		p.Verdict = e.ofBound(&p, step)
	case !e.mostlyWithin(&p) && 40*p.Outlasting >= 7*p.ByChance:
		p.Verdict = Siblings
	default:
		p.Verdict = Either
	}
	return p
}

// bound reports whether callee and caller end together: hardly any outlasts its caller
// of those that would by chance, or their ends lie together.
func (e *evidence) bound(p *Pair) bool {
	return p.ByChance >= 4*leastChance && 20*p.Outlasting <= p.ByChance || e.together()
}

func (e *evidence) ofBound(p *Pair, step int64) Verdict {
	switch {
	case !e.mostlyWithin(p):
		return Clocks
	case e.tight(step):
		return Call
	}
	return Either
}

// tight reports whether the caller goes on soon after the callee has ended, measured
// by how long it takes to call.
func (e *evidence) tight(step int64) bool {
	return len(e.before) >= leastVotes && twiceMedian(e.after) <= 5*max(twiceMedian(e.before), step)
}

// deviation is four times the median absolute deviation from the median.
func deviation(list []int64) int64 {
	middle := twiceMedian(list)
	for i, x := range list {
		if list[i] = 2*x - middle; list[i] < 0 {
			list[i] = -list[i]
		}
	}
	return twiceMedian(list)
}
