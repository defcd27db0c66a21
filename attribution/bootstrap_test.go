package attribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"pgregory.net/rapid"
)

// twoHops makes requests that call two hops; so many of a thousand are slow in the second.
func twoHops(r *rand.Rand, n, slow int) *Accumulator {
	w := NewAccumulator()
	for i := range n {
		first := int(20_000 * math.Exp(.6*r.NormFloat64()))
		second := int(15_000 * math.Exp(.6*r.NormFloat64()))
		if r.IntN(1000) < slow {
			second += int(200_000 * math.Exp(.3*r.NormFloat64()))
		}
		w.AddTrace(traceOf(i+1, testSpan{id: 1, hop: "root", end: first + second + 500},
			testSpan{id: 2, parent: 1, end: first, hop: "first"}, testSpan{id: 3, parent: 1, start: first, end: first + second, hop: "second"}))
	}
	return w
}

// Where the slow mode is about as frequent as the tail, what else is in the tail depends on
// where it begins, and that is another time in every sample.
func TestTheIntervalOfAShareHoldsWhereTheSlowAreAsRareAsTheTail(t *testing.T) {
	if t.Parallel(); testing.Short() {
		t.Skip("hundreds of samples")
	}
	for _, slow := range []int{45, 50, 55} {
		truth := *shareOf(twoHops(rand.New(rand.NewPCG(9, uint64(slow))), 40_000, slow).Result(usual), "second")
		held, samples := 0, 120
		for seed := range samples {
			r := twoHops(rand.New(rand.NewPCG(uint64(seed), uint64(slow))), 1000, slow).Result(usual)
			for _, h := range r.Hops {
				if h.Name == "second" && h.Lower != nil && *h.Lower <= truth && truth <= *h.Upper {
					held++
				}
			}
		}
		t.Logf("%d of 1000 slow, a share of %.3f: held in %d of %d", slow, truth, held, samples)
		if float64(held) < .89*float64(samples) { // 0.92 less 1.5 standard errors
			t.Errorf("%d of 1000 slow: held in %d of %d", slow, held, samples)
		}
	}
}

// drawnTrace is a trace of a sample that is drawn anew as a whole.
type drawnTrace struct {
	group       uint16
	total, time int64
	fails       bool
}

// dumbShare takes apart the traces of a resample and returns the share of the hop.
func dumbShare(list []drawnTrace, often []uint16, u units, tailFrom quantile.P) float64 {
	var all []int64
	for _, one := range list {
		for range often[u.index[one.group]] {
			all = append(all, one.total)
		}
	}
	slices.Sort(all)
	n := uint64(len(all))
	from, to := all[tailFrom.Rank(n)-1], all[half.Rank(n)-1]
	var slow, slowHop, fast, fastHop, s, f float64
	for _, one := range list {
		times := float64(often[u.index[one.group]])
		if one.total >= from || one.fails {
			s, slow, slowHop = s+times, slow+times*float64(one.total), slowHop+times*float64(one.time)
		}
		if one.total <= to && !one.fails {
			f, fast, fastHop = f+times, fast+times*float64(one.total), fastHop+times*float64(one.time)
		}
	}
	whole := slow/s - fast/f
	if whole <= 0 {
		return math.NaN()
	}
	return (slowHop/s - fastHop/f) / whole
}

// A resample is taken apart as its traces would be by themselves.
func TestResamplesAreTakenApartAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 300).Draw(t, "traces")
		step := rapid.SampledFrom([]int{1, 7, 4000}).Draw(t, "clock")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		w := NewAccumulator()
		for i := range n {
			first, second := step*r.IntN(40_000/step), step*r.IntN(20_000/step)
			one := testSpan{id: 1, hop: "root", end: first + second + step}
			if r.IntN(20) == 0 {
				one.outcome = failed
			}
			w.AddTrace(traceOf(i+1, one, testSpan{id: 2, parent: 1, end: first, hop: "first"}, testSpan{id: 3, parent: 1, start: first, end: first + second, hop: "second"}))
		}
		q := usual
		q.TailFrom = rapid.SampledFrom([]quantile.P{half, quantile.MustP("0.9"), ninetyNinth}).Draw(t, "tail from")
		var result Result
		s := w.split(q, &result)
		hops := w.hopsOf(s, q)
		if s.tail.n == 0 || s.body.n == 0 {
			return
		}
		chosen := s.resampled(hops)
		got := s.resample(w, chosen, q)
		u := unitsOf(s.all, w.total.N())
		often := newDrawn(u, s.all, s.slow, s.fast, resamples, q.TailFrom)
		for place, i := range chosen {
			var list []drawnTrace
			w.each(func(one *traceRecord) {
				d := drawnTrace{group: one.group, total: one.total, fails: one.fails}
				for _, e := range one.entries {
					if w.table.parts[e.part].hop == s.listed[i] {
						d.time += e.ns
					}
				}
				list = append(list, d)
			})
			for k := range 50 {
				want := dumbShare(list, often.of(k), u, q.TailFrom)
				if d := got[place][k] - want; math.Abs(d) > 1e-9 || math.IsNaN(want) != math.IsNaN(got[place][k]) {
					t.Fatalf("resample %d of %s: %v, want %v", k, hops[i].Name, got[place][k], want)
				}
			}
		}
	})
}

// Traces of one time and one group are kept as one, in no more room than there are hops.
func TestWhatIsKeptNearAnEdgeIsSummed(t *testing.T) {
	z := &zoned{}
	for i := range int64(1000) {
		z.take([]hopTime{{int32(i % 3), 1}, {5, i}})
	}
	if got, want := summed(z.times), []hopTime{{0, 334}, {1, 333}, {2, 333}, {5, 499500}}; !slices.Equal(got, want) || len(z.times) > 32 {
		t.Errorf("%v, %d kept, want %v", got, len(z.times), want)
	}
}
