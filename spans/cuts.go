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
