package spans

import "slices"

// OfLog reports whether the trace is a chain of a hop log: all its spans are
// lines, which name neither themselves nor their parents.
func (t *Trace) OfLog() bool {
	return !slices.ContainsFunc(t.Spans, func(s Span) bool { return !s.Ties.Has(LogLine) })
}

// MostNested is the most spans of which it is found what ran inside what: where all
// run at once, that takes up to the square of their number.
const MostNested = 20_000

// SetParents gives a trace without parent ids its parents, by their indices, -1 for a
// root. None may come to lie in itself.
func (t *Trace) SetParents(parents []int32) {
	copy(t.Parents, parents)
	t.Missing, t.order = t.Missing[:0], t.order[:0]
	t.listRoots()
	t.listChildren()
}

// Resolution is the largest power of ten, up to a second, that divides all times seen,
// in ns; 0 where none was seen.
type Resolution int64

// See takes a time in ns into account.
func (r *Resolution) See(ns int64) {
	if *r == 1 || *r == 1000 && ns%1000 == 0 {
		return
	}
	r.narrow(ns)
}

func (r *Resolution) narrow(ns int64) {
	if *r == 0 {
		*r = 1e9
	}
	for *r > 1 && ns%int64(*r) != 0 {
		*r /= 10
	}
}

// Merge takes the times into account that another one has seen.
func (r *Resolution) Merge(o Resolution) {
	if *r == 0 || o > 0 && o < *r {
		*r = o
	}
}

// Resolved is the resolution of starts and that of durations.
type Resolved struct{ Starts, Durations Resolution }

// Merge takes the times into account that others have seen.
func (r *Resolved) Merge(o Resolved) {
	r.Starts.Merge(o.Starts)
	r.Durations.Merge(o.Durations)
}
