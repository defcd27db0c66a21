package retries

import "github.com/tailscope/tailscope/spans"

// What a line's attempt came to is known only with its chain, and with all marks of
// its hop: the same rules as in buckets make it a cut. Each that changes is counted
// anew; a count may go below nothing in one accumulator, and is right once all are merged.

// judge decides the attempts of a chain: a failure that holds a cut of another hop
// was cut from below, and an attempt as long as its timeout in a log without marks by
// that.
func (a *Accumulator) judge() {
	for i := range a.tries {
		t, was := &a.tries[i], a.tries[i].Attempt
		switch {
		case t.PassedUp():
			t.cut(spans.Below)
		case t.MayBeCut:
			was.Outcome = spans.Completed // as far as its line says
			t.cut(spans.Own)
		default:
			continue
		}
		a.table.hops[t.Hop].recount(&was)
	}
}

// recount counts an attempt as cut that was counted as completed or failed.
func (h *hop) recount(was *spans.Attempt) {
	if was.Outcome == spans.Completed {
		sample(&h.gaveUp).Add(was.Duration)
	}
	switch {
	case was.Retry:
		return
	case was.Outcome == spans.Completed:
		h.firstCompleted--
	default:
		h.failures()[was.Failure].first--
	}
	h.firstCut++
}

// settle counts what is left without a chain.
func (h *hop) settle() {
	if !h.marked {
		h.firstCompleted -= h.loneSuspects
		h.firstCut += h.loneSuspects
	}
	h.loneSuspects = 0
}
