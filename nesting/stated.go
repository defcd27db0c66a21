package nesting

import (
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Stated is what a column of a log says of what calls what.
type Stated struct {
	Column string
	Named  bool // by the user; else times may refute it
	Calls  [][2]spans.Hop
	// Whole are the hops of which nearly all lines say who calls them: nobody else does.
	Whole []spans.Hop
}

// statement is what is stated, by the numbers of hops, and how far times agree.
type statement struct {
	*Stated
	whole    map[spans.Hop]bool
	callers  [][]int32 // by the hop called
	attempts []agreed  // of the hop called
}

// agreed is of how many attempts of a hop a caller is in the chain, and of these how many
// lie in one, or begin in one that was cut or failed, and how many begin before all.
type agreed struct{ n, held, before uint64 }

// mostCompared is how many attempts a chain may have in which stated callers are looked
// for.
const mostCompared = 512

// State says what a column states, before the first chain; nil for nothing.
func (v *Votes) State(s *Stated) {
	if s == nil {
		return
	}
	v.stated = &statement{Stated: s, whole: map[spans.Hop]bool{}}
	for _, h := range s.Whole {
		v.stated.whole[h] = true
	}
	for _, c := range s.Calls {
		caller, callee := v.hops.Number(c[0]), v.hops.Number(c[1])
		for v.hops.Len() > len(v.stated.callers) {
			v.stated.callers = append(v.stated.callers, nil)
		}
		v.stated.callers[callee] = append(v.stated.callers[callee], caller)
	}
	v.stated.attempts = make([]agreed, len(v.stated.callers))
}

// merge adds the attempts that another one has seen; hops are its hops here.
func (s *statement) merge(o *statement, hops []int32) {
	for i, a := range o.attempts {
		to := &s.attempts[hops[i]]
		to.n += a.n
		to.held += a.held
		to.before += a.before
	}
}

// compare looks for the stated callers of the attempts of the chain at hand.
func (v *Votes) compare() {
	as := v.room.attempts
	if len(as) > mostCompared {
		return
	}
	for y := range as {
		hop := as[y].hop
		if int(hop) >= len(v.stated.callers) || len(v.stated.callers[hop]) == 0 {
			continue
		}
		present, begun, held := v.callersIn(as, y)
		to := &v.stated.attempts[hop]
		switch {
		case !present:
			continue
		case held:
			to.held++
		case !begun:
			to.before++
		}
		to.n++
	}
}

// callersIn looks for the stated callers of attempt y: whether there is one, whether one
// begins before y does, and whether y may lie in one.
func (v *Votes) callersIn(as []attempt, y int) (present, begun, held bool) {
	callers := v.stated.callers[as[y].hop]
	for x := range as {
		if x == y || !slices.Contains(callers, as[x].hop) {
			continue
		}
		present = true
		begun = begun || as[x].start-v.step <= as[y].start
		if v.holds(&as[x], &as[y]) || !as[x].done && v.begins(&as[x], &as[y]) {
			return true, true, true
		}
	}
	return present, begun, false
}

// take lets the column decide its pairs, and all others of hops that it says all of.
func (v *Votes) take(f *Finding) {
	if v.stated == nil {
		return
	}
	v.addStated(f)
	if f.Refuted = !v.stated.Named && v.refuted(f); f.Refuted {
		f.Pairs = slices.DeleteFunc(f.Pairs, func(p Pair) bool { return p.Stated && p.Votes() == 0 && p.within == 0 })
		for i := range f.Pairs {
			f.Pairs[i].Stated = false
		}
		return
	}
	f.Callers = v.stated.Column
	slices.SortFunc(f.Pairs, Pair.Compare) // by caller, whose own callers are looked for once
	var above map[int32]bool
	for i := range f.Pairs {
		p := &f.Pairs[i]
		way := v.pairOf(p)
		if i == 0 || f.Pairs[i-1].Caller != p.Caller {
			above = v.stated.above(way.caller)
		}
		switch {
		case p.Stated:
			if p.Verdict = v.ofStated(p); p.Verdict == Siblings {
				f.beside = append(f.beside, way.callee)
			}
		case v.stated.whole[p.Callee] || above[way.callee]:
			p.Verdict, p.Stated = None, true
		}
	}
}

// addStated marks the pairs that the column states, and adds those that no attempt votes
// for.
func (v *Votes) addStated(f *Finding) {
	stated := map[[2]spans.Hop]bool{}
	for _, c := range v.stated.Calls {
		stated[c] = true
	}
	for i := range f.Pairs {
		c := [2]spans.Hop{f.Pairs[i].Caller, f.Pairs[i].Callee}
		f.Pairs[i].Stated = stated[c]
		delete(stated, c)
	}
	for c := range stated {
		f.Pairs = append(f.Pairs, Pair{Caller: c[0], Callee: c[1], Stated: true, Verdict: Call})
	}
}

// refuted reports whether more of the stated calls are held by their callees than hold
// them: then the column names something else, such as what is called. One alone may have a
// clock that is far off.
func (v *Votes) refuted(f *Finding) bool {
	against, agreeing := 0, 0
	for i := range f.Pairs {
		switch p := &f.Pairs[i]; {
		case !p.Stated || p.Votes() < leastVotes:
		case nearly(p.Around, p.Votes()):
			against++
		case nearly(p.In, p.Votes()):
			agreeing++
		}
	}
	return against > agreeing
}

// ofStated decides a stated pair: it is a call, unless times show that clocks disagree or
// that the callee goes on by itself.
func (v *Votes) ofStated(p *Pair) Verdict {
	a := &v.stated.attempts[v.pairOf(p).callee]
	p.Called, p.Held = a.n, a.held
	switch {
	case nearly(a.held, a.n):
		return Call
	case 20*a.before > a.n || p.Verdict == Clocks:
		return Clocks
	}
	return Siblings
}

// above are the hops that call a hop, maybe through others.
func (s *statement) above(hop int32) map[int32]bool {
	seen := map[int32]bool{}
	for next := []int32{hop}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if int(at) >= len(s.callers) {
			continue
		}
		for _, caller := range s.callers[at] {
			if !seen[caller] {
				seen[caller] = true
				next = append(next, caller)
			}
		}
	}
	return seen
}
