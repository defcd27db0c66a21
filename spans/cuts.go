package spans

import "slices"

// PassUpCuts makes every failed span over a truncated one truncated itself, cut
// from below: it failed because a call under it was cut. A cut does not pass a
// tie across which the parent does not wait, nor where a retry completed the call
// while the parent ran. It comes after MarkRetries.
func (t *Trace) PassUpCuts() {
	if !t.anyTruncated() {
		return
	}
	t.work.cut = refill(t.work.cut, len(t.Spans), false)
	t.findRescued()
	order := t.TopDown()
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		s := &t.Spans[i]
		if t.work.cut[i] && s.Outcome == Failed {
			s.Outcome, s.CutBy, s.Failure = Truncated, Below, NotFailed
		}
		cut := t.work.cut[i] || s.Outcome == Truncated
		if p := t.Parents[i]; cut && p != noParent && !t.work.rescued[i] && t.HoldsUp(i) {
			t.work.cut[p] = true
		}
	}
}

// findRescued notes the attempts whose call a later one completed before its caller had
// ended. What is retried stands before its retry.
func (t *Trace) findRescued() {
	t.work.rescued = refill(t.work.rescued, len(t.Spans), false)
	for i := len(t.RetryOf) - 1; i >= 0; i-- {
		s := &t.Spans[i]
		if !s.Retry() || !t.work.rescued[i] && (s.Outcome != Completed || !t.inTimeFor(int32(i))) {
			continue
		}
		if of := t.RetryOf[i]; of >= 0 {
			t.work.rescued[of] = true
		} else if !t.work.rescued[i] {
			t.rescueEarlier(int32(i))
		}
	}
}

// inTimeFor reports whether a span ended while its parent ran, as far as clocks are
// right.
func (t *Trace) inTimeFor(i int32) bool {
	p := t.Parents[i]
	if p == noParent || !t.Spans[p].inOrder() || !t.Spans[i].inOrder() {
		return true
	}
	late := Distance(t.Spans[p].End(), t.Spans[i].End())
	return t.Spans[i].End() <= t.Spans[p].End() || late >= 0 && late <= RetryOverlap
}

// mostEarlier is among how many siblings before a retry the attempt is looked for that
// it completed, where it does not tell.
const mostEarlier = 1000

// rescueEarlier notes the siblings of a hop that a completed retry may retry, up to the
// last first attempt.
func (t *Trace) rescueEarlier(i int32) {
	p := t.Parents[i]
	if p == noParent || !t.Spans[i].inOrder() {
		return
	}
	siblings := t.Children(p)
	at, _ := slices.BinarySearch(siblings, i)
	for k := at - 1; k >= max(0, at-mostEarlier); k-- {
		s := &t.Spans[siblings[k]]
		if s.Hop != t.Spans[i].Hop || !s.inOrder() || !s.GaveUp() || !s.MayBeRetriedBy(&t.Spans[i]) {
			continue
		}
		t.work.rescued[siblings[k]] = true
		if !s.Retry() {
			return
		}
	}
}

// CutBelow returns the call for which span i was cut from below, itself not cut from below:
// the first that may be, going down the calls that were cut and held it up, of several the
// last to start; -1 where there is none. It comes after PassUpCuts.
func (t *Trace) CutBelow(i int32) int32 {
	for t.Spans[i].CutBy == Below {
		next := int32(-1)
		for _, c := range t.Children(i) {
			s := &t.Spans[c]
			if s.Outcome == Truncated && s.Timed() && t.HoldsUp(c) && !t.rescued(c) && (next < 0 || s.Start > t.Spans[next].Start) {
				next = c
			}
		}
		if next < 0 {
			return -1
		}
		i = next
	}
	return i
}

// rescued reports whether PassUpCuts found that a retry completed the call of an attempt.
func (t *Trace) rescued(i int32) bool { return int(i) < len(t.work.rescued) && t.work.rescued[i] }

func (t *Trace) anyTruncated() bool {
	for i := range t.Spans {
		if t.Spans[i].Outcome == Truncated {
			return true
		}
	}
	return false
}

// Waits reports whether the parent of span i surely waits for it, as must be sure
// where work is called an orphan. It does not where the tie says so, or where
// either of them is a message's producer or consumer.
func (t *Trace) Waits(i int32) bool {
	if t.Spans[i].Ties.Has(Async) || t.kind(i).messaging() {
		return false
	}
	p := t.Parents[i]
	return p == noParent || !t.kind(p).messaging()
}

// HoldsUp reports whether the parent of span i goes on only when i has ended. It
// does not wait where the tie says so, nor for a consumer, which works on a message
// that its parent has long forgotten. What a producer or a consumer calls itself
// holds it up like any other caller.
func (t *Trace) HoldsUp(i int32) bool {
	return !t.Spans[i].Ties.Has(Async) && t.kind(i) != Consumer
}

// serves reports whether spans of the kind see the deadlines of those who call them.
func (k Kind) serves() bool { return k == Server || k == Consumer }

func (k Kind) messaging() bool { return k == Producer || k == Consumer }
