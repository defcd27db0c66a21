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
	late := over > a.config.Tolerance
	if over > 0 && !late {
		a.counts.WithinTolerance++
	}
	switch {
	case !t.Waits(c):
		a.counts.OutlivedAsync += one(late)
	case !parent.GaveUp():
		a.counts.OutlivedCompleted += one(late)
		a.ended(t, p, c, over)
	case !late:
	case parent.Outcome == spans.Failed:
		a.counts.OutlivedFailed++
	case answered(t, p, c):
		a.counts.OutlivedCompleted++
		a.waitingOf(t, p, c).fit(1, over, max(0, after(parent.Duration, child.Duration)))
	default:
		a.orphan(t, p, c, over)
	}
}

// one counts what holds.
func one(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}

// answered reports whether a call that was cut from below had its answer from the
// server's span c: the server, on another clock and no longer than the call, ended cut
// itself, and not because its caller had left. It only seems to outlive the call.
func answered(t *spans.Trace, p, c int32) bool {
	child, parent := &t.Spans[c], &t.Spans[p]
	if parent.CutBy != spans.Below || child.Outcome != spans.Truncated || child.CutBy == spans.Caller || child.Duration > parent.Duration {
		return false
	}
	if kindOf(t, p) != spans.Client || kindOf(t, c) != spans.Server {
		return false
	}
	sure, _ := oneClock(t, p, c)
	return !sure
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
