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

func (s *sum) merge(o sum) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + carry
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
	cut        []bool   // by hop
	gaps       bool     // some trace has time that belongs to no hop
	largest    []uint64 // tail traces by their largest hop
	listed     []int32  // hops of the result, in its order
	groups     [2][]uint32
	times      hopTimes      // of the trip at hand
	tops       []top         // by hop
	units      [2]*unitTimes // the sides
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
func (w *Accumulator) split(q Query, r *Result) *split {
	r.EndToEnd = quantile.Summarize(quantile.Union{&w.total}, append([]quantile.P{q.TailFrom, half, ninetyNinth}, q.Quantiles...))
	var from, to int64
	if v := r.EndToEnd.Quantiles; v != nil {
		from, to, r.P99, r.EndToEnd.Quantiles = v[0], v[1], v[2], v[3:]
		r.EndToEnd.Asked = q.Quantiles
	}
	parts := make([]*split, w.readers(q.Jobs))
	w.sideBySide(len(parts), func(i int) func(*trip) {
		parts[i] = newSplit(&w.table, r.EndToEnd.N, from, to)
		return parts[i].visit
	})
	s := parts[0]
	for _, o := range parts[1:] {
		s.merge(o)
	}
	r.SumOfP99 = sumOfP99(s.tops)
	r.Tail = Side{s.tail.n, s.from, s.tail.total.mean(s.tail.n)}
	r.Body = Side{s.body.n, s.to, s.body.total.mean(s.body.n)}
	r.Excess = r.Tail.Mean - r.Body.Mean
	return s
}

func newSplit(t *table, traces uint64, from, to int64) *split {
	hops := len(t.hops())
	return &split{
		from: from, to: to, tail: sums{hops: make([]sum, hops)}, body: sums{hops: make([]sum, hops)},
		cut: make([]bool, hops), largest: make([]uint64, hops),
		groups: [2][]uint32{make([]uint32, 1<<16), make([]uint32, 1<<16)},
		times:  hopTimes{table: t}, tops: newTops(hops, traces), units: [2]*unitTimes{newUnitTimes(hops), newUnitTimes(hops)},
	}
}

func (s *split) visit(t *trip) {
	s.times.of(t)
	for _, hop := range s.times.hops {
		s.gaps = s.gaps || hop == gap
		s.tops[hop].add(s.times.perHop[hop])
	}
	s.place(t)
	s.times.clear()
}

// place adds a trip to the side it belongs to, or to both, where the tail begins
// at a time that the body has too.
func (s *split) place(t *trip) {
	if s.inTail(t) {
		s.groups[0][t.group]++
		s.tail.add(t, &s.times)
		s.units[0].add(t, &s.times)
		if hop := s.times.largest(); hop >= 0 {
			s.largest[hop]++
		}
		for _, e := range t.entries {
			hop := s.times.table.parts[e.part].hop
			s.cut[hop] = s.cut[hop] || e.cut
		}
	}
	if s.inBody(t) {
		s.groups[1][t.group]++
		s.body.add(t, &s.times)
		s.units[1].add(t, &s.times)
	}
}

// merge adds what another goroutine found in other traces.
func (s *split) merge(o *split) {
	s.tail.merge(&o.tail)
	s.body.merge(&o.body)
	s.gaps = s.gaps || o.gaps
	for i := range s.cut {
		s.cut[i] = s.cut[i] || o.cut[i]
		s.largest[i] += o.largest[i]
		s.tops[i].merge(&o.tops[i])
	}
	for side := range s.groups {
		for g, n := range o.groups[side] {
			s.groups[side][g] += n
		}
		s.units[side].merge(o.units[side])
	}
}

func (s *sums) add(t *trip, times *hopTimes) {
	s.n++
	s.total.add(t.total)
	for _, hop := range times.hops {
		s.hops[hop].add(times.perHop[hop])
	}
}

func (s *sums) merge(o *sums) {
	s.n += o.n
	s.total.merge(o.total)
	for i := range s.hops {
		s.hops[i].merge(o.hops[i])
	}
}
