package quantile

import "math"

// What an attempt would have taken, had nothing ended it, lies between two ends. Both
// are its duration where it completed; the upper one is infinite where it was cut.
//
// A cut whose timeout is not known is logged at its timeout or at most 30 % later. It
// shows that the attempt took longer than the slowest one that completed below it; but
// where a completed attempt lasted as long as the cut or longer, several timeouts may
// be mixed, and then it shows no more than a timeout 30 % below what was logged.

// EarliestTimeout returns the shortest timeout whose cuts may be logged at d, both in
// ns: d/1.3, rounded down.
func EarliestTimeout(d int64) int64 { return d/13*10 + d%13*10/13 }

// lowerEnds returns the lower ends of the cuts whose timeout is not known, and of what
// may be one. They ascend
// with what is logged, so one walk upwards finds them; beyond the slowest completed
// value it ends, since all others are alike there.
func (o Observed) lowerEnds() *Sample {
	cut := o.unplaced()
	unknown := cut.N()
	if unknown == 0 {
		return nil
	}
	ends, slowest := new(Sample), int64(-1)
	if done := o.Completed.N(); done > 0 {
		slowest = o.Completed.At(done)[0]
	}
	cuts, done := cut.Cursor(), o.Completed.Cursor()
	for d, n, ok := cuts.Next(); ok && d <= slowest; d, n, ok = cuts.Next() {
		done.UpTo(d - 1)
		ends.AddN(min(done.Largest(), EarliestTimeout(d)), n)
		unknown -= n
	}
	ends.AddN(max(slowest, 0), unknown)
	return ends
}

// LeastCut returns the smallest lower end of the cuts whose timeout is not known, 0 where
// there are none.
func (o Observed) LeastCut() int64 {
	ends := Union{o.lowerEnds()}
	if ends.N() == 0 {
		return 0
	}
	return ends.At(1)[0]
}

// widen puts the limits a step of the clock farther out, where that is a thousandth of
// them or more: written digits do not tell which way a clock rounds.
func (t *Tail) widen(step int64) {
	if t.Lower != nil && coarse(step, *t.Lower) {
		t.Lower = new(max(0, *t.Lower-step))
	}
	if t.Upper != nil && coarse(step, *t.Upper) {
		t.Upper = new(*t.Upper + min(step, math.MaxInt64-*t.Upper))
	}
}

// coarse reports whether a step of the clock is at least a thousandth of a limit. That of
// a nanosecond is no step.
func coarse(step, limit int64) bool {
	return step > 1 && (step > limit/1000 || step == limit/1000 && limit%1000 == 0)
}

// fewestForClock is how many completed values tell the step of a clock.
const fewestForClock = 20

// mostStep is the coarsest clock that is looked for, of whole seconds.
const mostStep = 1e9

// ClockStep returns the step, in ns, of the clock that durations were read from: the
// larger of the finest digit that was written and the largest power of ten up to 1 s that
// divides every completed value.
func ClockStep(completed Union, written int64) int64 {
	if n := completed.N(); n < fewestForClock || completed.At(n)[0] == 0 {
		return written
	}
	step := int64(mostStep)
	for v := range completed.All() {
		for v%step != 0 {
			step /= 10
		}
		if step <= written {
			return written
		}
	}
	return step
}
