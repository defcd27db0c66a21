package orphans

import (
	"math"

	"github.com/tailscope/tailscope/spans"
)

// none is later than any moment.
const none = math.MaxInt64

// nobody is at or above a span that is in no orphaned subtree.
const nobody = -1

// prepare makes room for the spans of one trace.
func (a *Accumulator) prepare(n int) {
	if cap(a.givenAt) < n {
		a.givenAt, a.rootEnd = make([]int32, n), make([]int64, n)
		a.caller, a.cutAt = make([]int32, n), make([]int32, n)
	}
	a.givenAt, a.rootEnd, a.caller, a.cutAt = a.givenAt[:n], a.rootEnd[:n], a.caller[:n], a.cutAt[:n]
	a.running, a.given, a.causes = a.running[:0], a.given[:0], a.causes[:0]
}

// place notes when the request that a span belongs to was over, and counts the
// span where it is the topmost one that began after that. Neither a root without
// an end nor a span whose parent is missing says when that was, and a tie that
// does not wait leads out of the request.
func (a *Accumulator) place(t *spans.Trace, i int32, root bool) {
	one, p := &t.Spans[i], t.Parents[i]
	a.givenAt[i], a.rootEnd[i] = nobody, none
	switch {
	case root:
		if inTime(one) {
			a.rootEnd[i] = one.End()
		}
	case p >= 0 && t.Waits(i):
		a.givenAt[i], a.rootEnd[i] = a.givenAt[p], a.rootEnd[p]
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
	if parent.Outcome == spans.Truncated {
		over = a.atLeast(t, p, c, over)
	}
	late := over > a.config.Tolerance
	if over > 0 && !late {
		a.counts.WithinTolerance++
	}
	switch {
	case !t.Waits(c):
		a.counts.OutlivedAsync += counted(late)
	case !parent.GaveUp():
		a.counts.OutlivedCompleted += counted(late)
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

// counted is 1 for what holds.
func counted(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}

// atLeast returns how long a child ran on after its parent. Where two clocks say less,
// it is the time by which the child was longer: it did not begin before its parent.
func (a *Accumulator) atLeast(t *spans.Trace, p, c int32, over int64) int64 {
	longer := after(t.Spans[c].Duration, t.Spans[p].Duration)
	if over >= longer || longer <= a.config.Tolerance {
		return over
	}
	if one, _ := oneClock(t, p, c); one {
		return over
	}
	return longer
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
	key := hopPair{a.hop(t, p), a.hop(t, c)}
	g, kind, wasted := a.gradeOf(t, p, c, over), Overrun, min(over, child.Duration)
	if child.Start >= parent.End() {
		kind = LateStart
	}
	a.giveUp(c, cause{key, g}, parent.End())
	if a.found != nil {
		*a.found = append(*a.found, Found{Parent: p, Child: c, Kind: kind, Overrun: over, Wasted: wasted, grade: g})
		return
	}
	one := a.pairOf(key)
	at(one.ran, g).add(kind, wasted, over, max(0, after(child.Start, parent.Start)), child.Duration)
	one.cases.consider(kind, over, wasted, t, p, c)
}
