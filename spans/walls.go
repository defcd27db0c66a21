package spans

import (
	"bytes"
	"math"
)

// Walls are the timeouts of a run: those that the user gave, by hop name, else those
// that records carry. They find the attempts that a timeout cut and whose records do
// not say so. Not safe for concurrent use: each worker has its own.
type Walls struct {
	given    map[string]int64 // ns
	naming   *Naming
	ofBatch  map[*Builder][]int64 // by the hops of a builder
	ofTrace  []int64              // by the hops of table
	table    *Hop                 // the first of the hops that traces share
	keepFail bool
}

// NewWalls returns the timeouts that the user gave, in ns by hop name as the Naming of
// the run has it. Without failures no failed attempt counts as cut by them.
func NewWalls(given map[string]int64, naming *Naming, failures bool) *Walls {
	return &Walls{given: given, naming: naming, ofBatch: map[*Builder][]int64{}, keepFail: !failures}
}

// CutFailed makes those failed attempts of a batch truncated that failed at their
// timeout or beyond it: whoever looks at the batch sees a cut. A server sees the
// timeout of its caller where the record carries one.
func (w *Walls) CutFailed(b *Batch) {
	if w.keepFail || len(w.given) == 0 && b.limited == 0 {
		return
	}
	walls := w.of(b)
	for i := 0; i < len(b.Outcome); i++ {
		next := bytes.IndexByte(b.Outcome[i:], uint8(Failed))
		if next < 0 {
			return
		}
		i += next
		given := walls[b.Hop[i]]
		if !AtWall(either(given, b.Timeout[i]), b.Duration[i]) {
			continue
		}
		b.Outcome[i], b.CutBy[i], b.Failure[i] = uint8(Truncated), uint8(Own), uint8(NotFailed)
		if given == 0 && b.Hops[b.Hop[i]].Kind.serves() {
			b.CutBy[i] = uint8(Caller)
		}
	}
}

// of returns the timeouts of the hops of a batch.
func (w *Walls) of(b *Batch) []int64 {
	walls := w.ofBatch[b.Lineage]
	if len(walls) < len(b.Hops) {
		for _, h := range b.Hops[len(walls):] {
			walls = append(walls, w.naming.Timeout(w.given, h.Name))
		}
		w.ofBatch[b.Lineage] = walls
	}
	return walls
}

// CutFailedSpans is CutFailed for the spans of a trace whose hops have other names than
// in their batch. What their records carry was looked at there.
func (w *Walls) CutFailedSpans(t *Trace) {
	if w.keepFail || len(w.given) == 0 {
		return
	}
	walls := w.ofHops(t.Hops)
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Outcome == Failed && AtWall(walls[s.Hop], s.Duration) {
			s.Outcome, s.CutBy, s.Failure = Truncated, Own, NotFailed
		}
	}
}

// CutUnmarked makes those spans of a trace truncated that completed for all that
// their source says, and lasted as long as their timeout. It is for an input that says
// of no attempt how it ended. That a server ran longer than its caller's timeout does
// not tell that it was cut.
func (w *Walls) CutUnmarked(t *Trace) {
	walls := w.ofHops(t.Hops)
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Outcome != Completed || s.Flags.Has(OutcomeMarked) || !s.Flags.Has(HasDuration) {
			continue
		}
		wall := walls[s.Hop]
		if wall == 0 && !t.Hops[s.Hop].Kind.serves() {
			wall = s.Timeout
		}
		if AtWall(wall, s.Duration) {
			s.Outcome, s.CutBy = Truncated, Own
		}
	}
}

func (w *Walls) ofHops(hops []Hop) []int64 {
	if len(hops) == 0 || w.table == &hops[0] && len(w.ofTrace) == len(hops) {
		return w.ofTrace
	}
	w.table, w.ofTrace = &hops[0], w.ofTrace[:0]
	for i := range hops {
		w.ofTrace = append(w.ofTrace, w.naming.TimeoutOf(w.given, hops[i]))
	}
	return w.ofTrace
}

// either returns a timeout that the user gave, else the recorded one.
func either(given, recorded int64) int64 {
	if given > 0 {
		return given
	}
	return recorded
}

// The cuts of a timeout lie from 0.1 % below it, since one may be recorded early, to
// a fiftieth or lateNS above, whichever is more.
const (
	earlyShare = 1000
	lateShare  = 50
	lateNS     = 50_000_000
)

// Reached is from where on a duration counts as cut by a timeout, both in ns.
func Reached(timeout int64) int64 { return timeout - timeout/earlyShare }

// LatestCut is up to where the cuts of a timeout are still said to cover the call
// alone, both in ns.
func LatestCut(timeout int64) int64 {
	late := max(timeout/lateShare, lateNS)
	if timeout > math.MaxInt64-late {
		return math.MaxInt64
	}
	return timeout + late
}

// AtWall reports whether an attempt that failed, in whatever way, or of which nothing
// says how it ended lasted as long as its timeout or longer, both in ns; a timeout of 0 is
// none.
func AtWall(timeout, duration int64) bool { return timeout > 0 && duration >= Reached(timeout) }
