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

func (p *period) add(o period) {
	if p.n == 0 {
		*p = o
		return
	}
	p.n, p.first, p.last = p.n+o.n, min(p.first, o.first), max(p.last, o.last)
}

// queue is how often calls of one span started together, and how often the
// callees of such neighbours overlapped.
type queue struct{ together, overlapped uint64 }

// observeTrace notes how attempts gave up, and which calls ran side by side.
func (w *Accumulator) observeTrace(t *spans.Trace) {
	for i := range t.Spans {
		s := &t.Spans[i]
		if kind := endedBy(s.Outcome, s.CutBy, s.Failure); kind != "" && s.Flags.Has(spans.HasStart) {
			w.ended(w.table.hopAt(t.Hops, s.Hop), kind, s.Start)
		}
		if children := t.Children(int32(i)); len(children) > 1 {
			w.neighbours(t, int32(i), children)
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

func (w *Accumulator) ended(hop int32, kind string, start int64) {
	key := hopKind{hop, kind}
	p := w.kinds[key]
	if p == nil {
		p = &period{}
		w.kinds[key] = p
	}
	p.add(period{1, start, start})
}

// neighbours looks at calls of one span that followed each other: the later one
// started in the first tenth of the earlier, so both waited together; did their
// callees run together, too?
func (w *Accumulator) neighbours(t *spans.Trace, parent int32, children []int32) {
	before, served := int32(-1), int32(-1)
	for _, c := range children {
		s := calleeOf(t, c)
		if s < 0 {
			continue
		}
		if before >= 0 && t.Spans[c].Start-t.Spans[before].Start <= t.Spans[before].Duration/10 {
			w.together(t, parent, served, s)
		}
		before, served = c, s
	}
}

func (w *Accumulator) together(t *spans.Trace, parent, a, b int32) {
	hop := w.table.hopAt(t.Hops, t.Spans[parent].Hop)
	q := w.queues[hop]
	if q == nil {
		q = &queue{}
		w.queues[hop] = q
	}
	q.together++
	if max(t.Spans[a].Start, t.Spans[b].Start) < min(t.Spans[a].End(), t.Spans[b].End()) {
		q.overlapped++
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

func (w *Accumulator) mergeObserved(o *Accumulator, hops []int32) {
	for key, p := range o.kinds {
		here := hopKind{hops[key.hop], key.kind}
		if w.kinds[here] == nil {
			w.kinds[here] = &period{}
		}
		w.kinds[here].add(*p)
	}
	for hop, q := range o.queues {
		here := hops[hop]
		if w.queues[here] == nil {
			w.queues[here] = &queue{}
		}
		w.queues[here].together += q.together
		w.queues[here].overlapped += q.overlapped
	}
}

// observations are what the traces show besides who owns the tail.
func (w *Accumulator) observations() []note.Warning {
	return append(w.oneConnection(), w.changedKinds()...)
}

// oneConnection names the hops whose parallel calls are served one by one.
func (w *Accumulator) oneConnection() []note.Warning {
	var list []note.Warning
	for _, hop := range w.table.index.Sorted() {
		q := w.queues[hop]
		if q == nil || q.together < leastTogether || q.overlapped > 0 {
			continue
		}
		list = append(list, note.Warning{Code: "one_connection", Text: fmt.Sprintf(
			"%s made calls that started together %d times, and never did their callees run together: one connection, or a pool of one",
			w.table.hops()[hop].String(), q.together)})
	}
	return list
}

// changedKinds names the hops whose failures were of one kind first and of
// another later.
func (w *Accumulator) changedKinds() []note.Warning {
	phases := map[int32][]phase{}
	for key, p := range w.kinds {
		if p.n >= leastOfKind {
			phases[key.hop] = append(phases[key.hop], phase{key.kind, *p})
		}
	}
	var list []note.Warning
	for _, hop := range w.table.index.Sorted() {
		if text := changes(phases[hop]); text != "" {
			list = append(list, note.Warning{Code: "failures_change_kind", Text: "the failures of " + w.table.hops()[hop].String() + " change kind: " + text})
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
