package calls

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/quantile"
)

// study is what is found out about one callee, in several walks over its moments.
type study struct {
	log    *log
	query  *Query
	store  *quantile.Store
	file   *spill.File // of what one pair is sorted in
	most   int         // moments to be held in memory where they are sorted anew
	whole  room
	insts  map[int32]*room
	calls  map[int32]*room // by caller's instance
	pairs  map[int32]*pair
	places []*place
	byKey  map[placeKey]int32
	last   int32 // number of the last place that was looked up
}

// placeKey is a pair between two instances.
type placeKey struct{ call, caller, instance int32 }

// place is what is known of a pair between two instances, and the rooms that its
// moments are in.
type place struct {
	placeKey
	pair     *pair // nil where there is no call
	instance *room
	caller   *room // nil where there is no call
	floors
	served served

	chance [scopes][widths]float64
	waited uint64
	hits   [scopes][widths]uint64
}

// served is the work of one pair at one instance.
type served struct {
	n, slow uint64
	work    *quantile.Sample
}

// floors are what calls between two instances lag at least: ranks .005. A constant
// difference of clocks is in lag and in back, and not in gap.
type floors struct {
	n                uint64
	lags, gaps, rets *quantile.Sample // lags of all; the others of calls that were not cut
	lag, gap, back   int64
}

// pair is what is known of the calls of a hop that one callee answers. Durations are ns.
type pair struct {
	call              int32
	n, cut            uint64 // answered calls
	oneHost, twoHosts uint64
	skewed            bool

	gaps, gapsCut, works, waits, backs, times *quantile.Sample
	slowWorks, behind                         *quantile.Sample // behind: from the last end of the callee to the begin of a waited call
	p95, p50                                  int64            // of the times
	floor                                     int64            // median of the floors of gaps
	slow, usual                               group
	excess                                    excess
	aboveFloor                                quantile.Sum // of all gaps
	least                                     int64        // above the floor by more than this is waited
	grows                                     grid
	after                                     [scopes][widths]levels
	judged                                    bool // it has what a verdict needs
}

// group is the slow calls of a pair, or the usual ones.
type group struct {
	n         uint64
	gap, work quantile.Sum
}

func (g *group) add(gap, work int64) {
	g.n++
	g.gap.Add(gap, 1)
	g.work.Add(work, 1)
}

// excess is how much longer the slow calls of a pair take than the usual ones, in the
// mean, in ns.
type excess struct{ gap, work float64 }

func (e excess) all() float64 { return e.gap + e.work }

// mean is the mean of a sum, 0 where there is nothing.
func mean(s quantile.Sum, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return (math.Ldexp(float64(s.Hi), 64) + float64(s.Lo)) / float64(n)
}

func newStudy(l *log, q *Query, store *quantile.Store, file *spill.File, most int) *study {
	return &study{log: l, query: q, store: store, file: file, most: most, insts: map[int32]*room{}, calls: map[int32]*room{}, pairs: map[int32]*pair{}, byKey: map[placeKey]int32{}}
}

// run walks over the moments until all is known but what depends on the order of calls.
func (s *study) run() error {
	if err := s.log.any(s.count); err != nil {
		return err
	}
	s.findFloors()
	if err := s.log.any(s.measure); err != nil {
		return err
	}
	s.findQuantiles()
	if err := s.log.any(s.sort); err != nil {
		return err
	}
	s.findExcess()
	return s.sweep()
}

// placeOf returns the place of a moment, and has one in memory remember it.
func (s *study) placeOf(m *moment) *place { return s.places[s.numberOf(m)] }

func (s *study) numberOf(m *moment) int32 {
	if n := m.flags >> placeShift; n > 0 {
		return int32(n - 1)
	}
	k := placeKey{m.call, m.caller, m.instance}
	if m.has(fromCall) && m.call == noCall {
		k.call-- // its caller is known
	}
	if len(s.places) == 0 || s.places[s.last].placeKey != k {
		s.last = s.find(k)
	}
	if s.last < 1<<(32-placeShift)-1 {
		m.flags |= uint32(s.last+1) << placeShift
	}
	return s.last
}

func (s *study) find(k placeKey) int32 {
	n, known := s.byKey[k]
	if !known {
		n = int32(len(s.places))
		s.places, s.byKey[k] = append(s.places, s.newPlace(k)), n
	}
	return n
}

func (s *study) newPlace(k placeKey) *place {
	p := &place{placeKey: k, instance: roomAt(s.insts, k.instance)}
	if k.call != noCall {
		p.caller = roomAt(s.calls, k.caller)
	}
	if k.call >= 0 {
		p.pair = s.pairAt(k.call)
		p.lags, p.gaps, p.rets, p.served.work = s.store.New(), s.store.New(), s.store.New(), s.store.New()
	}
	return p
}

func (s *study) pairAt(call int32) *pair {
	p := s.pairs[call]
	if p == nil {
		p = &pair{call: call}
		for _, sample := range [...]**quantile.Sample{&p.gaps, &p.gapsCut, &p.works, &p.waits, &p.backs, &p.times, &p.slowWorks, &p.behind} {
			*sample = s.store.New()
		}
		s.pairs[call] = p
	}
	return p
}

// inOrder returns the places by their keys, so that sums of floats do not depend on who
// came first.
func (s *study) inOrder() []*place {
	list := slices.Clone(s.places)
	slices.SortFunc(list, func(a, b *place) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.placeKey.caller, b.placeKey.caller), cmp.Compare(a.placeKey.instance, b.placeKey.instance))
	})
	return list
}

// count enters a moment in its rooms, and what it lags.
func (s *study) count(m *moment) {
	p := s.placeOf(m)
	s.whole.count(m)
	p.instance.count(m)
	if p.caller != nil {
		p.caller.count(m)
	}
	if p.pair == nil {
		return
	}
	p.n++
	p.pair.n++
	if m.has(oneHost) {
		p.pair.oneHost++
	}
	if m.has(twoHosts) {
		p.pair.twoHosts++
	}
	p.lags.Add(shifted(m.lag()))
	if m.took >= m.work && !m.has(cutCall) {
		p.gaps.Add(m.took - m.work)
		p.rets.Add(shifted(m.back()))
	}
}

// Samples hold no negative values: differences of two clocks are shifted by so much, and
// what is beyond a century is put there.
const (
	shift   = 1 << 62
	century = 100 * 366 * 24 * 3600 * 1_000_000_000
)

func shifted(ns int64) int64 { return shift + max(-century, min(ns, century)) }

// floorRank is the rank of a floor among n.
func floorRank(n uint64) uint64 { return max(1, (5*n+999)/1000) }

// written is how far a time may be from what was meant by how it is written down: some
// microseconds, as starts and durations are cut off.
const written = 10_000

func (s *study) findFloors() {
	for _, p := range s.places {
		if p.pair == nil {
			continue
		}
		p.lag = quantile.Union{p.lags}.At(floorRank(p.n))[0] - shift
		if n := p.gaps.N(); n > 0 {
			p.gap = quantile.Union{p.gaps}.At(floorRank(n))[0]
			p.back = quantile.Union{p.rets}.At(floorRank(n))[0] - shift
			p.pair.skewed = p.pair.skewed || p.back < -written
		}
		p.pair.skewed = p.pair.skewed || p.lag < -written
		p.lags, p.gaps, p.rets = nil, nil, nil
	}
	for _, p := range s.pairs {
		p.floor = s.medianFloor(p)
	}
}

// medianFloor is the median of what the calls of a pair lag at least.
func (s *study) medianFloor(of *pair) int64 {
	type floor struct {
		gap int64
		n   uint64
	}
	var list []floor
	for _, p := range s.places {
		if p.pair == of {
			list = append(list, floor{p.floors.gap, p.n})
		}
	}
	slices.SortFunc(list, func(a, b floor) int { return cmp.Compare(a.gap, b.gap) })
	var seen uint64
	for _, f := range list {
		if seen += f.n; 2*seen >= of.n {
			return f.gap
		}
	}
	return 0
}

// apart is how much later than its call, on the caller's clock, a server may end and
// still have answered in time: 1 ms.
const apart = 1_000_000

// cut reports whether a call left before its server was done.
func (p *place) cut(m *moment) bool {
	return m.has(cutCall) || m.took < m.work || m.back() < min(0, p.back)-apart
}

// gapOf is what a call waited, there and back. That of a cut call is its lag above the
// floor of lags, and the floor of gaps.
func (p *place) gapOf(m *moment, cut bool) int64 {
	if !cut {
		return m.took - m.work
	}
	return durations.Sum(max(0, less(m.lag(), p.lag)), p.floors.gap)
}

func (s *study) measure(m *moment) {
	p := s.placeOf(m)
	if p.pair == nil {
		return
	}
	cut := p.cut(m)
	gap := p.gapOf(m, cut)
	p.pair.measure(m, gap, cut)
	p.pair.aboveFloor.Add(gap-min(gap, p.floors.gap), 1)
	p.served.n++
	if len(s.insts) > 1 {
		p.served.work.Add(m.work)
	}
	if cut {
		w := p.wasted(m)
		s.whole.wasted = durations.Sum(s.whole.wasted, w)
		p.instance.wasted = durations.Sum(p.instance.wasted, w)
	}
}

func (p *pair) measure(m *moment, gap int64, cut bool) {
	p.gaps.Add(gap)
	p.works.Add(m.work)
	p.times.Add(durations.Sum(gap, m.work))
	p.waits.Add(max(0, m.lag()))
	if cut {
		p.cut++
		p.gapsCut.Add(gap)
	} else {
		p.backs.Add(max(0, m.back()))
	}
}

// wasted is how long a server worked after its caller had left, by the caller's clock
// where it is not known to be another, else by where half of the floor of gaps is the way
// there.
func (p *place) wasted(m *moment) int64 {
	late := less(0, m.back())
	if p.pair.skewed {
		late = less(late, less(p.lag, p.floors.gap/2))
	}
	return max(0, min(late, m.work))
}

func (s *study) findQuantiles() {
	for _, p := range s.pairs {
		at := quantile.Union{p.times}.At(quantile.MustP("0.5").Rank(p.n), quantile.MustP("0.95").Rank(p.n))
		p.p50, p.p95 = at[0], at[1]
	}
}

// slow reports whether a call is among the slow ones of its pair.
func (p *pair) slowCall(gap, work int64, cut bool) bool {
	return cut || durations.Sum(gap, work) >= p.p95
}

func (s *study) sort(m *moment) {
	p := s.placeOf(m)
	if p.pair == nil {
		return
	}
	cut := p.cut(m)
	gap := p.gapOf(m, cut)
	if p.pair.slowCall(gap, m.work, cut) {
		p.pair.slow.add(gap, m.work)
		p.pair.slowWorks.Add(m.work)
		p.served.slow++
	} else if durations.Sum(gap, m.work) <= p.pair.p50 {
		p.pair.usual.add(gap, m.work)
	}
}

func (s *study) findExcess() {
	for _, p := range s.pairs {
		p.excess = excess{
			mean(p.slow.gap, p.slow.n) - mean(p.usual.gap, p.usual.n), mean(p.slow.work, p.slow.n) - mean(p.usual.work, p.usual.n),
		}
		p.judged = p.n >= leastCalls && p.slow.n >= leastSlow && p.usual.n >= leastUsual && p.excess.all() > 0
		p.least = max(apart, int64(p.excess.all()/5))
	}
}
