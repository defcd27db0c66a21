package orphans

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// levels is how far up the callers of a call are looked at for a wall.
const levels = 8

// path is the hop of a call and those of its callers, the nearest first. Which
// of them have a wall is known only at the end, so each path is kept apart.
type path struct {
	hop     ref
	depth   uint8
	callers [levels]ref
}

// renamed returns the path in the numbers of another table.
func (p path) renamed(to func(ref) ref) path {
	p.hop = to(p.hop)
	for level := range p.depth {
		p.callers[level] = to(p.callers[level])
	}
	return p
}

// spentOn returns, for each caller of a path, what it had spent before the call.
func (a *Accumulator) spentOn(p path) []quantile.Sample {
	spent := a.paths[p]
	if spent == nil {
		spent = make([]quantile.Sample, p.depth)
		a.paths[p] = spent
	}
	return spent
}

// Order is how often, of two nested calls that were both cut, the outer one left
// before, with (within 2 %) or after the inner one. In a sound tree the inner
// one fires first.
type Order struct {
	OuterFirst uint64 `json:"outer_first"`
	Together   uint64 `json:"together"`
	InnerFirst uint64 `json:"inner_first"`
	// Doubtful is how many of these two clocks decided, by less than the clocks may be
	// apart or with nothing that shows how far they are.
	Doubtful uint64 `json:"doubtful"`
}

// order is an Order with what its doubtful ones are found by.
type order struct {
	Order
	margins quantile.Sample // of what two clocks decided: ns to where it would have come out otherwise
}

func (o *order) merge(p *order) {
	o.OuterFirst += p.OuterFirst
	o.Together += p.Together
	o.InnerFirst += p.InnerFirst
	o.margins.Merge(&p.margins)
}

// isCall reports whether a span is a call as its caller sees it: only a caller
// sets a timeout. Hop logs with parents have no kinds; each line is a call.
func isCall(k spans.Kind) bool { return k == spans.Client || k == spans.NoKind }

// call looks at a span as a call inside other calls. Spans come after their
// parents, so what is known of the callers is there.
func (a *Accumulator) call(t *spans.Trace, i int32) {
	a.findCallers(t, i)
	one := &t.Spans[i]
	if one.Outcome == spans.Truncated {
		a.cut(t, i)
	}
	if !isCall(kindOf(t, i)) {
		return
	}
	a.elapsed(t, i)
	switch {
	case !inTime(one):
	case one.Outcome == spans.Truncated:
		a.cutOrder(t, i)
	case one.Outcome == spans.Completed:
		if server := serverOf(t, i); server >= 0 && t.Spans[server].Outcome == spans.Completed {
			at(a.calls, a.hop(t, i)).overheads.Add(max(0, one.Duration-t.Spans[server].Duration))
		}
	}
}

// findCallers notes the nearest call above a span, and the nearest that was cut.
func (a *Accumulator) findCallers(t *spans.Trace, i int32) {
	a.caller[i], a.cutAt[i] = -1, -1
	p := t.Parents[i]
	if p < 0 || !t.Waits(i) {
		return
	}
	a.caller[i], a.cutAt[i] = a.caller[p], a.cutAt[p]
	if !isCall(kindOf(t, p)) {
		return
	}
	a.caller[i] = p
	if inTime(&t.Spans[p]) && t.Spans[p].Outcome == spans.Truncated {
		a.cutAt[i] = p
	}
}

// elapsed notes what the callers of a call had spent before it.
func (a *Accumulator) elapsed(t *spans.Trace, i int32) {
	p := path{hop: a.hop(t, i)}
	var spent [levels]int64
	for outer := a.caller[i]; outer >= 0 && p.depth < levels; outer = a.caller[outer] {
		p.callers[p.depth], spent[p.depth] = a.hop(t, outer), between(&t.Spans[outer], &t.Spans[i])
		p.depth++
	}
	if p.depth == 0 {
		return
	}
	samples := a.spentOn(p)
	for level := range samples {
		samples[level].Add(spent[level])
	}
}

// between returns the time from one start to the other, 0 where it is not known:
// it was no less.
func between(outer, inner *spans.Span) int64 {
	if !outer.Flags.Has(spans.HasStart) || !inner.Flags.Has(spans.HasStart) {
		return 0
	}
	return max(0, after(inner.Start, outer.Start))
}

// together is within what share of the outer call's length two cuts are one: a
// fiftieth.
const together = 50

// cutOrder compares a call that was cut with the nearest such call above it. One that
// was cut from below was cut by it, whatever two clocks say.
func (a *Accumulator) cutOrder(t *spans.Trace, i int32) {
	if a.cutAt[i] < 0 {
		return
	}
	outer := &t.Spans[a.cutAt[i]]
	order := at(a.orders, hopPair{a.hop(t, a.cutAt[i]), a.hop(t, i)})
	late, near := after(outer.End(), t.Spans[i].End()), outer.Duration/together
	sure, _ := oneClock(t, a.cutAt[i], i)
	if outer.CutBy == spans.Below && !(sure && late < -near) {
		order.InnerFirst++
		return
	}
	if !sure {
		order.margins.Add(magnitude(after(magnitude(late), near)))
	}
	switch {
	case late < -near:
		order.OuterFirst++
	case late > near:
		order.InnerFirst++
	default:
		order.Together++
	}
}

// magnitude returns ns without its sign.
func magnitude(ns int64) int64 { return max(ns, after(0, ns)) }
