package calls

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
)

// room is the server's spans of a callee, of one of its instances, or those that one
// instance calls. Times are ns on the callee's clock.
type room struct {
	n           uint64
	first, last int64
	work        quantile.Sum
	wasted      int64

	open    int32
	changed int64
	at      []int64 // ns in which so many were open
	ended   int64   // the latest end
	any     bool    // there was one
	ends    []int64 // the latest, ascending; of callers only
}

func roomAt(m map[int32]*room, key int32) *room {
	r := m[key]
	if r == nil {
		r = &room{}
		m[key] = r
	}
	return r
}

func (r *room) count(m *moment) {
	if end := m.end(); r.n == 0 {
		r.first, r.last = m.begin, end
	} else {
		r.first, r.last = min(r.first, m.begin), max(r.last, end)
	}
	r.n++
	r.work.Add(m.work, 1)
}

// length is from the first begin to the last end.
func (r *room) length() int64 {
	return less(r.last, r.first)
}

// chance is how likely one of the room ends within so many ns, if ends came whenever.
func (r *room) chance(width int64) float64 {
	if r.length() <= 0 {
		return 1
	}
	return 1 - math.Exp(-float64(r.n)/float64(r.length())*float64(width))
}

// change counts who begins or ends.
func (r *room) change(t int64, by int32) {
	if t > r.changed && r.open > 0 {
		for int(r.open) >= len(r.at) {
			r.at = append(r.at, 0)
		}
		r.at[r.open] = durations.Sum(r.at[r.open], less(t, r.changed))
	}
	r.changed = t
	r.open += by
}

// end notes that one has ended and given up its place.
func (r *room) end(t int64) { r.ended, r.any = t, true }

// mostEnds is how many ends of the calls of one instance are remembered: where as many lie
// in the window that is looked at, it tells nothing.
const mostEnds = 1 << 12

func (r *room) remember(t, window int64) {
	from := 0
	for from < len(r.ends) && r.ends[from] < less(t, window) {
		from++
	}
	if from > len(r.ends)/2 || len(r.ends) == mostEnds {
		r.ends = append(r.ends[:0], r.ends[max(from, len(r.ends)-mostEnds/2):]...)
	}
	r.ends = append(r.ends, t)
}

// endedIn reports whether one of those remembered ended between two moments.
func (r *room) endedIn(from, to int64) bool {
	at, _ := slices.BinarySearch(r.ends, from)
	return at < len(r.ends) && r.ends[at] <= to
}

// busy is how long any was open.
func (r *room) busy() (ns int64) {
	for _, t := range r.at {
		ns = durations.Sum(ns, t)
	}
	return ns
}

// most is the most that were open for any time.
func (r *room) most() int {
	for n := len(r.at) - 1; n > 0; n-- {
		if r.at[n] > 0 {
			return n
		}
	}
	return 0
}

// levels counts how many were open, by their number.
type levels []uint64

func (l *levels) add(n int32) {
	for int(n) >= len(*l) {
		*l = append(*l, 0)
	}
	(*l)[n]++
}

// median is the lower median of the counted numbers, 0 where there are none.
func (l levels) median() int {
	var all, seen uint64
	for _, n := range l {
		all += n
	}
	for i, n := range l {
		if seen += n; n > 0 && 2*seen >= all {
			return i
		}
	}
	return 0
}
