package nesting

import (
	"cmp"
	"maps"
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

	// Callers is the column of the log that says what calls what, "" where none does or
	// where it is Refuted: times show that it says something else.
	Callers string
	Refuted bool

	// Silent is how many of the chains with several hops could not vote: too many of
	// their attempts run at once, they have too many hops, or their times lie too far
	// apart. Heard is how many did.
	Silent, Heard uint64

	hops   []spans.Hop
	beside []int32 // stated callees that their callers do not wait for
	index  map[spans.Hop]int32
}

// Sure is the reading in which only calls are calls.
func (f *Finding) Sure() *Reading { return f.sure }

// Find decides each pair. Nothing more can be added then.
func (v *Votes) Find() *Finding {
	f := &Finding{Step: v.step, hops: v.hops.Hops(), MostGroup: math.MaxUint16, Silent: v.silent, Heard: v.heard}
	f.number()
	found := map[pair]*Pair{}
	all := v.evidence()
	v.lists, v.ballots, v.settled = nil, nil, nil // they say nothing more, and there may be many
	f.Pairs = make([]Pair, 0, len(all))
	for p, e := range all {
		one := e.find(v.step)
		*e = evidence{}
		one.Caller, one.Callee = f.hops[p.caller], f.hops[p.callee]
		f.Pairs = append(f.Pairs, one)
	}
	v.take(f)
	slices.SortFunc(f.Pairs, Pair.Compare)
	for i := range f.Pairs {
		p := &f.Pairs[i]
		found[v.pairOf(p)] = p
	}
	v.callThrough(f.Pairs, found)
	v.oneWay(f.Pairs, found)
	v.read(f)
	return f
}

// Compare orders pairs by caller, then callee.
func (a Pair) Compare(b Pair) int {
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
	callees := map[int32][]int32{} // by their caller
	for i := range list {
		if way := v.pairOf(&list[i]); list[i].Verdict == Call {
			callees[way.caller] = append(callees[way.caller], way.callee)
		}
	}
	for again := true; again; {
		again = false
		for i := range list {
			p := &list[i]
			if p.Verdict != Either || !nearly(p.In, p.Votes()) {
				continue
			}
			way := v.pairOf(p)
			if slices.ContainsFunc(callees[way.caller], func(middle int32) bool {
				second := found[pair{middle, way.callee}]
				return second != nil && second.Verdict == Call
			}) {
				p.Verdict, again = Call, true
				callees[way.caller] = append(callees[way.caller], way.callee)
			}
		}
	}
}

// oneWay lets no hop call one that calls it.
func (v *Votes) oneWay(list []Pair, found map[pair]*Pair) {
	for i := range list {
		p := &list[i]
		way := v.pairOf(p)
		back := found[pair{way.callee, way.caller}]
		switch {
		case p.Verdict != Call || back == nil || back.Stated:
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
	if f.add(newReading(f, all)); f.sure.same(f.Readings[0]) {
		f.sure = f.Readings[0] // so that chains are placed once for both
	}
	f.add(f.sure)
	for _, i := range open[:min(len(open), mostTurned)] {
		one := v.pairOf(&f.Pairs[i])
		f.addTurned(i, newReading(f, slices.DeleteFunc(slices.Clone(all), func(p pair) bool { return p == one })))
		f.addTurned(i, newReading(f, append(slices.Clone(calls), one)))
	}
	f.readLate(v.findLate(f), all, calls)
}

// readLate reads late hops as no part of the request, each alone and, where they are
// many, all together.
func (f *Finding) readLate(late []int32, all, calls []pair) {
	for _, hop := range late {
		f.Late = append(f.Late, f.hops[hop])
	}
	for _, hop := range late[:min(len(late), mostTurned)] {
		f.add(newReading(f, all, hop))
		f.add(newReading(f, calls, hop))
	}
	if len(late) > mostTurned {
		f.add(newReading(f, all, late...))
		f.add(newReading(f, calls, late...))
	}
}

// likelier lists pairs that are not known; of two hops of which neither way is, only that
// with the more callees in their caller, as both cannot be calls.
func (v *Votes) likelier(f *Finding, open []int) (list []pair) {
	ways := make(map[pair]*Pair, len(open))
	for _, i := range open {
		ways[v.pairOf(&f.Pairs[i])] = &f.Pairs[i]
	}
	for _, i := range open {
		way := v.pairOf(&f.Pairs[i])
		if back := ways[pair{way.callee, way.caller}]; back == nil || !back.likelier(&f.Pairs[i]) {
			list = append(list, way)
		}
	}
	return list
}

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
// ends, and outlast it in nine of ten chains; stated callees that do are among them. One that calls nobody may also begin a
// little before one that does: its clock may be behind.
func (v *Votes) findLate(f *Finding) []int32 {
	late := map[int32]bool{}
	v.late.each(func(p pair, n *counts) {
		if n.both < leastVotes || 10*(n.late+n.ahead) < 9*n.both || !f.sure.top(p.caller) || !f.sure.top(p.callee) {
			return
		}
		if 10*n.late >= 9*n.both || f.sure.calls(p.caller) && !f.sure.calls(p.callee) {
			late[p.callee] = true
		}
	})
	for _, hop := range f.beside {
		late[hop] = true
	}
	return slices.SortedFunc(maps.Keys(late), func(a, b int32) int { return f.hops[a].Compare(f.hops[b]) })
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

// number notes the numbers of the hops.
func (f *Finding) number() {
	f.index = make(map[spans.Hop]int32, len(f.hops))
	for i, h := range f.hops {
		f.index[h] = int32(i)
	}
}

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
	slices.SortFunc(f.Pairs, Pair.Compare)
	f.hops = v.hops.Hops()
	f.number()
	f.sure = newReading(f, pairs)
	f.Readings = []*Reading{f.sure}
	return f
}
