package retries

import "github.com/tailscope/tailscope/spans"

// What a line's attempt came to is known only with its chain, and with all marks of
// its hop: the same rules as in buckets make it a cut. Each that changes is counted
// anew; a count may go below nothing in one accumulator, and is right once all are merged.

// judge decides the attempts of a chain: a failure that holds a cut of another hop
// was cut from below, one of no kind at its timeout by that, and so was an attempt
// as long as its timeout in a log without marks.
func (w *Accumulator) judge() {
	for i := range w.tries {
		t, was := &w.tries[i], w.tries[i]
		switch {
		case t.passedUp:
			t.cut(spans.Below)
		case t.suspect:
			t.cut(spans.Own)
		case !w.cutAtWall(t):
			continue
		}
		w.table.hops[t.hop].recount(&was, t)
	}
}

func (t *try) ran() spans.Interval {
	return spans.Interval{Start: t.start, Duration: t.duration, Known: t.timed}
}

// recount counts an attempt as cut that was counted as something else.
func (h *hop) recount(was, is *try) {
	if was.outcome == spans.Completed {
		sample(&h.gaveUp).Add(is.duration)
	}
	if is.retry {
		return
	}
	h.firstCut++
	if was.outcome == spans.Completed {
		h.firstCompleted--
	} else {
		h.firstFailed[was.failure]--
	}
}

// settle counts what is left without a chain.
func (h *hop) settle() {
	if !h.marked {
		h.firstCompleted -= h.loneSuspects
		h.firstCut += h.loneSuspects
	}
	h.loneSuspects = 0
}
