package attribution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// hopKind is a hop and the way in which its attempts ended.
type hopKind struct {
	hop  int32
	kind string
}

// period is when attempts of a hop ended in one way: how many, and the first and
// the last start, in ns since the Unix epoch.
type period struct {
	n           uint64
	first, last int64
}

// addPeriod adds to when attempts of a hop ended in one way.
func (a *Accumulator) addPeriod(key hopKind, p period) {
	if q, known := a.kinds[key]; known {
		p = period{p.n + q.n, min(p.first, q.first), max(p.last, q.last)}
	}
	a.kinds[key] = p
}

// queue is how often calls of one span started together, and how often the
// callees of such neighbours overlapped.
type queue struct{ together, overlapped uint64 }

// observeTrace notes how attempts gave up, and which calls ran side by side.
func (a *Accumulator) observeTrace(t *spans.Trace) {
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.GaveUp() && s.Flags.Has(spans.HasStart) {
			a.noteEnd(a.path.nodes[i].hop, s.Outcome, s.CutBy, s.Failure, s.Start)
		}
		if children := t.Children(int32(i)); len(children) > 1 {
			a.hop(a.path.nodes[i].hop).queue.look(t, children)
		}
	}
}

// endedBy is the kind of a failure, a timeout among them; "" for an attempt that
// did not give up, or only because one below it did.
func endedBy(o spans.Outcome, by spans.CutBy, f spans.Failure) string {
	switch {
	case o == spans.Failed:
		return f.String()
	case o != spans.Truncated || by == spans.Below:
		return ""
	case by == spans.Caller:
		return "cancelled"
	}
	return "timeout"
}

// noteEnd notes how an attempt that gave up ended.
func (a *Accumulator) noteEnd(hop int32, o spans.Outcome, by spans.CutBy, f spans.Failure, start int64) {
	if kind := endedBy(o, by, f); kind != "" {
		a.addPeriod(hopKind{hop, kind}, period{1, start, start})
	}
}

// look compares calls of one span that followed each other: the later one
// started in the first tenth of the earlier, so both waited together; did their
// callees run together, too?
func (q *queue) look(t *spans.Trace, children []int32) {
	before, served := int32(-1), int32(-1)
	for _, c := range children {
		s := calleeOf(t, c)
		if s < 0 {
			continue
		}
		if before >= 0 && t.Spans[c].Start-t.Spans[before].Start <= t.Spans[before].Duration/10 {
			q.together++
			if max(t.Spans[served].Start, t.Spans[s].Start) < min(t.Spans[served].End(), t.Spans[s].End()) {
				q.overlapped++
			}
		}
		before, served = c, s
	}
}

// calleeOf returns the longest child of a call that its caller waited for, -1 if
// there is none.
func calleeOf(t *spans.Trace, call int32) int32 {
	best := int32(-1)
	if !inTime(&t.Spans[call]) || !t.HoldsUp(call) {
		return best
	}
	for _, c := range t.Children(call) {
		if s := &t.Spans[c]; inTime(s) && t.HoldsUp(c) && (best < 0 || s.Duration > t.Spans[best].Duration) {
			best = c
		}
	}
	return best
}

// observations are what the traces show besides who owns the tail.
func (a *Accumulator) observations() []note.Warning {
	return append(a.oneConnection(), a.changedKinds()...)
}

// oneConnection names the hops whose parallel calls are served one by one.
func (a *Accumulator) oneConnection() []note.Warning {
	var list []note.Warning
	for _, hop := range a.table.index.Sorted() {
		q := a.hop(hop).queue
		if q.together < leastTogether || q.overlapped > 0 {
			continue
		}
		list = append(list, note.Warning{Code: "one_connection", Text: fmt.Sprintf(
			"%s made calls that started together %d times, and never did their callees run together: one connection, or a pool of one",
			a.table.hops()[hop].String(), q.together)})
	}
	return list
}

// changedKinds names the hops whose failures were of one kind first and of
// another later.
func (a *Accumulator) changedKinds() []note.Warning {
	phases := map[int32][]phase{}
	for key, p := range a.kinds {
		if p.n >= leastOfKind {
			phases[key.hop] = append(phases[key.hop], phase{key.kind, p})
		}
	}
	var list []note.Warning
	for _, hop := range a.table.index.Sorted() {
		if text := changes(phases[hop]); text != "" {
			list = append(list, note.Warning{Code: "failures_change_kind", Text: "the failures of " + a.table.hops()[hop].String() + " change kind: " + text})
		}
	}
	return list
}

type phase struct {
	kind string
	period
}

// changes describes phases that follow each other; "" where there are not two,
// or where any two overlap.
func changes(list []phase) string {
	slices.SortFunc(list, func(a, b phase) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.kind, b.kind)) })
	var parts []string
	for i, p := range list {
		if i > 0 && p.first <= list[i-1].last {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%d %s from %s to %s", p.n, p.kind, clock(p.first), clock(p.last)))
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, ", then ")
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
