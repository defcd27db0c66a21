package attribution

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// The interval of a share comes from resampling: whole traces are drawn anew, so
// that the hops of a trace stay together.
const (
	resamples = 1000
	// mostUnits is how many units a side is drawn from. More traces than that are
	// dealt into as many groups by the hash of their ids, and groups are drawn.
	mostUnits = 1024
	// mostResampled is how many hops get limits, those with the largest excess.
	mostResampled = 1000

	seedHi, seedLo = 0x7461696c73636f70, 0x65206f776e6572
)

// side is what is drawn from on one side: units with the number of their traces
// and the times of each hop in them.
type side struct {
	index []int32   // of a group's unit, -1 for none
	count []float64 // traces of each unit
	cells []cellRow // by place among the hops that are resampled; the last: all
	draws []float64 // how often each unit was drawn
}

type cellRow struct {
	sums  []int64 // by unit, until they are packed
	units []int32
	ns    []float64
}

func newSide(groups []uint32, traces uint64, hops int) *side {
	mask := len(groups) - 1
	if traces > mostUnits {
		mask = mostUnits - 1
	}
	s := &side{index: make([]int32, len(groups)), cells: make([]cellRow, hops+1)}
	units := make([]int32, mask+1)
	for g, n := range groups {
		if u := g & mask; n > 0 && units[u] == 0 {
			s.count = append(s.count, 0)
			units[u] = int32(len(s.count))
		}
	}
	for g, n := range groups {
		s.index[g] = units[g&mask] - 1
		if n > 0 {
			s.count[s.index[g]] += float64(n)
		}
	}
	s.draws = make([]float64, len(s.count))
	for i := range s.cells {
		s.cells[i].sums = make([]int64, len(s.count))
	}
	return s
}

func (s *side) add(t *trip, row int32, ns int64) {
	c := &s.cells[row].sums[s.index[t.group]]
	*c = plus(*c, ns)
}

// pack drops the units in which a hop has no time.
func (s *side) pack() {
	for i := range s.cells {
		c := &s.cells[i]
		for u, ns := range c.sums {
			if ns != 0 {
				c.units, c.ns = append(c.units, int32(u)), append(c.ns, float64(ns))
			}
		}
		c.sums = nil
	}
}

// draw draws as many units as there are.
func (s *side) draw(r *rand.Rand) (traces float64) {
	clear(s.draws)
	for range s.draws {
		s.draws[r.IntN(len(s.draws))]++
	}
	for u, n := range s.draws {
		traces += n * s.count[u]
	}
	return traces
}

// mean is that of a hop over the traces drawn.
func (s *side) mean(row int, traces float64) float64 {
	c, total := &s.cells[row], 0.0
	for k, u := range c.units {
		// The conversion keeps the product from being fused with the sum on some
		// machines only.
		total += float64(c.ns[k] * s.draws[u])
	}
	return total / traces
}

// shares sets the share of each listed hop, and its limits.
func (s *split) shares(w *Watch, hops []Hop, confidence quantile.P) {
	whole := s.tail.total.float(s.tail.n) - s.body.total.float(s.body.n)
	if s.tail.n == 0 || s.body.n == 0 || whole <= 0 {
		return
	}
	for i, at := range s.listed {
		share := (s.tail.hops[at].float(s.tail.n) - s.body.hops[at].float(s.body.n)) / whole
		hops[i].Share = &share
	}
	chosen := s.resampled(hops)
	limits := s.resample(w, chosen)
	for row, i := range chosen {
		if lower, upper, ok := interval(limits[row], confidence); ok {
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
func (s *split) resample(w *Watch, chosen []int) [][]float64 {
	row := make([]int32, len(w.table.hops))
	for k, i := range chosen {
		row[s.listed[i]] = int32(k) + 1
	}
	tail, body := newSide(s.groups[0], s.tail.n, len(chosen)), newSide(s.groups[1], s.body.n, len(chosen))
	w.each(func(t *trip) {
		if s.inTail(t) {
			w.fill(tail, t, row)
		}
		if s.inBody(t) {
			w.fill(body, t, row)
		}
	})
	tail.pack()
	body.pack()
	return drawn(tail, body, len(chosen))
}

func (w *Watch) fill(s *side, t *trip, row []int32) {
	for _, e := range t.entries {
		if k := row[w.table.parts[e.part].hop]; k > 0 {
			s.add(t, k-1, e.ns)
		}
	}
	s.add(t, int32(len(s.cells)-1), t.total)
}

func drawn(tail, body *side, hops int) [][]float64 {
	shares := make([][]float64, hops)
	r := rand.New(rand.NewPCG(seedHi, seedLo))
	for range resamples {
		n, m := tail.draw(r), body.draw(r)
		whole := tail.mean(hops, n) - body.mean(hops, m)
		for h := range shares {
			share := math.NaN()
			if whole > 0 {
				share = (tail.mean(h, n) - body.mean(h, m)) / whole
			}
			shares[h] = append(shares[h], share)
		}
	}
	return shares
}

// interval takes the limits from the shares of all draws; where too many of them
// have none, neither has the interval.
func interval(shares []float64, confidence quantile.P) (lower, upper float64, ok bool) {
	slices.Sort(shares) // NaN first
	beyond := int(math.Ceil(confidence.Beyond() / 2 * resamples))
	beyond = min(max(beyond, 1), resamples/2)
	if math.IsNaN(shares[beyond-1]) {
		return 0, 0, false
	}
	return shares[beyond-1], shares[resamples-beyond], true
}
