package spans

// PassUpCuts makes every failed span over a truncated one truncated itself, cut
// from below: it failed because a call under it was cut. A cut does not pass a
// tie across which the parent does not wait.
func (t *Trace) PassUpCuts() {
	if !t.anyTruncated() {
		return
	}
	t.work.cut = refill(t.work.cut, len(t.Spans), false)
	order := t.TopDown()
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		s := &t.Spans[i]
		if t.work.cut[i] && s.Outcome == Failed {
			s.Outcome, s.CutBy, s.Failure = Truncated, Below, NotFailed
		}
		cut := t.work.cut[i] || s.Outcome == Truncated
		if p := t.Parents[i]; cut && p != noParent && t.HoldsUp(i) {
			t.work.cut[p] = true
		}
	}
}

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

func (k Kind) messaging() bool { return k == Producer || k == Consumer }
