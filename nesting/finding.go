package nesting

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Finding is what calls what in a log.
type Finding struct {
	Step  int64       // ns, see NewVotes
	Pairs []Pair      // sorted by caller, then callee
	Late  []spans.Hop // that nobody is seen to wait for, or that run beside the others: begin in another hop and outlast it

	// Readings are those of what is not known: every Either as a call, none, each alone
	// the other way, and each Late hop off the path. Where all is known there is one.
	Readings []*Reading
	sure     *Reading // calls alone

	// MostGroup is the highest Group of the chains that are read in every way: where a
	// log is very large, not all.
	MostGroup uint16

	hops []spans.Hop
}

// Sure is the reading in which only calls are calls.
func (f *Finding) Sure() *Reading { return f.sure }

// Find decides each pair. Nothing more can be added then.
func (v *Votes) Find() *Finding {
	f := &Finding{Step: v.step, hops: v.hops.Hops(), MostGroup: math.MaxUint16}
	found := map[pair]*Pair{}
	for p, e := range v.evidence() {
		one := e.find(v.step)
		one.Caller, one.Callee = f.hops[p.caller], f.hops[p.callee]
		f.Pairs = append(f.Pairs, one)
	}
	slices.SortFunc(f.Pairs, comparePairs)
	for i := range f.Pairs {
		p := &f.Pairs[i]
		found[v.pairOf(p)] = p
	}
	v.callThrough(f.Pairs, found)
	v.oneWay(f.Pairs, found)
	v.read(f)
	return f
}

func comparePairs(a, b Pair) int {
	return cmp.Or(a.Caller.Compare(b.Caller), a.Callee.Compare(b.Callee))
}

func (v *Votes) pairOf(p *Pair) pair {
	a, _ := v.hops.Find(p.Caller)
	b, _ := v.hops.Find(p.Callee)
	return pair{a, b}
}

// callThrough makes calls of those that go through another hop: their caller may be
// far from them in time.
func (v *Votes) callThrough(list []Pair, found map[pair]*Pair) {
	for again := true; again; {
		again = false
		for i := range list {
			p := &list[i]
			if p.Verdict == Either && nearly(p.In, p.Votes()) && v.calledThrough(p, list, found) {
				p.Verdict, again = Call, true
			}
		}
	}
}

func (v *Votes) calledThrough(p *Pair, list []Pair, found map[pair]*Pair) bool {
	callee, _ := v.hops.Find(p.Callee)
	return slices.ContainsFunc(list, func(first Pair) bool {
		if first.Verdict != Call || first.Caller != p.Caller {
			return false
		}
		middle, _ := v.hops.Find(first.Callee)
		second := found[pair{middle, callee}]
		return second != nil && second.Verdict == Call
	})
}

// oneWay lets no hop call one that calls it.
func (v *Votes) oneWay(list []Pair, found map[pair]*Pair) {
	for i := range list {
		p := &list[i]
		way := v.pairOf(p)
		back := found[pair{way.callee, way.caller}]
		switch {
		case p.Verdict != Call || back == nil:
		case back.Verdict == Call:
			back.Verdict = Clocks
		default:
			back.Verdict = None
		}
	}
}

// mostTurned is how many pairs that are not known are read the other way alone.
const mostTurned = 8

// read lists the readings.
func (v *Votes) read(f *Finding) {
	var calls []pair
	var open []int // in f.Pairs
	for i := range f.Pairs {
		switch p := &f.Pairs[i]; p.Verdict {
		case Call:
			calls = append(calls, v.pairOf(p))
		case Either:
			open = append(open, i)
		}
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(f.Pairs[b].Votes(), f.Pairs[a].Votes()) })
	all := slices.Concat(calls, v.likelier(f, open))
	f.sure = newReading(f, calls)
	f.add(newReading(f, all))
	f.add(f.sure)
	for _, i := range open[:min(len(open), mostTurned)] {
		one := v.pairOf(&f.Pairs[i])
		f.addTurned(i, newReading(f, slices.DeleteFunc(slices.Clone(all), func(p pair) bool { return p == one })))
		f.addTurned(i, newReading(f, append(slices.Clone(calls), one)))
	}
	for _, hop := range v.findLate(f) {
		f.Late = append(f.Late, f.hops[hop])
		f.add(newReading(f, all, hop))
		f.add(newReading(f, calls, hop))
	}
}

// likelier lists pairs that are not known; of two hops of which neither way is, only that
// with the more callees in their caller, as both cannot be calls.
func (v *Votes) likelier(f *Finding, open []int) (list []pair) {
	for _, i := range open {
		p := &f.Pairs[i]
		if !slices.ContainsFunc(open, func(k int) bool { return f.Pairs[k].isBack(p) && f.Pairs[k].likelier(p) }) {
			list = append(list, v.pairOf(p))
		}
	}
	return list
}

// isBack reports whether a pair is another one the other way.
func (p *Pair) isBack(o *Pair) bool { return p.Caller == o.Callee && p.Callee == o.Caller }

func (p *Pair) likelier(o *Pair) bool {
	return p.within > o.within || p.within == o.within && p.Caller.Compare(o.Caller) < 0
}

// add adds a reading unless there is the same one.
func (f *Finding) add(r *Reading) {
	if !slices.ContainsFunc(f.Readings, r.same) {
		f.Readings = append(f.Readings, r)
	}
}

func (f *Finding) addTurned(pair int, r *Reading) {
	r.turned = &f.Pairs[pair]
	f.add(r)
}

// findLate lists the hops nobody surely calls that begin in another such hop, or as it
// ends, and outlast it in nine of ten chains. One that calls nobody may also begin a
// little before one that does: its clock may be behind.
func (v *Votes) findLate(f *Finding) (list []int32) {
	v.late.each(func(p pair, n *counts) {
		late := n.late
		if f.sure.calls(p.caller) && !f.sure.calls(p.callee) {
			late += n.ahead
		}
		if n.both >= leastVotes && 10*late >= 9*n.both && f.sure.top(p.caller) && f.sure.top(p.callee) && !slices.Contains(list, p.callee) {
			list = append(list, p.callee)
		}
	})
	slices.SortFunc(list, func(a, b int32) int { return f.hops[a].Compare(f.hops[b]) })
	return list
}

// Differs says what reads otherwise in a reading than in the first: a pair that is not
// known, of several one with the given hop, or else a late hop.
func (f *Finding) Differs(reading int, owner spans.Hop) (p *Pair, late spans.Hop) {
	r := f.Readings[reading]
	if off := slices.Index(r.off, true); off >= 0 && r.turned == nil {
		return nil, f.hops[off]
	}
	if r.turned != nil {
		return r.turned, late
	}
	for i := range f.Pairs {
		one := &f.Pairs[i]
		if one.Verdict == Either && (p == nil || concerns(one, owner) && (!concerns(p, owner) || one.Votes() > p.Votes())) {
			p = one
		}
	}
	return p, late
}

func concerns(p *Pair, h spans.Hop) bool { return p.Caller == h || p.Callee == h }

// Known is a finding of what is known without asking any chain: each pair is a hop and
// one that it calls. step is as NewVotes has it.
func Known(step int64, calls ...[2]spans.Hop) *Finding {
	v := NewVotes(step)
	f := &Finding{Step: step, MostGroup: math.MaxUint16}
	var pairs []pair
	for _, c := range calls {
		f.Pairs = append(f.Pairs, Pair{Caller: c[0], Callee: c[1], Verdict: Call})
		pairs = append(pairs, pair{v.hops.Number(c[0]), v.hops.Number(c[1])})
	}
	slices.SortFunc(f.Pairs, comparePairs)
	f.hops = v.hops.Hops()
	f.sure = newReading(f, pairs)
	f.Readings = []*Reading{f.sure}
	return f
}
