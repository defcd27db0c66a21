package orphans

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// interval is when a span of an orphaned subtree ran, after the giving-up.
type interval struct {
	from, to int64
	started  int64
	span     int32
	place    int32 // in TopDown: what is below comes later
}

// unite adds up the time in which any span of an orphaned subtree ran after the
// giving-up above it. Each moment goes to the hop of the span that started last
// of those running, the deepest of them, which is the one that did the work.
func (w *Accumulator) unite(t *spans.Trace) {
	for place, i := range t.TopDown() {
		one := &t.Spans[i]
		if w.bound[i] != none && inTime(one) && one.End() > w.bound[i] {
			w.running = append(w.running, interval{max(one.Start, w.bound[i]), one.End(), one.Start, i, int32(place)})
		}
	}
	if len(w.running) == 0 {
		return
	}
	slices.SortFunc(w.running, func(a, b interval) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.place, b.place)) })
	var open latest
	at := w.running[0].from
	for _, next := range w.running {
		at = w.spend(t, &open, at, next.from)
		heap.Push(&open, next)
	}
	w.spend(t, &open, at, none)
}

// spend gives the time from at until the given moment to the open intervals and
// returns the moment reached; a gap in which none is open is nobody's.
func (w *Accumulator) spend(t *spans.Trace, open *latest, at, until int64) int64 {
	for at < until && len(*open) > 0 {
		top := (*open)[0]
		if top.to <= at {
			heap.Pop(open)
			continue
		}
		to := min(top.to, until)
		hop := w.hop(t, top.span)
		w.counts.WastedUnion = durations.Sum(w.counts.WastedUnion, after(to, at))
		w.wasted[hop] = durations.Sum(w.wasted[hop], after(to, at))
		at = to
	}
	return until
}

// latest is a heap of intervals, the one whose span started last on top.
type latest []interval

func (l latest) Len() int { return len(l) }
func (l latest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[j].started, l[i].started), cmp.Compare(l[j].place, l[i].place)) < 0
}
func (l latest) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)   { *l = append(*l, x.(interval)) }
func (l *latest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
