package orphans

import (
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// pair is what is known of one hop calling another. Samples are ns.
type pair struct {
	ran       map[grade]*beyond // children that ran on after parents that gave up
	withChild uint64            // cut calls of the parent's hop that have such a child
	leaving   uint64            // first calls that left and have such a child
	leavings
	cases worst
}

// beyond is what ran on after parents that gave up.
type beyond struct {
	n, late uint64 // late: began after it
	wasted  int64
	overrun quantile.Sample
	lag     quantile.Sample // from the call's start to the callee's
	work    quantile.Sample // how long the callee itself ran
}

func (b *beyond) add(kind Kind, wasted, overrun, lag, work int64) {
	b.n++
	b.late += counted(kind == LateStart)
	b.wasted = durations.Sum(b.wasted, wasted)
	b.overrun.Add(overrun)
	b.lag.Add(lag)
	b.work.Add(work)
}

func (b *beyond) merge(o *beyond) {
	b.n += o.n
	b.late += o.late
	b.wasted = durations.Sum(b.wasted, o.wasted)
	b.overrun.Merge(&o.overrun)
	b.lag.Merge(&o.lag)
	b.work.Merge(&o.work)
}

// pairOf returns what is known of two hops, new where there was nothing.
func (a *Accumulator) pairOf(key hopPair) *pair {
	p := a.pairs[key]
	if p == nil {
		p = &pair{ran: map[grade]*beyond{}, cases: worst{limit: a.config.Limit, byOverrun: a.config.ByOverrun}}
		a.pairs[key] = p
	}
	return p
}

// ranOn returns how many ran on, whatever they turn out to be.
func (p *pair) ranOn() (n uint64) {
	for _, b := range p.ran {
		n += b.n
	}
	return n
}

func (p *pair) merge(o *pair) {
	for g, b := range o.ran {
		at(p.ran, g).merge(b)
	}
	p.withChild += o.withChild
	p.leaving += o.leaving
	p.leavings.merge(&o.leavings)
	for _, c := range o.cases.sort() {
		p.cases.add(c)
	}
}

// calls is what is known of the calls of one hop. Where a span of another kind
// was cut over its children it is counted like a call.
type calls struct {
	cut       uint64          // all calls that were cut
	firstCut  uint64          // first attempts among them
	overheads quantile.Sample // client less server, of completed calls
}

func (c *calls) merge(o *calls) {
	c.cut += o.cut
	c.firstCut += o.firstCut
	c.overheads.Merge(&o.overheads)
}

// cut looks at the children of a span that was cut.
func (a *Accumulator) cut(t *spans.Trace, p int32) {
	parent := &t.Spans[p]
	c := at(a.calls, a.hop(t, p))
	c.cut++
	a.findCallees(t, p)
	for _, callee := range a.callees {
		a.cutCallee(t, p, callee)
	}
	if parent.Retry() {
		return
	}
	c.firstCut++
	// A server that was cut itself says no more than the call: longer than this.
	if server := serverOf(t, p); server >= 0 && t.Spans[server].Outcome == spans.Completed {
		at(a.served, hopPair{a.hop(t, p), a.hop(t, server)}).add(t, p, server)
	}
}

// cutCallee looks at what one callee did when its call was cut. A call that was
// cut from below had its answer: it did not leave.
func (a *Accumulator) cutCallee(t *spans.Trace, p, c int32) {
	parent, child := &t.Spans[p], &t.Spans[c]
	pair := a.pairOf(hopPair{a.hop(t, p), a.hop(t, c)})
	pair.withChild++
	if parent.Retry() || parent.CutBy == spans.Below || !inTime(parent) || !inTime(child) {
		return
	}
	pair.leaving++
	pair.left(t, p, c)
}

// findCallees lists, for each hop that a call reached, the child that ended last;
// one whose end is not known only where there is no other.
func (a *Accumulator) findCallees(t *spans.Trace, p int32) {
	a.callees = a.callees[:0]
	for len(a.latest) < len(t.Hops) {
		a.latest = append(a.latest, 0)
	}
	for _, c := range t.Children(p) {
		if !t.Waits(c) {
			continue
		}
		at := &a.latest[t.Spans[c].Hop] // one more than the place in callees
		if *at == 0 {
			a.callees = append(a.callees, c)
			*at = int32(len(a.callees))
		} else if last := &a.callees[*at-1]; endsLater(&t.Spans[c], &t.Spans[*last]) {
			*last = c
		}
	}
	for _, c := range a.callees {
		a.latest[t.Spans[c].Hop] = 0
	}
}

func endsLater(a, b *spans.Span) bool {
	return inTime(a) && (!inTime(b) || a.End() > b.End())
}

// serverOf returns the server span of a client's call that ran longest, -1 if
// there is none.
func serverOf(t *spans.Trace, p int32) int32 {
	best := int32(-1)
	if kindOf(t, p) != spans.Client {
		return best
	}
	for _, c := range t.Children(p) {
		if kindOf(t, c) != spans.Server || !inTime(&t.Spans[c]) || !t.Waits(c) {
			continue
		}
		if best < 0 || t.Spans[c].Duration > t.Spans[best].Duration {
			best = c
		}
	}
	return best
}
