package orphans

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// cause is why a span runs for nobody: an orphan of such a pair at or above it. Whether
// orphans of that pair and grade are any is known only at the end.
type cause struct {
	hopPair
	grade grade
}

// most is how many causes of one span, and of one moment, are told apart.
const most = 3

// given is which orphans stand at or above a span, one a cause, and when each was given
// up.
type given struct {
	n    int
	list [most]struct {
		cause int32 // index into the trace's causes
		from  int64
	}
}

// giveUp notes that span c is an orphan from a moment on, and so is what is below it.
// Of more causes than are told apart those stay that come first.
func (a *Accumulator) giveUp(c int32, why cause, from int64) {
	g, number := given{}, a.causeOf(why)
	if a.givenAt[c] != nobody {
		g = a.given[a.givenAt[c]]
	}
	last := 0
	for i := range g.list[:g.n] {
		if g.list[i].cause == number {
			last = i
			break
		}
		if g.list[i].from >= g.list[last].from {
			last = i
		}
	}
	switch {
	case g.n > 0 && g.list[last].cause == number || g.n == most:
		if from >= g.list[last].from {
			return
		}
	default:
		last, g.n = g.n, g.n+1
	}
	g.list[last].cause, g.list[last].from = number, from
	a.givenAt[c] = int32(len(a.given))
	a.given = append(a.given, g)
}

// apartCauses is how many causes of a trace are kept apart; all others are one heap.
const apartCauses = 8

// causeOf returns the number of a cause in this trace.
func (a *Accumulator) causeOf(why cause) int32 {
	if i := slices.Index(a.causes[:min(len(a.causes), apartCauses)], why); i >= 0 {
		return int32(i)
	}
	a.causes = append(a.causes, why)
	return int32(len(a.causes) - 1)
}

// interval is when a span ran for nobody, for one of its causes.
type interval struct {
	from, to int64
	started  int64
	span     int32
	place    int32 // in TopDown: what is below comes later
	cause    int32
}

// runner is who ran at some moment and why.
type runner struct {
	hop ref
	cause
}

// moment is who ran for nobody at a time: for each cause the span that started last,
// the deepest of them, which is the one that did the work; of those the last started
// first.
type moment struct {
	n    int8
	list [most]runner
}

// unite adds up the time in which any span of an orphaned subtree ran after the
// giving-up above it, by who ran and why.
func (a *Accumulator) unite(t *spans.Trace) {
	if len(a.given) == 0 {
		return
	}
	for place, i := range t.TopDown() {
		one := &t.Spans[i]
		if a.givenAt[i] == nobody || !inTime(one) {
			continue
		}
		g := &a.given[a.givenAt[i]]
		for _, by := range g.list[:g.n] {
			if one.End() > by.from {
				a.running = append(a.running, interval{max(one.Start, by.from), one.End(), one.Start, i, int32(place), by.cause})
			}
		}
	}
	if len(a.running) == 0 {
		return
	}
	slices.SortFunc(a.running, func(x, y interval) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.place, y.place)) })
	var open [apartCauses + 1]latest
	at := a.running[0].from
	for _, next := range a.running {
		at = a.spend(t, &open, at, next.from)
		heap.Push(&open[min(next.cause, apartCauses)], next)
	}
	a.spend(t, &open, at, none)
}

// spend gives the time from at until the given moment to the open intervals and
// returns the moment reached; a gap in which none is open is nobody's.
func (a *Accumulator) spend(t *spans.Trace, open *[apartCauses + 1]latest, at, until int64) int64 {
	for at < until {
		tops, to := a.tops[:0], until
		for i := range open[:min(len(a.causes), len(open))] {
			if top, running := open[i].at(at); running {
				tops, to = append(tops, top), min(to, top.to)
			}
		}
		if len(tops) == 0 {
			break
		}
		a.tops = tops
		key := a.momentOf(t, tops)
		a.moments[key] = durations.Sum(a.moments[key], after(to, at))
		at = to
	}
	return until
}

// momentOf says who runs: of the tops those that started last.
func (a *Accumulator) momentOf(t *spans.Trace, tops []interval) (m moment) {
	slices.SortFunc(tops, startedLast)
	for _, top := range tops[:min(len(tops), most)] {
		m.list[m.n] = runner{a.hop(t, top.span), a.causes[top.cause]}
		m.n++
	}
	return m
}

// renamed returns the moment in the numbers of another table of hops.
func (m moment) renamed(to func(ref) ref) moment {
	for i := range m.list[:m.n] {
		s := &m.list[i]
		s.hop, s.parent, s.child = to(s.hop), to(s.parent), to(s.child)
	}
	return m
}

func startedLast(x, y interval) int {
	return cmp.Or(cmp.Compare(y.started, x.started), cmp.Compare(y.place, x.place))
}

// latest is a heap of intervals, the one whose span started last on top.
type latest []interval

// at drops what has ended from the top, and returns the top.
func (l *latest) at(now int64) (top interval, running bool) {
	for len(*l) > 0 {
		if top = (*l)[0]; top.to > now {
			return top, true
		}
		heap.Pop(l)
	}
	return top, false
}

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return startedLast(l[i], l[j]) < 0 }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)        { *l = append(*l, x.(interval)) }
func (l *latest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
