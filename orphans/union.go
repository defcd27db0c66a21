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
func (a *Accumulator) unite(t *spans.Trace) {
	for place, i := range t.TopDown() {
		one := &t.Spans[i]
		if a.bound[i] != none && inTime(one) && one.End() > a.bound[i] {
			a.running = append(a.running, interval{max(one.Start, a.bound[i]), one.End(), one.Start, i, int32(place)})
		}
	}
	if len(a.running) == 0 {
		return
	}
	slices.SortFunc(a.running, func(x, y interval) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.place, y.place)) })
	var open latest
	at := a.running[0].from
	for _, next := range a.running {
		at = a.spend(t, &open, at, next.from)
		heap.Push(&open, next)
	}
	a.spend(t, &open, at, none)
}

// spend gives the time from at until the given moment to the open intervals and
// returns the moment reached; a gap in which none is open is nobody's.
func (a *Accumulator) spend(t *spans.Trace, open *latest, at, until int64) int64 {
	for at < until && len(*open) > 0 {
		top := (*open)[0]
		if top.to <= at {
			heap.Pop(open)
			continue
		}
		to := min(top.to, until)
		hop := a.hop(t, top.span)
		a.counts.WastedUnion = durations.Sum(a.counts.WastedUnion, after(to, at))
		a.wasted[hop] = durations.Sum(a.wasted[hop], after(to, at))
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
