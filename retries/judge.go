package retries

import (
	"github.com/tailscope/tailscope/spans"
)

// What a line's attempt came to is known only with its chain, and with all marks of
// its hop: the same rules as in buckets make it a cut. Each that changes is counted
// anew; a count may go below nothing in one watch, and is right once all are merged.

// shareMarks tells every watch which hops have marks in any.
func shareMarks(watches []*Watch) {
	marked := map[spans.Hop]bool{}
	for _, w := range watches {
		for _, h := range w.table.hops {
			marked[h.Hop] = marked[h.Hop] || h.marked
		}
	}
	for _, w := range watches {
		for _, h := range w.table.hops {
			h.marked = marked[h.Hop]
		}
	}
}

// judge decides the attempts of a chain: a failure that holds a cut of another hop
// was cut from below, one of no kind at its timeout by that, and so was an attempt
// as long as its timeout in a log without marks.
func (w *Watch) judge(lines []line) {
	cuts := w.cuts[:0]
	for i := range lines {
		if lines[i].outcome == spans.Truncated {
			cuts = append(cuts, lines[i].try)
		}
	}
	w.cuts = cuts
	for i := range lines {
		t, was := &lines[i].try, lines[i].try
		switch {
		case t.outcome == spans.Failed && holdsAny(t, cuts):
			t.cut(spans.Below)
		case t.suspect && !w.table.hops[t.hop].marked:
			t.cut(spans.Own)
		case !w.cutAtWall(t):
			continue
		}
		w.table.hops[t.hop].recount(&was, t)
	}
}

// holdsAny reports whether a failure holds a cut of another hop.
func holdsAny(t *try, cuts []try) bool {
	if len(cuts) > spans.MostCuts {
		return false
	}
	for i := range cuts {
		if cuts[i].hop == t.hop {
			continue
		}
		if held, _ := t.ran().Holds(cuts[i].ran()); held {
			return true
		}
	}
	return false
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
