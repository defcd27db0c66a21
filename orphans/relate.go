package orphans

import (
	"math"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// none is the bound of a span that is in no orphaned subtree.
const none = math.MaxInt64

// prepare makes room for the spans of one trace.
func (a *Accumulator) prepare(n int) {
	if cap(a.bound) < n {
		a.bound, a.rootEnd = make([]int64, n), make([]int64, n)
		a.caller, a.cutAt = make([]int32, n), make([]int32, n)
	}
	a.bound, a.rootEnd, a.caller, a.cutAt = a.bound[:n], a.rootEnd[:n], a.caller[:n], a.cutAt[:n]
	a.running = a.running[:0]
}

// place notes when the request that a span belongs to was over, and counts the
// span where it is the topmost one that began after that. Neither a root without
// an end nor a span whose parent is missing says when that was, and a tie that
// does not wait leads out of the request.
func (a *Accumulator) place(t *spans.Trace, i int32, root bool) {
	one, p := &t.Spans[i], t.Parents[i]
	a.bound[i], a.rootEnd[i] = none, none
	switch {
	case root:
		if inTime(one) {
			a.rootEnd[i] = one.End()
		}
	case p >= 0 && t.Waits(i):
		a.bound[i], a.rootEnd[i] = a.bound[p], a.rootEnd[p]
		if a.rootEnd[i] != none && one.Flags.Has(spans.HasStart) && after(one.Start, a.rootEnd[i]) > a.config.Tolerance {
			a.counts.StartedAfterRootEnd++
			a.rootEnd[i] = none // what is below it is not the topmost
		}
	}
}

// inTime reports whether a span lies in time and does not end before it starts.
func inTime(s *spans.Span) bool { return s.Timed() && s.Duration >= 0 }

// kindOf returns a span's kind; HopOf would copy all of the hop.
func kindOf(t *spans.Trace, i int32) spans.Kind { return t.Hops[t.Spans[i].Hop].Kind }

// relate says how a span's end relates to its parent's.
func (a *Accumulator) relate(t *spans.Trace, c int32) {
	p := t.Parents[c]
	if p < 0 {
		return
	}
	a.counts.SpansWithParent++
	child, parent := &t.Spans[c], &t.Spans[p]
	if !inTime(child) || !inTime(parent) {
		if !child.Flags.Has(spans.HasDuration) {
			a.counts.Unfinished++
		}
		return
	}
	over := after(child.End(), parent.End())
	switch {
	case over <= 0:
		a.skewOf(t, p, c, over)
	case over <= a.config.Tolerance:
		a.counts.WithinTolerance++
		a.skewOf(t, p, c, over)
	case !t.Waits(c):
		a.counts.OutlivedAsync++
	case !parent.GaveUp():
		a.counts.OutlivedCompleted++
		a.skewOf(t, p, c, over)
	default:
		a.orphan(t, p, c, over)
	}
}

// after returns a - b, kept within int64.
func after(a, b int64) int64 {
	if d := a - b; (a >= b) == (d >= 0) {
		return d
	}
	if a > b {
		return math.MaxInt64
	}
	return math.MinInt64
}

// orphan counts a child that ran on after a parent that gave up.
func (a *Accumulator) orphan(t *spans.Trace, p, c int32, over int64) {
	child, parent := &t.Spans[c], &t.Spans[p]
	wasted := min(over, child.Duration)
	a.counts.Orphaned++
	a.counts.Wasted = durations.Sum(a.counts.Wasted, wasted)
	kind := Overrun
	if child.Start >= parent.End() {
		kind = LateStart
		a.counts.LateStarts++
	} else {
		a.counts.Overruns++
	}
	a.bound[c] = min(a.bound[c], parent.End())
	at(a.pairs, hopPair{a.hop(t, p), a.hop(t, c)}).orphan(wasted, over, max(0, after(child.Start, parent.Start)), child.Duration)
	a.cases.consider(kind, over, wasted, t, p, c)
}

// skewOf notes how far the clocks of two services are apart from children that
// would fit into a parent that did not give up, and yet reach out of it. Where
// one clock timed both there is nothing to note.
func (a *Accumulator) skewOf(t *spans.Trace, p, c int32, over int64) {
	child, parent := &t.Spans[c], &t.Spans[p]
	if parent.GaveUp() || child.Duration > parent.Duration || !t.Waits(c) || oneHost(hostOf(t, p), hostOf(t, c)) {
		return
	}
	if out := max(over, after(parent.Start, child.Start)); out > 0 {
		key := services(t, p, c)
		a.skews[key] = max(a.skews[key], out)
	}
}

// oneHost reports whether two hosts are known to be the same.
func oneHost(a, b string) bool { return a != "" && a == b }

// services names two services in one order.
func services(t *spans.Trace, p, c int32) [2]string {
	return inOrder(t.HopOf(p).Service, t.HopOf(c).Service)
}

func inOrder(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }
