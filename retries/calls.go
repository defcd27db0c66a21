package retries

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// try is an attempt that gave up or is a retry; its hop is a number of the table.
type try struct {
	spans.Attempt
	span int32 // in its trace, -1 in a hop log
	of   int32 // the try that it retries, -1 where there is none
}

// cut makes an attempt one that was cut.
func (t *try) cut(by spans.CutBy) {
	t.Outcome, t.CutBy, t.Failure, t.MayBeCut = spans.Truncated, by, spans.NotFailed, false
}

// compareTries is an order by hop, then start; tries of hop logs that compare
// equal are the same.
func compareTries(a, b try) int {
	if c := cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Duration, b.Duration)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.span, b.span))
}

// rank tells apart tries of one hop at one time; a first attempt comes before its
// retry.
func (t *try) rank() int {
	r := int(t.Failure)<<8 | int(t.Outcome)<<4 | int(t.CutBy)
	for i, on := range [...]bool{t.Retry, t.Timed, t.MayBeCut} {
		if on {
			r |= 1 << (16 + i)
		}
	}
	return r
}

// linkByHop finds for each retry of a chain what it retries. The tries are sorted.
func (a *Accumulator) linkByHop() {
	for i := range a.tries {
		a.tries[i].of = -1
	}
	for lo, hi := 0, 0; lo < len(a.tries); lo = hi {
		timed := true
		for hi = lo; hi < len(a.tries) && a.tries[hi].Hop == a.tries[lo].Hop; hi++ {
			timed = timed && a.tries[hi].Timed
		}
		if timed {
			a.linkByTime(lo, hi)
		} else {
			a.linkByLength(lo, hi)
		}
	}
}

// linkByTime gives each retry the latest attempt that gave up, ended before it and
// has no retry yet. What has ended waits on a stack, the latest on top. Where all
// times are whole seconds or milliseconds, before it is up to one of them after.
func (w *Accumulator) linkByTime(lo, hi int) {
	grain := max(w.grain(lo, hi), spans.RetryOverlap)
	ended := w.ended[:0]
	for i := lo; i < hi; i++ {
		if w.tries[i].GaveUp() {
			ended = append(ended, int32(i))
		}
	}
	w.ended = ended
	slices.SortFunc(ended, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.tries[a].End(), w.tries[b].End()), cmp.Compare(a, b))
	})
	waiting := ended[:0] // never longer than what was taken from ended
	for i := lo; i < hi; i++ {
		for len(ended) > 0 && minus(w.tries[ended[0]].End(), w.tries[i].Start) <= grain && ended[0] < int32(i) {
			waiting, ended = append(waiting, ended[0]), ended[1:]
		}
		if last := len(waiting) - 1; last >= 0 && w.tries[i].Retry {
			w.tries[i].of = waiting[last]
			waiting = waiting[:last]
		}
	}
}

// grain is the resolution of the times of some tries, in ns, 0 for fine ones.
func (a *Accumulator) grain(lo, hi int) int64 {
	grain := a.tries[lo].Ran().Grain()
	for i := lo + 1; i < hi; i++ {
		grain = min(grain, a.tries[i].Ran().Grain())
	}
	return grain
}

// linkByLength is for attempts without times: a hop with one first attempt that
// gave up has one call in the chain. Its retries that gave up come before the one
// that completed; how they follow each other makes no difference to any figure.
func (a *Accumulator) linkByLength(lo, hi int) {
	first := int32(-1)
	for i := lo; i < hi; i++ {
		if !a.tries[i].Retry {
			if first >= 0 {
				return
			}
			first = int32(i)
		}
	}
	if first < 0 {
		return
	}
	latest := first
	for _, completed := range [...]bool{false, true} {
		for i := lo; i < hi; i++ {
			if t := &a.tries[i]; t.Retry && !t.GaveUp() == completed && a.tries[latest].GaveUp() {
				t.of, latest = latest, int32(i)
			}
		}
	}
}

// addCalls looks at the calls among the tries, whose ties are known.
func (a *Accumulator) addCalls() {
	a.next = append(a.next[:0], make([]int32, len(a.tries))...)
	for i := range a.tries {
		a.next[i] = -1
	}
	for i := range a.tries {
		if of := a.tries[i].of; of >= 0 {
			a.next[of] = int32(i)
		}
	}
	for i := range a.tries {
		switch t := &a.tries[i]; {
		case t.Retry && t.of < 0:
			a.table.hops[t.Hop].unmatched++
		case !t.Retry:
			a.addCall(int32(i))
		}
	}
	a.addMoments()
}

// addCall follows a call from its first attempt, which gave up, to the last.
func (a *Accumulator) addCall(first int32) {
	call := a.call[:0]
	for i := first; i >= 0; i = a.next[i] {
		call = append(call, i)
	}
	a.call = call
	h := a.table.hops[a.tries[first].Hop]
	h.mostAttempts = max(h.mostAttempts, uint64(len(call)))
	last := &a.tries[call[len(call)-1]]
	if len(call) > 1 {
		a.addRetried(h, call, last.Outcome == spans.Completed)
	}
	if last.GaveUp() {
		a.addFailing(h, call)
	}
}

// addRetried counts a call that was retried.
func (a *Accumulator) addRetried(h *hop, call []int32, completed bool) {
	one := Count{Of: 1}
	if completed {
		one.N = 1
	}
	if first := &a.tries[call[0]]; first.Outcome == spans.Truncated {
		h.afterCut.add(one)
	} else {
		h.failures()[first.Failure].again.add(one)
	}
	for k := 1; k < len(call); k++ {
		before, t := &a.tries[call[k-1]], &a.tries[call[k]]
		if before.Failure == spans.ClientError {
			h.permanent++
		}
		if before.Timed && t.Timed {
			sample(&h.gaps[min(k, ordinals)-1]).Add(minus(t.Start, before.End()))
		}
	}
}

// addFailing keeps how long a call lasted that no attempt completed, and how much
// of it its attempts ran.
func (a *Accumulator) addFailing(h *hop, call []int32) {
	ran, timed := int64(0), true
	for _, i := range call {
		ran = durations.Sum(ran, a.tries[i].Duration)
		timed = timed && a.tries[i].Timed
	}
	lasted := ran
	if timed {
		lasted = minus(a.tries[call[len(call)-1]].End(), a.tries[call[0]].Start)
	}
	sampleOf(&h.failing, len(call)).Add(ran)
	sample(&h.lasted).Add(lasted)
}

// minus returns a - b, at least 0 and at most the largest int64.
func minus(a, b int64) int64 {
	switch {
	case a <= b:
		return 0
	case b < 0 && a > math.MaxInt64+b:
		return math.MaxInt64
	}
	return a - b
}
