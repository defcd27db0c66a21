package spans

import (
	"cmp"
	"slices"
)

// OfLog reports whether the trace is a chain of a hop log: all its spans are
// lines, which name neither themselves nor their parents.
func (t *Trace) OfLog() bool {
	return !slices.ContainsFunc(t.Spans, func(s Span) bool { return !s.Ties.Has(LogLine) })
}

// MostNested is the most spans whose nesting is inferred: it takes up to the
// square of their number.
const MostNested = 20_000

// InferNesting gives a trace without parent ids its parents from times: a span
// lies under the span of another hop in which it starts, the innermost one. A
// hop is not taken to call itself through others: what starts while a callee of
// its own hop still runs is a retry of the caller, not a call of the callee. What
// starts in none is a root, and so is a span without a time.
func (t *Trace) InferNesting() {
	byStart := make([]int32, 0, len(t.Spans))
	for i := range t.Spans {
		t.Parents[i] = noParent
		if t.Spans[i].Timed() {
			byStart = append(byStart, int32(i))
		}
	}
	// Of two that start together the longer one is outside.
	slices.SortStableFunc(byStart, func(a, b int32) int {
		x, y := &t.Spans[a], &t.Spans[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Duration, x.Duration))
	})
	var running []int32
	for _, i := range byStart {
		running = slices.DeleteFunc(running, func(r int32) bool { return t.Spans[r].End() <= t.Spans[i].Start })
		for k := len(running) - 1; k >= 0; k-- {
			if !t.within(running[k], t.Spans[i].Hop) {
				t.Parents[i] = running[k]
				break
			}
		}
		running = append(running, i)
	}
	t.Missing, t.order = t.Missing[:0], t.order[:0]
	t.listRoots()
	t.listChildren()
}

// within reports whether span i or one above it is of the hop.
func (t *Trace) within(i, hop int32) bool {
	for ; i >= 0; i = t.Parents[i] {
		if t.Spans[i].Hop == hop {
			return true
		}
	}
	return false
}
