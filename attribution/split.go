package attribution

import (
	"math/bits"

	"github.com/tailscope/tailscope/quantile"
)

// sums adds up the times of hops over the traces of one side, exactly.
type sums struct {
	n     uint64
	total sum
	hops  []sum
}

// sum is a 128-bit sum of ns.
type sum struct{ hi, lo uint64 }

func (s *sum) add(ns int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(ns), 0)
	s.hi += carry
}

// mean is rounded half up, 0 of nothing.
func (s sum) mean(n uint64) int64 {
	if n == 0 {
		return 0
	}
	lo, carry := bits.Add64(s.lo, n/2, 0)
	q, _ := bits.Div64(s.hi+carry, lo, n)
	return int64(q)
}

// float is the mean as a float.
func (s sum) float(n uint64) float64 {
	return (float64(s.hi)*(1<<64) + float64(s.lo)) / float64(max(1, n))
}

func (s *sums) mean(hop int) int64 { return s.hops[hop].mean(s.n) }

// split is the traces taken apart into tail and body.
type split struct {
	from, to   int64 // the tail's shortest, the body's longest
	tail, body sums
	cut, seen  []bool   // by hop
	largest    []uint64 // tail traces by their largest hop
	listed     []int32  // hops of the result, in its order
	groups     [2][]uint32
}

func (s *split) inTail(t *trip) bool { return t.total >= s.from || t.fails }
func (s *split) inBody(t *trip) bool { return t.total <= s.to && !t.fails }

// half is the quantile up to which the body reaches.
var (
	half        = quantile.MustP("0.5")
	ninetyNinth = quantile.MustP("0.99")
)

// split goes through all traces once: it adds up the times of each side, and
// takes the p99 of each hop.
func (w *Watch) split(q Query, r *Result) *split {
	r.EndToEnd = quantile.Summarize(quantile.Union{&w.total}, append([]quantile.P{q.TailFrom, half, ninetyNinth}, q.Quantiles...))
	s := &split{
		cut: make([]bool, len(w.table.hops)), seen: make([]bool, len(w.table.hops)), largest: make([]uint64, len(w.table.hops)),
		groups: [2][]uint32{make([]uint32, 1<<16), make([]uint32, 1<<16)},
	}
	s.tail.hops, s.body.hops = make([]sum, len(w.table.hops)), make([]sum, len(w.table.hops))
	if v := r.EndToEnd.Quantiles; v != nil {
		s.from, s.to, r.P99, r.EndToEnd.Quantiles = v[0], v[1], v[2], v[3:]
	}
	tops := newTops(len(w.table.hops), r.EndToEnd.N)
	w.each(func(t *trip) {
		times := w.timesOf(t)
		for _, hop := range w.hopsOn {
			s.seen[hop] = true
			tops[hop].add(times[hop])
		}
		w.place(s, t, times)
		w.clearTimes()
	})
	r.SumOfP99 = sumOfP99(tops)
	r.Tail = Side{s.tail.n, s.from, s.tail.total.mean(s.tail.n)}
	r.Body = Side{s.body.n, s.to, s.body.total.mean(s.body.n)}
	r.Excess = r.Tail.Mean - r.Body.Mean
	return s
}

// timesOf adds up the entries of a trip by hop, in room that clearTimes empties;
// hopsOn lists them.
func (w *Watch) timesOf(t *trip) []int64 {
	for len(w.perHop) < len(w.table.hops) {
		w.perHop, w.isOn = append(w.perHop, 0), append(w.isOn, false)
	}
	w.hopsOn = w.hopsOn[:0]
	for _, e := range t.entries {
		w.addTime(w.table.parts[e.part].hop, e.ns)
	}
	return w.perHop
}

func (w *Watch) addTime(hop int32, ns int64) {
	if !w.isOn[hop] {
		w.isOn[hop] = true
		w.hopsOn = append(w.hopsOn, hop)
	}
	w.perHop[hop] += ns
}

func (w *Watch) clearTimes() {
	for _, hop := range w.hopsOn {
		w.perHop[hop], w.isOn[hop] = 0, false
	}
}

// place adds a trip to the side it belongs to, or to both, where the tail begins
// at a time that the body has too.
func (w *Watch) place(s *split, t *trip, times []int64) {
	if s.inTail(t) {
		s.groups[0][t.group]++
		s.tail.add(t, w.hopsOn, times)
		if hop := w.largestOf(); hop >= 0 {
			s.largest[hop]++
		}
		for _, e := range t.entries {
			hop := w.table.parts[e.part].hop
			s.cut[hop] = s.cut[hop] || e.cut
		}
	}
	if s.inBody(t) {
		s.groups[1][t.group]++
		s.body.add(t, w.hopsOn, times)
	}
}

func (s *sums) add(t *trip, hops []int32, times []int64) {
	s.n++
	s.total.add(t.total)
	for _, hop := range hops {
		s.hops[hop].add(times[hop])
	}
}
