package attribution

import (
	"math"

	"github.com/tailscope/tailscope/spans"
)

// judgeTrace says whether a trace fails, and counts how it ended and which hop is
// to blame. Of a trace without a root only its cuts are counted.
func (w *Accumulator) judgeTrace(t *spans.Trace, root int32) (fails bool) {
	outcome := Success
	if gaveUp(t) {
		w.measureDepth(t)
		if at := w.deepest(t, func(i int32) bool { return t.Spans[i].Outcome == spans.Truncated }); at >= 0 {
			w.anyCut[w.table.hopAt(t.Hops, t.Spans[at].Hop)]++
		}
		if root >= 0 {
			outcome = w.markFailing(t, root)
		}
	}
	if root < 0 {
		return false
	}
	w.counts.outcomes[outcome.index()]++
	if outcome == Success {
		return false
	}
	at := w.deepest(t, func(i int32) bool { return w.under[i] && t.Spans[i].GaveUp() })
	w.failures[w.table.hopAt(t.Hops, t.Spans[at].Hop)]++
	return true
}

func gaveUp(t *spans.Trace) bool {
	for i := range t.Spans {
		if t.Spans[i].GaveUp() {
			return true
		}
	}
	return false
}

// measureDepth notes how far below its root each span lies.
func (w *Accumulator) measureDepth(t *spans.Trace) {
	w.depth = append(w.depth[:0], make([]int32, len(t.Spans))...)
	for _, i := range t.TopDown() {
		if p := t.Parents[i]; p >= 0 {
			w.depth[i] = w.depth[p] + 1
		}
	}
}

// deepest returns the deepest span of a kind; of equally deep ones the one that
// ended last, then the first in the order of the trace. It is -1 if there is none.
func (w *Accumulator) deepest(t *spans.Trace, of func(int32) bool) int32 {
	best := int32(-1)
	for i := range int32(len(t.Spans)) {
		if !of(i) {
			continue
		}
		if best < 0 || w.depth[i] > w.depth[best] || w.depth[i] == w.depth[best] && t.Spans[i].End() > t.Spans[best].End() {
			best = i
		}
	}
	return best
}

// markFailing says how a trace ended, and marks what lies at or below the calls
// for which it fails: the root where that gave up, else the last attempts of the
// calls that it made itself and waited for.
func (w *Accumulator) markFailing(t *spans.Trace, root int32) Outcome {
	w.under = append(w.under[:0], make([]bool, len(t.Spans))...)
	outcome := Success
	switch t.Spans[root].Outcome {
	case spans.Truncated:
		outcome, w.under[root] = Cut, true
	case spans.Failed:
		outcome, w.under[root] = Failed, true
	default:
		outcome = w.markPartial(t, root)
	}
	if outcome != Success {
		w.markBelow(t)
	}
	return outcome
}

func (w *Accumulator) markPartial(t *spans.Trace, root int32) Outcome {
	w.rescues.begin(t)
	w.rescues.among(t, root)
	outcome := Success
	for _, c := range t.Children(root) {
		if t.Spans[c].GaveUp() && t.HoldsUp(c) && !w.rescues.again(c) {
			w.under[c] = true
			outcome = Partial
		}
	}
	return outcome
}

// markBelow marks what may have made the marked calls fail: all below them but
// what nobody waited for and what was tried again with success, before a call
// above it gave up.
func (w *Accumulator) markBelow(t *spans.Trace) {
	w.rescues.begin(t)
	for i := range t.Spans {
		w.rescues.among(t, int32(i))
	}
	w.until = append(w.until[:0], make([]int64, len(t.Spans))...)
	for _, i := range t.TopDown() {
		p, until := t.Parents[i], int64(math.MaxInt64)
		if p >= 0 {
			until = w.until[p]
		}
		if p >= 0 && w.under[p] && t.HoldsUp(i) && !w.rescues.rescued(t, i, until) {
			w.under[i] = true
		}
		if s := &t.Spans[i]; w.under[i] && s.GaveUp() && inTime(s) {
			until = min(until, s.End())
		}
		w.until[i] = until
	}
}
