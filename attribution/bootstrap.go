package attribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
)

// The interval of a share comes from resampling: whole traces are drawn anew, so
// that the hops of a trace stay together.
const (
	resamples = 1000
	// fewResamples are for the limits of a reading that is only compared by its owner.
	fewResamples = 200
	// mostUnits is how many units a side is drawn from. More traces than that are
	// put into as many units by the hash of their ids, and those are drawn.
	mostUnits = 1024
	// mostResampled is how many hops get limits, those with the largest excess.
	mostResampled = 1000
	// mostUnitHops is up to how many hops unitTimes are kept.
	mostUnitHops = 200

	seedHi, seedLo = 0x7461696c73636f70, 0x65206f776e6572
)

// units are what is drawn: traces, or groups of them.
type units struct {
	index []int32 // of a group's unit, -1 for none
	n     int
}

// unitsOf makes the units of all traces.
func unitsOf(all groups, traces uint64) units {
	mask := len(all) - 1
	if traces > mostUnits {
		mask = mostUnits - 1
	}
	u := units{index: make([]int32, len(all))}
	seen := make([]int32, mask+1)
	for g, n := range all {
		if at := g & mask; n > 0 && seen[at] == 0 {
			u.n++
			seen[at] = int32(u.n)
		}
	}
	for g := range all {
		u.index[g] = seen[g&mask] - 1
	}
	return u
}

// counts adds up traces by unit.
func (u units) counts(of groups) []float64 {
	list := make([]float64, u.n)
	for g, n := range of {
		if n > 0 {
			list[u.index[g]] += float64(n)
		}
	}
	return list
}

// draws is what is drawn from on one side: units with the number of their traces
// and the times of each hop in them.
type draws struct {
	units
	count []float64 // traces of each unit
	sums  [][]int64 // by place among the hops that are resampled, and unit; the last: all
	cells []cell    // those that are not 0, by unit
	// filled are the units with any trace or time, and ends where the cells of each end.
	filled, ends []int32
	edge         edge
}

type cell struct {
	row int32
	ns  float64
}

func newDraws(u units, from *side, hops int) *draws {
	s := &draws{units: u, count: u.counts(from.groups)}
	s.makeSums(hops + 1)
	return s
}

func (s *draws) makeSums(rows int) {
	s.sums = make([][]int64, rows)
	for i := range s.sums {
		s.sums[i] = make([]int64, len(s.count))
	}
}

// another returns draws with the same units for another goroutine to fill.
func (s *draws) another() *draws {
	o := &draws{units: s.units, count: s.count}
	o.makeSums(len(s.sums))
	return o
}

func (s *draws) add(t *traceRecord, row int32, ns int64) {
	sum := &s.sums[row][s.index[t.group]]
	*sum = durations.Sum(*sum, ns)
}

func (s *draws) merge(o *draws) {
	for row, sums := range o.sums {
		for u, ns := range sums {
			s.sums[row][u] = durations.Sum(s.sums[row][u], ns)
		}
	}
}

// pack makes cells of the sums.
func (s *draws) pack() {
	for u := range s.count {
		before := len(s.cells)
		for row := range s.sums {
			if ns := s.sums[row][u]; ns != 0 {
				s.cells = append(s.cells, cell{int32(row), float64(ns)})
			}
		}
		if len(s.cells) > before || s.count[u] > 0 {
			s.filled, s.ends = append(s.filled, int32(u)), append(s.ends, int32(len(s.cells)))
		}
	}
	s.sums = nil
}

// addUp adds up the traces and, by place, the times of the units as often as each was
// drawn; so many traces lie on this side of where it ends in all, and need is how many are
// to be.
func (s *draws) addUp(drawn []uint16, lie, need float64, total []float64) (traces float64) {
	clear(total)
	from := int32(0)
	for i, u := range s.filled {
		cells := s.cells[from:s.ends[i]]
		from = s.ends[i]
		n := float64(drawn[u])
		if n == 0 {
			continue
		}
		traces += n * s.count[u]
		for _, c := range cells {
			// The conversion keeps the product from being fused with the sum on
			// some machines only.
			total[c.row] += float64(c.ns * n)
		}
	}
	return traces + s.edge.move(drawn, lie, need, total)
}

// drawn is how often each unit was drawn, for one resample after the other: as many
// units as there are.
type drawn struct {
	units
	tailFrom quantile.P
	lie      []lying // by unit
	often    []uint16
	times    int
}

// lying is how many traces there are, and how many of them lie where the tail begins in
// all, or beyond, and where the body ends or below.
type lying struct{ all, slow, fast float64 }

func newDrawn(u units, all, slow, fast groups, times int, tailFrom quantile.P) *drawn {
	d := &drawn{units: u, tailFrom: tailFrom, lie: make([]lying, u.n), often: make([]uint16, times*u.n), times: times}
	n, s, f := u.counts(all), u.counts(slow), u.counts(fast)
	for i := range d.lie {
		d.lie[i] = lying{n[i], s[i], f[i]}
	}
	r := rand.New(rand.NewPCG(seedHi, seedLo))
	for k := range times {
		often := d.of(k)
		for range often {
			often[r.IntN(len(often))]++
		}
	}
	return d
}

// of returns how often each unit is drawn in resample k.
func (d *drawn) of(k int) []uint16 { return d.often[k*d.n:][:d.n] }

// lying adds up those of a resample.
func (d *drawn) lying(often []uint16) (sum lying) {
	for u, times := range often {
		n := float64(times)
		sum.all, sum.slow, sum.fast = sum.all+n*d.lie[u].all, sum.slow+n*d.lie[u].slow, sum.fast+n*d.lie[u].fast
	}
	return sum
}

// sides returns how many traces of a resample are in the tail and in the body.
func (d *drawn) sides(all float64) (tail, body float64) {
	n := uint64(all)
	return float64(n - d.tailFrom.Rank(n) + 1), float64(half.Rank(n))
}

// shares sets the share of each listed hop, and its limits.
func (s *split) shares(w *Accumulator, hops []Hop, q Query) {
	whole := s.tail.total.float(s.tail.n) - s.body.total.float(s.body.n)
	if s.tail.n == 0 || s.body.n == 0 || whole <= 0 {
		return
	}
	for i, at := range s.listed {
		share := (s.tail.hops[at].float(s.tail.n) - s.body.hops[at].float(s.body.n)) / whole
		hops[i].Share = &share
	}
	chosen := s.resampled(hops)
	limits := s.resample(w, chosen, q)
	for row, i := range chosen {
		if lower, upper, ok := interval(limits[row], q.Confidence); ok {
			hops[i].Lower, hops[i].Upper = &lower, &upper
		}
	}
}

// resampled chooses the hops that get limits, by their place in the list.
func (s *split) resampled(hops []Hop) []int {
	list := make([]int, len(hops))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return byExcess(hops[a], hops[b]) })
	return list[:min(len(list), mostResampled)]
}

// resample draws both sides again and again and returns the shares that come out
// for each of the chosen hops. A draw whose tail is no slower gives NaN.
func (s *split) resample(w *Accumulator, chosen []int, q Query) [][]float64 {
	hops := make([]int32, len(chosen))
	for k, i := range chosen {
		hops[k] = s.listed[i]
	}
	times := resamples
	if q.few {
		times = fewResamples
	}
	u := unitsOf(s.all, w.total.N())
	tail, body := newDraws(u, &s.tail, len(hops)), newDraws(u, &s.body, len(hops))
	row := rowsOf(hops, len(w.table.hops()))
	if s.tail.units.fits(w.total.N()) && s.body.units.fits(w.total.N()) {
		s.tail.units.into(tail, hops)
		s.body.units.into(body, hops)
	} else {
		s.fillBoth(w, tail, body, row, q.Jobs)
	}
	tail.pack()
	body.pack()
	all := int32(len(hops))
	tail.edge = tailEdge(s.near.tail.sorted(row, all, u), s.from)
	body.edge = bodyEdge(s.near.body.sorted(row, all, u), s.to)
	return newDrawn(u, s.all, s.slow, s.fast, times, q.TailFrom).shares(tail, body, len(hops), q.Jobs)
}

// rowsOf returns, by hop, one more than its place among those that are resampled, 0 for the
// others.
func rowsOf(resampled []int32, hops int) []int32 {
	row := make([]int32, hops)
	for k, hop := range resampled {
		row[hop] = int32(k) + 1
	}
	return row
}

// fillBoth goes through all traces once more.
func (s *split) fillBoth(w *Accumulator, tail, body *draws, row []int32, jobs int) {
	tails, bodies := []*draws{tail}, []*draws{body}
	n := min(w.readers(jobs), 1+mostResampled/len(tail.sums))
	w.sideBySide(n, func(i int) func(*traceRecord) {
		if i > 0 {
			tails, bodies = append(tails, tail.another()), append(bodies, body.another())
		}
		return s.filler(w, tails[i], bodies[i], row)
	})
	for i := 1; i < n; i++ {
		tail.merge(tails[i])
		body.merge(bodies[i])
	}
}

// filler returns what adds records to the sides.
func (s *split) filler(w *Accumulator, tail, body *draws, row []int32) func(*traceRecord) {
	return func(t *traceRecord) {
		if s.inTail(t) {
			w.fill(tail, t, row)
		}
		if s.inBody(t) {
			w.fill(body, t, row)
		}
	}
}

func (a *Accumulator) fill(s *draws, t *traceRecord, row []int32) {
	for _, e := range t.entries {
		if k := row[a.table.parts[e.part].hop]; k > 0 {
			s.add(t, k-1, e.ns)
		}
	}
	s.add(t, int32(len(s.sums)-1), t.total)
}

// shares returns those of each hop in all resamples, which are worked out side by side.
func (d *drawn) shares(tail, body *draws, hops, jobs int) [][]float64 {
	shares := make([][]float64, hops)
	for h := range shares {
		shares[h] = make([]float64, d.times)
	}
	var group sync.WaitGroup
	jobs = max(1, min(jobs, d.times))
	for i := range jobs {
		group.Go(func() { d.sharesFrom(tail, body, shares, i, jobs) })
	}
	group.Wait()
	return shares
}

// sharesFrom works out every step-th resample.
func (d *drawn) sharesFrom(tail, body *draws, shares [][]float64, from, step int) {
	hops := len(shares)
	inTail, inBody := make([]float64, hops+1), make([]float64, hops+1)
	for k := from; k < d.times; k += step {
		often := d.of(k)
		lie := d.lying(often)
		slow, fast := d.sides(lie.all)
		n, m := tail.addUp(often, lie.slow, slow, inTail), body.addUp(often, lie.fast, fast, inBody)
		whole := inTail[hops]/n - inBody[hops]/m
		for h := range shares {
			shares[h][k] = math.NaN()
			if whole > 0 {
				shares[h][k] = (inTail[h]/n - inBody[h]/m) / whole
			}
		}
	}
}

// interval takes the limits from the shares of all draws; where too many of them
// have none, neither has the interval.
func interval(shares []float64, confidence quantile.P) (lower, upper float64, ok bool) {
	slices.Sort(shares) // NaN first
	beyond := int(math.Ceil(confidence.Beyond() / 2 * float64(len(shares))))
	beyond = min(max(beyond, 1), len(shares)/2)
	if math.IsNaN(shares[beyond-1]) {
		return 0, 0, false
	}
	return shares[beyond-1], shares[len(shares)-beyond], true
}

// unitTimes adds up the times of one side's traces by unit and hop, in the units of a
// side with more than mostUnits traces: most have, and then need not be gone
// through once more. It is nil where there are too many hops to do so for all.
type unitTimes struct {
	rows int     // the hops, and one for all together
	sums []int64 // ns, by unit, then row
}

func newUnitTimes(hops int) *unitTimes {
	if hops > mostUnitHops {
		return nil
	}
	return &unitTimes{hops + 1, make([]int64, (hops+1)*mostUnits)}
}

func (u *unitTimes) add(t *traceRecord, times *times) {
	if u == nil {
		return
	}
	unit := u.sums[int(t.group%mostUnits)*u.rows:][:u.rows]
	for _, hop := range times.used {
		unit[hop] = durations.Sum(unit[hop], times.ns[hop])
	}
	unit[u.rows-1] = durations.Sum(unit[u.rows-1], t.total)
}

func (u *unitTimes) merge(o *unitTimes) {
	if u == nil {
		return
	}
	for i, ns := range o.sums {
		u.sums[i] = durations.Sum(u.sums[i], ns)
	}
}

// fits reports whether a side has those units, where there are so many traces.
func (u *unitTimes) fits(traces uint64) bool { return u != nil && traces > mostUnits }

// into fills draws; hops are those of its rows.
func (u *unitTimes) into(s *draws, hops []int32) {
	filled := make([]bool, s.n)
	for g, at := range s.index {
		if at < 0 || filled[at] {
			continue
		}
		filled[at] = true
		unit := u.sums[g%mostUnits*u.rows:][:u.rows]
		for row, hop := range hops {
			s.sums[row][at] = unit[hop]
		}
		s.sums[len(hops)][at] = unit[u.rows-1]
	}
}
