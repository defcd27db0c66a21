package attribution

import "github.com/tailscope/tailscope/spans"

// passUpCuts makes failed lines of a chain that hold a cut one of another hop cut
// from below: the same that counts in the table of the hops.
func (w *Watch) passUpCuts(c []line) {
	cuts := w.cutsOf(c)
	if len(cuts) == 0 || len(cuts) > spans.MostCuts {
		return
	}
	for i := range c {
		if l := &c[i]; l.outcome == spans.Failed && l.holdsAny(cuts) {
			l.outcome, l.cutBy, l.failure = spans.Truncated, spans.Below, spans.NotFailed
		}
	}
}

// cutsOf copies the lines of a chain that were cut, since others become so.
func (w *Watch) cutsOf(c []line) []line {
	cuts := w.chain.cuts[:0]
	for i := range c {
		if c[i].outcome == spans.Truncated && len(cuts) <= spans.MostCuts {
			cuts = append(cuts, c[i])
		}
	}
	w.chain.cuts = cuts
	return cuts
}

func (l *line) holdsAny(cuts []line) bool {
	for i := range cuts {
		if cuts[i].hop == l.hop {
			continue
		}
		if held, _ := l.ran().Holds(cuts[i].ran()); held {
			return true
		}
	}
	return false
}

func (l *line) ran() spans.Interval {
	return spans.Interval{Start: l.start, Duration: l.duration, Known: l.timed}
}
