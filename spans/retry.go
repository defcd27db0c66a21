package spans

import (
	"cmp"
	"slices"
)

// RetryOptions switches rules of MarkRetries off.
type RetryOptions struct {
	NoMarks    bool // a span's own mark does not make it a retry
	NoSiblings bool // an earlier sibling that gave up does not make it one
}

// RetryOverlap is how long an attempt may run on when one that is marked as a retry
// starts, in ns, so as to be what it retries.
const RetryOverlap = 1e6

// mostOverlapping is among how many attempts that end in the overlap the one that
// is retried is looked for.
const mostOverlapping = 100

// MarkRetries decides which spans are retries, and of what. A span's own mark
// counts. Else a span is a retry of the latest sibling (same parent, same hop)
// that ended cut or failed before it started, unless another span is that one's
// retry already; siblings that overlap are parallel calls. What is marked may start
// up to RetryOverlap before the attempt that it retries has ended. A server or consumer
// span is a retry only by its own mark: that its caller tries again does not
// make it one. Spans that do not lie in time take no part. Call it once.
func (t *Trace) MarkRetries(o RetryOptions) {
	t.RetryOf = refill(t.RetryOf, len(t.Spans), -1)
	gaveUp := false
	for i := range t.Spans {
		if o.NoMarks {
			t.Spans[i].Flags &^= RetryByMark
		}
		gaveUp = gaveUp || t.Spans[i].GaveUp()
	}
	if !gaveUp {
		return
	}
	for i := range t.Spans {
		t.markAmong(t.Children(int32(i)), o)
	}
	t.markAmongMissing(o)
}

// markAmongMissing treats spans that name the same missing parent as siblings,
// which they are.
func (t *Trace) markAmongMissing(o RetryOptions) {
	if len(t.Missing) < 2 {
		return
	}
	all := slices.Clone(t.Missing)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(t.Spans[a].Parent, t.Spans[b].Parent) })
	t.runs(all, func(a, b *Span) bool { return a.Parent == b.Parent }, func(siblings []int32) { t.markAmong(siblings, o) })
}

// runs calls visit with each longest run of spans that are the same.
func (t *Trace) runs(list []int32, same func(a, b *Span) bool, visit func([]int32)) {
	for lo, hi := 0, 0; lo < len(list); lo = hi {
		for hi = lo + 1; hi < len(list) && same(&t.Spans[list[lo]], &t.Spans[list[hi]]); hi++ {
		}
		visit(list[lo:hi])
	}
}

// markAmong looks at the siblings of each hop in the order of their starts.
func (t *Trace) markAmong(siblings []int32, o RetryOptions) {
	if len(siblings) < 2 {
		return
	}
	list := append(t.work.siblings[:0], siblings...)
	t.work.siblings = list
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Spans[a].Hop, t.Spans[b].Hop), cmp.Compare(a, b))
	})
	sameHop := func(a, b *Span) bool { return a.Hop == b.Hop }
	t.runs(list, sameHop, func(run []int32) { t.markAttempts(run, o) })
}

// markAttempts goes through the attempts by start, those that gave up beside
// them by end. What has ended when an attempt starts waits on a stack for its
// retry: the latest is on top, since none that ends earlier comes later.
func (t *Trace) markAttempts(run []int32, o RetryOptions) {
	if len(run) < 2 {
		return
	}
	ended := t.candidates(run)
	waiting := ended[:0] // never longer than what was taken from ended
	for _, i := range run {
		s := &t.Spans[i]
		if !s.inOrder() {
			continue
		}
		for len(ended) > 0 && t.Spans[ended[0]].End() <= s.Start && ended[0] < i {
			waiting, ended = append(waiting, ended[0]), ended[1:]
		}
		if k := t.overlapped(i, ended); k >= 0 {
			t.RetryOf[i] = ended[k]
			copy(ended[1:], ended[:k])
			ended = ended[1:]
		} else if len(waiting) > 0 && t.mayRetry(i, o) {
			t.RetryOf[i] = waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			if !s.Flags.Has(RetryByMark) {
				s.Flags |= RetryBySibling
			}
		}
	}
}

// overlapped returns the place of the last attempt to end that one marked as a
// retry overlaps at its start, -1 if there is none.
func (t *Trace) overlapped(i int32, ended []int32) int {
	best := -1
	if s := &t.Spans[i]; s.Flags.Has(RetryByMark) {
		for k := 0; k < min(len(ended), mostOverlapping) && t.Spans[ended[k]].MayBeRetriedBy(s); k++ {
			if ended[k] < i {
				best = k
			}
		}
	}
	return best
}

// MayBeRetriedBy reports whether an attempt had ended when one that is marked as a
// retry started, as far as clocks are right.
func (s *Span) MayBeRetriedBy(next *Span) bool {
	return s.End() <= next.Start || uint64(s.End())-uint64(next.Start) <= RetryOverlap
}

// candidates returns the attempts that can be retried, by end.
func (t *Trace) candidates(run []int32) []int32 {
	list := t.work.candidates[:0]
	for _, i := range run {
		if s := &t.Spans[i]; s.inOrder() && s.GaveUp() {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Spans[a].End(), t.Spans[b].End()), cmp.Compare(a, b))
	})
	t.work.candidates = list
	return list
}

// inOrder reports whether the span lies in time and does not end before it
// starts.
func (s *Span) inOrder() bool { return s.Timed() && s.Duration >= 0 }

func (t *Trace) mayRetry(i int32, o RetryOptions) bool {
	if t.Spans[i].Flags.Has(RetryByMark) {
		return true
	}
	k := t.kind(i)
	return !o.NoSiblings && k != Server && k != Consumer
}
