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
	groups groups
	units  *unitTimes
}

// groups counts traces by their group.
type groups []uint32

func newGroups() groups { return make(groups, 1<<16) }

func (g groups) merge(o groups) {
	for i, n := range o {
		g[i] += n
	}
}

func newSide(hops int) side {
	return side{sums{hops: make([]sum, hops)}, newGroups(), newUnitTimes(hops)}
}

// split is the traces taken apart into tail and body.
type split struct {
	table      *table
	from, to   int64 // the tail's shortest, the body's longest
	tail, body side
	all, fast  groups // all traces, and those up to the body's longest
	slow       groups // those from the tail's shortest on
	near       zones
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
	parts, near := make([]*split, a.readers(q.Jobs)), a.zonesOf(q.TailFrom, r.EndToEnd.N)
	a.sideBySide(len(parts), func(i int) func(*traceRecord) {
		parts[i] = newSplit(a.table, r.EndToEnd.N, from, to, near.another())
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

func newSplit(t *table, traces uint64, from, to int64, near zones) *split {
	hops := len(t.hops())
	return &split{
		table: t, from: from, to: to, tail: newSide(hops), body: newSide(hops),
		all: newGroups(), fast: newGroups(), slow: newGroups(), near: near,
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
	s.count(t)
}

// count notes on which side of where tail and body end a trace lies, and what lies there.
func (s *split) count(t *traceRecord) {
	s.all[t.group]++
	if t.total >= s.from {
		s.slow[t.group]++
	}
	if t.total <= s.to {
		s.fast[t.group]++
	}
	s.near.add(t, &s.times)
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
	s.all.merge(o.all)
	s.slow.merge(o.slow)
	s.fast.merge(o.fast)
	s.near.merge(&o.near)
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
	s.groups.merge(o.groups)
	s.units.merge(o.units)
}

// times adds up times in ns by the numbers of hops, parts or instances, in the same
// room for each trace.
type times struct {
	ns   []int64
	on   []bool  // it is in used
	used []int32 // the numbers that have been added to
}

func (t *times) add(i int32, ns int64) {
	for int(i) >= len(t.ns) {
		t.ns, t.on = append(t.ns, 0), append(t.on, false)
	}
	if !t.on[i] {
		t.on[i] = true
		t.used = append(t.used, i)
	}
	t.ns[i] += ns
}

func (t *times) clear() {
	for _, i := range t.used {
		t.ns[i], t.on[i] = 0, false
	}
	t.used = t.used[:0]
}

// largest returns the number that has most, of equal ones the first; -1 where none
// has any.
func (t *times) largest(compare func(a, b int32) int) int32 {
	best := int32(-1)
	for _, i := range t.used {
		if t.ns[i] > 0 && (best < 0 || t.ns[i] > t.ns[best] || t.ns[i] == t.ns[best] && compare(i, best) < 0) {
			best = i
		}
	}
	return best
}
