package retries

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// try is an attempt that gave up or is a retry. Times are ns.
type try struct {
	start, duration int64
	hop             int32
	span            int32 // in its trace, -1 in a hop log
	of              int32 // the try that it retries, -1 where there is none
	outcome         spans.Outcome
	cutBy           spans.CutBy
	failure         spans.Failure
	timed, retry    bool
	suspect         bool // completed, for all the log says, but as long as the timeout
	passedUp        bool // failed, and holds a cut
}

func (t *try) end() int64 {
	if t.start > math.MaxInt64-t.duration {
		return math.MaxInt64
	}
	return t.start + t.duration
}

func (t *try) gaveUp() bool { return t.outcome == spans.Truncated || t.outcome == spans.Failed }

// cut makes an attempt one that was cut.
func (t *try) cut(by spans.CutBy) {
	t.outcome, t.cutBy, t.failure, t.suspect = spans.Truncated, by, spans.NotFailed, false
}

// compareTries is an order by hop, then start; tries of hop logs that compare
// equal are the same.
func compareTries(a, b try) int {
	if c := cmp.Or(cmp.Compare(a.hop, b.hop), cmp.Compare(a.start, b.start), cmp.Compare(a.duration, b.duration)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.span, b.span))
}

// rank tells apart tries of one hop at one time; a first attempt comes before its
// retry.
func (t *try) rank() int {
	r := int(t.failure)<<8 | int(t.outcome)<<4 | int(t.cutBy)
	if t.retry {
		r |= 1 << 16
	}
	if t.timed {
		r |= 1 << 17
	}
	if t.suspect {
		r |= 1 << 18
	}
	return r
}

// linkByHop finds for each retry of a chain what it retries. The tries are sorted.
func (w *Accumulator) linkByHop() {
	for i := range w.tries {
		w.tries[i].of = -1
	}
	for lo, hi := 0, 0; lo < len(w.tries); lo = hi {
		timed := true
		for hi = lo; hi < len(w.tries) && w.tries[hi].hop == w.tries[lo].hop; hi++ {
			timed = timed && w.tries[hi].timed
		}
		if timed {
			w.linkByTime(lo, hi)
		} else {
			w.linkByLength(lo, hi)
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
		if w.tries[i].gaveUp() {
			ended = append(ended, int32(i))
		}
	}
	w.ended = ended
	slices.SortFunc(ended, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.tries[a].end(), w.tries[b].end()), cmp.Compare(a, b))
	})
	waiting := ended[:0] // never longer than what was taken from ended
	for i := lo; i < hi; i++ {
		for len(ended) > 0 && minus(w.tries[ended[0]].end(), w.tries[i].start) <= grain && ended[0] < int32(i) {
			waiting, ended = append(waiting, ended[0]), ended[1:]
		}
		if last := len(waiting) - 1; last >= 0 && w.tries[i].retry {
			w.tries[i].of = waiting[last]
			waiting = waiting[:last]
		}
	}
}

// grain is the resolution of the times of some tries, in ns, 0 for fine ones.
func (w *Accumulator) grain(lo, hi int) int64 {
	grain := w.tries[lo].ran().Grain()
	for i := lo + 1; i < hi; i++ {
		grain = min(grain, w.tries[i].ran().Grain())
	}
	return grain
}

// linkByLength is for attempts without times: a hop with one first attempt that
// gave up has one call in the chain. Its retries that gave up come before the one
// that completed; how they follow each other makes no difference to any figure.
func (w *Accumulator) linkByLength(lo, hi int) {
	first := int32(-1)
	for i := lo; i < hi; i++ {
		if !w.tries[i].retry {
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
			if t := &w.tries[i]; t.retry && !t.gaveUp() == completed && w.tries[latest].gaveUp() {
				t.of, latest = latest, int32(i)
			}
		}
	}
}

// addCalls looks at the calls among the tries, whose ties are known.
func (w *Accumulator) addCalls() {
	w.next = append(w.next[:0], make([]int32, len(w.tries))...)
	for i := range w.tries {
		w.next[i] = -1
	}
	for i := range w.tries {
		if of := w.tries[i].of; of >= 0 {
			w.next[of] = int32(i)
		}
	}
	for i := range w.tries {
		switch t := &w.tries[i]; {
		case t.retry && t.of < 0:
			w.table.hops[t.hop].unmatched++
		case !t.retry:
			w.addCall(int32(i))
		}
	}
	w.addMoments()
}

// addCall follows a call from its first attempt, which gave up, to the last.
func (w *Accumulator) addCall(first int32) {
	call := w.call[:0]
	for i := first; i >= 0; i = w.next[i] {
		call = append(call, i)
	}
	w.call = call
	h := w.table.hops[w.tries[first].hop]
	h.mostAttempts = max(h.mostAttempts, uint64(len(call)))
	last := &w.tries[call[len(call)-1]]
	if len(call) > 1 {
		w.addRetried(h, call, last.outcome == spans.Completed)
	}
	if last.gaveUp() {
		w.addFailing(h, call)
	}
}

// addRetried counts a call that was retried.
func (w *Accumulator) addRetried(h *hop, call []int32, completed bool) {
	one := rescued{n: 1}
	if completed {
		one.completed = 1
	}
	if first := &w.tries[call[0]]; first.outcome == spans.Truncated {
		h.afterCut.add(one)
	} else {
		h.afterFailure[first.failure].add(one)
	}
	for k := 1; k < len(call); k++ {
		before, t := &w.tries[call[k-1]], &w.tries[call[k]]
		if before.failure == spans.ClientError {
			h.permanent++
		}
		if before.timed && t.timed {
			sample(&h.gaps[min(k, ordinals)-1]).Add(minus(t.start, before.end()))
		}
	}
}

// addFailing keeps how long a call lasted that no attempt completed, and how much
// of it its attempts ran.
func (w *Accumulator) addFailing(h *hop, call []int32) {
	ran, timed := int64(0), true
	for _, i := range call {
		ran += min(w.tries[i].duration, math.MaxInt64-ran)
		timed = timed && w.tries[i].timed
	}
	lasted := ran
	if timed {
		lasted = minus(w.tries[call[len(call)-1]].end(), w.tries[call[0]].start)
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
