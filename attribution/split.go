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

// side is the traces of the tail or of the body.
type side struct {
	sums
	groups []uint32 // traces by their group
	units  *unitTimes
}

func newSide(hops int) side {
	return side{sums{hops: make([]sum, hops)}, make([]uint32, 1<<16), newUnitTimes(hops)}
}

// split is the traces taken apart into tail and body.
type split struct {
	table      *table
	from, to   int64 // the tail's shortest, the body's longest
	tail, body side
	cut        []bool   // by hop
	gaps       bool     // some trace has time that belongs to no hop
	largest    []uint64 // tail traces by their largest hop
	listed     []int32  // hops of the result, in its order
	times      times    // of the trace at hand, by hop
	tops       []top    // by hop
}

func (s *split) inTail(t *traceRecord) bool { return t.total >= s.from || t.fails }
func (s *split) inBody(t *traceRecord) bool { return t.total <= s.to && !t.fails }

// half is the quantile up to which the body reaches.
var (
	half        = quantile.MustP("0.5")
	ninetyNinth = quantile.MustP("0.99")
)

// split goes through all traces once: it adds up the times of each side, and
// takes the p99 of each hop.
func (a *Accumulator) split(q Query, r *Result) *split {
	r.EndToEnd = quantile.Summarize(quantile.Union{&a.total}, append([]quantile.P{q.TailFrom, half, ninetyNinth}, q.Quantiles...))
	var from, to int64
	if v := r.EndToEnd.Quantiles; v != nil {
		from, to, r.P99, r.EndToEnd.Quantiles = v[0], v[1], v[2], v[3:]
		r.EndToEnd.Asked = q.Quantiles
	}
	parts := make([]*split, a.readers(q.Jobs))
	a.sideBySide(len(parts), func(i int) func(*traceRecord) {
		parts[i] = newSplit(&a.table, r.EndToEnd.N, from, to)
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
		table: t, from: from, to: to, tail: newSide(hops), body: newSide(hops),
		cut: make([]bool, hops), largest: make([]uint64, hops), tops: newTops(hops, traces),
	}
}

func (s *split) visit(t *traceRecord) {
	s.times.clear()
	for _, e := range t.entries {
		s.times.add(s.table.parts[e.part].hop, e.ns)
	}
	for _, hop := range s.times.used {
		s.gaps = s.gaps || hop == gap
		s.tops[hop].add(s.times.ns[hop])
	}
	// The tail may begin at a time that the body has too.
	if s.inTail(t) {
		s.addToTail(t)
	}
	if s.inBody(t) {
		s.body.add(t, &s.times)
	}
}

func (s *split) addToTail(t *traceRecord) {
	s.tail.add(t, &s.times)
	if hop := s.times.largest(s.table.compareHops); hop >= 0 {
		s.largest[hop]++
	}
	for _, e := range t.entries {
		hop := s.table.parts[e.part].hop
		s.cut[hop] = s.cut[hop] || e.cut
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
}

func (s *side) add(t *traceRecord, times *times) {
	s.n++
	s.total.add(t.total)
	for _, hop := range times.used {
		s.hops[hop].add(times.ns[hop])
	}
	s.groups[t.group]++
	s.units.add(t, times)
}

func (s *side) merge(o *side) {
	s.n += o.n
	s.total.merge(o.total)
	for i := range s.hops {
		s.hops[i].merge(o.hops[i])
	}
	for g, n := range o.groups {
		s.groups[g] += n
	}
	s.units.merge(o.units)
}
