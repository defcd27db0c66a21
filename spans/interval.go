package spans

// slack is how far a cut may reach beyond the attempt that holds it, besides
// what the timestamps' own resolution allows: clocks and log lines have no more
// than a millisecond.
const slack = 1e6

// MostCuts is how many cuts one request of a hop log may have. More under one id
// mean that it is no id of a request, and they say nothing of each other.
const MostCuts = 1000

// Interval is when an attempt of a hop log ran, in ns; unless the start is known,
// only its length is.
type Interval struct {
	Start, Duration int64
	Known           bool
}

// grain is the resolution of a moment by its trailing zeros: many
// loggers write whole seconds.
func grain(ns int64) int64 {
	switch {
	case ns%1e9 == 0:
		return 1e9
	case ns%1e6 == 0:
		return 1e6
	}
	return 0
}

// Grain is that of the interval's start or end, whichever was written: the other
// came from it and the duration.
func (i Interval) Grain() int64 { return max(grain(i.Start), grain(i.Start+i.Duration)) }

// Holds reports whether o ran inside i, up to what clocks and loggers leave open;
// where times are not known, whether o is at least no longer. A failed attempt that
// holds a cut one of another hop of its chain did not fail: the cut was passed up.
func (i Interval) Holds(o Interval) (held, byTimes bool) {
	if !i.Known || !o.Known {
		return o.Duration <= i.Duration, false
	}
	late := o.Start - i.Start
	if (late < 0) != (o.Start < i.Start) {
		return false, true // more than 292 years apart
	}
	most := slack + i.Grain() + o.Grain()
	return late >= -most && o.Duration-i.Duration <= most-late, true
}

// Distance returns to less from in ns, -1 where that is more than any int64 holds
// or to comes before from.
func Distance(from, to int64) int64 {
	if to < from || to-from < 0 {
		return -1
	}
	return to - from
}

// Inside tells of the attempts of one hop that ran inside a failed attempt whether a
// cut among them was passed up, so that the failed one was cut from below. It was not
// where the calls that were cut were answered in time: as many retries completed as
// first attempts were cut, and one of them after the last cut. The zero Inside has seen
// none.
type Inside struct {
	Of              Interval // the failed attempt
	cut, byTimes    bool
	firsts, answers int
	lastCut, answer int64 // ends of cuts and starts of answers, where all are known
	untimed         bool
}

// Cut takes an attempt that was cut.
func (n *Inside) Cut(o Interval, retry bool) {
	held, byTimes := n.Of.Holds(o)
	if !held {
		return
	}
	if !retry {
		n.firsts++
	}
	end := endOf(o)
	if !n.cut || end > n.lastCut {
		n.lastCut = end
	}
	n.cut, n.byTimes, n.untimed = true, n.byTimes || byTimes, n.untimed || !o.Known
}

// Answer takes a retry that completed.
func (n *Inside) Answer(o Interval) {
	if held, _ := n.Of.Holds(o); !held {
		return
	}
	if n.answers == 0 || o.Start > n.answer {
		n.answer = o.Start
	}
	n.answers, n.untimed = n.answers+1, n.untimed || !o.Known
}

// PassesUp reports whether a cut was passed up, and whether the times say so; else the
// lengths alone do.
func (n *Inside) PassesUp() (passes, byTimes bool) {
	if !n.cut {
		return false, false
	}
	answered := n.answers > 0 && n.answers >= n.firsts && (n.untimed || n.lastCut <= n.answer || Distance(n.answer, n.lastCut) <= RetryOverlap)
	return !answered, n.byTimes
}

func endOf(i Interval) int64 {
	a := Attempt{Start: i.Start, Duration: i.Duration}
	return a.End()
}
