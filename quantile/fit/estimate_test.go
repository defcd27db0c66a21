package fit

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"pgregory.net/rapid"
)

func failing(e *Estimate) (numbers []Gate) {
	for _, j := range e.Gates {
		if !j.Passed {
			numbers = append(numbers, j.Gate)
		}
	}
	return numbers
}

func estimatesOf(o quantile.Observed, ps ...string) []*Estimate {
	var list []quantile.P
	for _, p := range ps {
		list = append(list, quantile.MustP(p))
	}
	return Estimates(o, o.Tails(list, ninetyFive).Tails)
}

func TestGatesOfTheGoldenCases(t *testing.T) {
	for _, c := range []struct {
		name, p string
		failing []Gate
		figures []float64 // of the failing gates
	}{
		{"c09_seed_like_200", "0.95", []Gate{FiniteMean, FitsBelow, SeenNearWall}, []float64{2.99, 1.16, 2.35}},
		{"c09_seed_like_200", "0.99", []Gate{NotTooFar, FiniteMean, FitsBelow, SeenNearWall}, []float64{16.5, 2.99, 1.16, 2.35}},
		{"c11_lognormal_1000_10pct", "0.95", nil, nil},
		{"c12_weibull_2000_5pct", "0.95", nil, nil},
		{"c12_weibull_2000_5pct", "0.99", []Gate{NotTooFar}, []float64{5.3}},
		{"c13_lomax_2000_5pct", "0.99", nil, nil},
		{"c14_bimodal_2000_2pct", "0.99", []Gate{FiniteMean, FitsBelow, SeenNearWall}, []float64{3.42, 3.3, 10.9}},
		{"c15_two_timeouts_600", "0.99", []Gate{OneWall}, []float64{2}},
		{"c16_ties_500", "0.95", []Gate{OneWall}, []float64{11}},
	} {
		e := estimatesOf(readHop(t, c.name), c.p)[0]
		if got := failing(e); !slices.Equal(got, c.failing) {
			t.Errorf("%s %s: gates %v fail, want %v", c.name, c.p, got, c.failing)
			continue
		}
		if (e.Bound != nil) != (c.failing == nil) || (e.Value != nil) != (c.failing == nil) || (len(e.Models) == 3) != (c.failing == nil) {
			t.Errorf("%s %s: bound %s, value %s, %d models with %d gates failing", c.name, c.p, show(e.Bound), show(e.Value), len(e.Models), len(c.failing))
		}
		i := 0
		for _, j := range e.Gates {
			if !j.Passed {
				near(t, c.name+" "+c.p, j.Figure, c.figures[i], 5e-3)
				i++
			}
		}
	}
}

func TestEstimateIsThatOfTheTailWithTheLargestBound(t *testing.T) {
	e := estimatesOf(readHop(t, "c12_weibull_2000_5pct"), "0.95")[0]
	want := &Estimate{
		Value: new(int64(4_922_050_000)), Bound: new(int64(11_484_900_000)), F: 1.06, Fitted: true, Xi: e.Xi, A2: e.A2,
		Models: []Model{
			{Pareto, new(int64(4_922_050_000)), new(int64(5_309_800_000))},
			{Weibull, new(int64(4_971_220_000)), new(int64(5_308_740_000))},
			{Lognormal, new(int64(10_260_300_000)), new(int64(11_484_900_000))},
		},
		Gates: e.Gates,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	near(t, "xi", e.Xi, -.135249529976801, 1e-5)
}

func TestOnlyHiddenQuantilesAreEstimated(t *testing.T) {
	for _, c := range []struct {
		name string
		o    quantile.Observed
		p    string
		want bool
	}{
		{"nothing", quantile.Observed{}, "0.99", false},
		{"nothing was cut", quantile.Observed{Completed: quantile.Union{sampleOf(1, 2, 3)}}, "0.99", false},
		{"below the first cut", quantile.Observed{Completed: quantile.Union{sampleOf(1, 2, 3)}, CutAt: quantile.Union{sampleOf(4)}}, "0.5", false},
		{"beyond it", quantile.Observed{Completed: quantile.Union{sampleOf(1, 2, 3)}, CutAt: quantile.Union{sampleOf(4)}}, "0.99", true},
		{"all cut", quantile.Observed{CutAt: quantile.Union{sampleOf(4, 4)}}, "0.5", true},
		{"all cut, at unknown times", quantile.Observed{CutSeen: quantile.Union{sampleOf(4, 4)}}, "0.5", false},
	} {
		e := estimatesOf(c.o, c.p)[0]
		if (e != nil) != c.want {
			t.Errorf("%s: %+v", c.name, e)
		}
		if e != nil && (e.Passed() || e.Fitted || e.Bound != nil) {
			t.Errorf("%s: %+v from hardly any values", c.name, e)
		}
	}
}

// Many complete just behind the first cuts, so that a quantile is hidden which the
// generalised Pareto tail does not reach down to.
func TestAQuantileBelowTheThresholdNeedsNoModel(t *testing.T) {
	done, cut := new(quantile.Sample), new(quantile.Sample)
	for i := range int64(880) {
		done.Add(i * 1.1e6)
	}
	for i := range int64(120) {
		done.Add(981e6 + i*150e3)
	}
	cut.AddN(980e6, 3)
	e := estimatesOf(quantile.Observed{Completed: quantile.Union{done}, CutAt: quantile.Union{cut}}, "0.885", "0.95")
	if e[0] != nil {
		t.Errorf("p88.5 lies below the threshold, yet %+v", e[0])
	}
	if e[1] == nil || !e[1].Passed() {
		t.Errorf("p95: %+v", e[1])
	}
}

func TestCompletedValuesBeyondTheCutsAreAnotherWall(t *testing.T) {
	for _, c := range []struct {
		slowest int64
		groups  int
	}{{100e6, 1}, {102e6, 1}, {103e6, 2}, {3e9, 2}} {
		got := censoringOf(quantile.Observed{Completed: quantile.Union{sampleOf(1e6, c.slowest)}, CutAt: quantile.Union{sampleOf(99e6, 100e6)}}, c.slowest)
		if got.groups != c.groups || got.wall != 100e6 {
			t.Errorf("slowest %d: %+v", c.slowest, got)
		}
	}
}

func TestScatteredCutsAreSeveralWalls(t *testing.T) {
	for _, c := range []struct {
		cuts   []int64
		groups int
	}{
		{nil, 0}, {[]int64{5e9}, 1}, {[]int64{5e9, 5.05e9}, 1}, {[]int64{5e9, 5.7e9}, 1}, {[]int64{5e9, 6e9}, 2}, {[]int64{0, 0, 1}, 2},
		{[]int64{5e9, 5.09e9, 5.18e9, 5.27e9, 5.36e9, 5.45e9, 5.54e9, 5.63e9, 5.72e9, 5.8e9}, 2}, // close, yet too wide for a wall
	} {
		if got := censoringOf(quantile.Observed{CutSeen: quantile.Union{sampleOf(c.cuts...)}}, 0); got.groups != c.groups {
			t.Errorf("%v: %+v", c.cuts, got)
		}
	}
}

// hop is a lognormal one with a wall, as values.
func hopWithWall(seed uint64, n int, wall float64) (done, cut []int64) {
	r := rand.New(rand.NewPCG(seed, 9))
	for range n {
		v := 2e8 * math.Exp(.8*r.NormFloat64())
		if v < wall {
			done = append(done, int64(v))
		} else {
			cut = append(cut, int64(wall))
		}
	}
	return done, cut
}

func TestEstimatesAreTheSameForAnySplitAndOrder(t *testing.T) {
	t.Parallel()
	for seed, n := range map[uint64]int{1: 400, 2: 3000, 3: 60_000} {
		done, cut := hopWithWall(seed, n, 8e8)
		whole := quantile.Observed{Completed: quantile.Union{sampleOf(done...)}, CutAt: quantile.Union{sampleOf(cut...)}}
		want := estimatesOf(whole, "0.97", "0.99", "0.999")
		if want[1] == nil {
			t.Fatalf("seed %d: no estimate to compare", seed)
		}
		r := rand.New(rand.NewPCG(seed, 10))
		r.Shuffle(len(done), func(i, j int) { done[i], done[j] = done[j], done[i] })
		at := r.IntN(len(done))
		merged, from := sampleOf(done[:at/2]...), sampleOf(done[at/2:at]...)
		merged.Merge(from)
		split := quantile.Observed{Completed: quantile.Union{merged, nil, sampleOf(done[at:]...)}, CutAt: quantile.Union{sampleOf(cut[:3]...), sampleOf(cut[3:]...)}}
		if diff := cmp.Diff(want, estimatesOf(split, "0.97", "0.99", "0.999")); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

func TestEstimatesFollowTheScale(t *testing.T) {
	t.Parallel()
	done, cut := hopWithWall(4, 3000, 8e8)
	scaled := func(by int64) quantile.Observed {
		a, b := new(quantile.Sample), new(quantile.Sample)
		for _, v := range done {
			a.Add(v * by)
		}
		for _, v := range cut {
			b.Add(v * by)
		}
		return quantile.Observed{Completed: quantile.Union{a}, CutAt: quantile.Union{b}}
	}
	want := estimatesOf(scaled(1), "0.97", "0.99")
	for _, by := range []int64{10, 7, 1000, 1_000_000_007} {
		for i, e := range estimatesOf(scaled(by), "0.97", "0.99") {
			if e.Passed() != want[i].Passed() || e.Value == nil {
				t.Fatalf("times %d: %+v, want %+v", by, e, want[i])
			}
			near(t, "value", float64(*e.Value), float64(by)*float64(*want[i].Value), 1.1e-5)
			near(t, "bound", float64(*e.Bound), float64(by)*float64(*want[i].Bound), 1.1e-5)
			near(t, "xi", e.Xi, want[i].Xi, 1e-6)
		}
	}
}

// Far more values than are kept one by one: bins change nothing that shows.
func TestBinsFitAsSingleValuesDo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		done, cut := hopWithWall(seed, 100_000, 1e9)
		completed, cuts := quantile.Union{sampleOf(done...)}, quantile.Union{sampleOf(cut...)}
		e := exceed(completed, cuts)
		single := e
		single.completed = nil
		w, _ := wholeOf(completed, cuts)
		plain := w
		var all []bin
		for v, c := range completed.All() {
			all = append(all, bin{first: v, count: c})
			if v > e.threshold {
				single.completed = append(single.completed, e.mass(bin{first: v, count: c}))
			}
		}
		if plain.completed = logMasses(all, w.mean, 1); len(e.completed) > 4500 || len(single.completed) < 7000 || len(w.completed) > 12_000 {
			t.Fatalf("%d and %d bins of %d and %d values", len(e.completed), len(w.completed), len(single.completed), len(plain.completed))
		}
		plain.logs = 0
		for _, m := range plain.completed {
			plain.logs += m.count * m.log
		}
		a, b := fitPareto(e), fitPareto(single)
		near(t, "xi", a.shape(), b.shape(), 1e-6)
		pairs := map[string][2]fitted{
			Pareto:    {a, b},
			Weibull:   {fitWeibull(w), fitWeibull(plain)},
			Lognormal: {fitLognormal(w), fitLognormal(plain)},
		}
		for name, m := range pairs {
			near(t, name, m[0].quantile(.01), m[1].quantile(.01), 1e-7)
			near(t, name+" bound", m[0].bound(.01), m[1].bound(.01), 1e-7)
		}
	}
}

// Whatever the values are, an estimate has numbers or none.
func TestEstimatesOfAnythingAreFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := anything(t)
		ps := []string{"0", "0.5", "0.9", "0.95", "0.999", "0.999999999", "1"}
		for _, e := range estimatesOf(o, ps...) {
			if e != nil {
				checkFinite(t, e)
			}
		}
	})
}

// anything has enough values to be fitted, of shapes that no service has.
func anything(t *rapid.T) quantile.Observed {
	shape := rapid.SampledFrom(slices.Sorted(func(yield func(string) bool) {
		for name := range durationtest.Generators {
			if !yield(name) {
				return
			}
		}
	})).Draw(t, "shape")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	wall := rapid.SampledFrom([]int64{0, 1, 10_000_000, 40_000_000, 1_000_000_000, math.MaxInt64 - 1, math.MaxInt64}).Draw(t, "wall")
	done, cut := new(quantile.Sample), new(quantile.Sample)
	for range rapid.IntRange(0, 1500).Draw(t, "n") {
		if v := durationtest.Generators[shape](r); v < wall {
			done.Add(v)
		} else {
			cut.Add(wall)
		}
	}
	done.AddN(wall, rapid.Uint64Range(0, 200).Draw(t, "at the wall"))
	cut.AddN(wall, rapid.SampledFrom([]uint64{0, 1, 3, 1 << 24}).Draw(t, "cuts"))
	if rapid.Bool().Draw(t, "known") {
		return quantile.Observed{Completed: quantile.Union{done}, CutAt: quantile.Union{cut}}
	}
	return quantile.Observed{Completed: quantile.Union{done}, CutSeen: quantile.Union{cut}}
}

func checkFinite(t *rapid.T, e *Estimate) {
	if math.IsNaN(e.F) || math.IsNaN(e.Xi) || math.IsInf(e.Xi, 0) || e.A2 != nil && (math.IsNaN(*e.A2) || math.IsInf(*e.A2, 0)) {
		t.Fatalf("%+v", e)
	}
	for _, j := range e.Gates {
		if math.IsNaN(j.Figure) || math.IsInf(j.Figure, 0) && (j.Passed && j.Gate != SeenNearWall || j.Gate != NotTooFar && j.Gate != SeenNearWall) {
			t.Fatalf("%+v", j)
		}
	}
	for _, v := range []*int64{e.Value, e.Bound} {
		if v != nil && (*v < 0 || !e.Passed()) {
			t.Fatalf("%+v", e)
		}
	}
	if e.Value != nil && e.Bound != nil && *e.Bound < *e.Value {
		t.Fatalf("bound %d below the value %d", *e.Bound, *e.Value)
	}
}

// The effect widens limits; models are asked all the same.
func TestAnEffectLeavesTheEstimate(t *testing.T) {
	done, cut := new(quantile.Sample), new(quantile.Sample)
	for i := range 2000 {
		if ns := int64(-1e8 * math.Log(1-(float64(i)+.5)/2000)); ns < 3e8 {
			done.Add(ns)
		} else {
			cut.Add(3e8)
		}
	}
	o := quantile.Observed{Completed: quantile.Union{done}, CutAt: quantile.Union{cut}}
	tails := o.Tails([]quantile.P{quantile.MustP("0.99")}, quantile.MustP("0.95"))
	o.Widen(&tails, []depend.Dependent{{Effect: depend.Effect{Hundredths: 400}}}, quantile.MustP("0.95"))
	if e := Estimates(o, tails.Tails)[0]; tails.Tails[0].Effective != 500 || e == nil || e.Bound == nil {
		t.Errorf("%+v, %+v", tails.Tails[0], e)
	}
}

func TestNanosecondsHaveSixDigits(t *testing.T) {
	for _, c := range []struct {
		f    float64
		up   bool
		want *int64
	}{
		{0, false, new(int64(0))}, {1.4, false, new(int64(1))}, {1.4, true, new(int64(2))},
		{123_456_499, false, new(int64(123_456_000))}, {123_456_500, false, new(int64(123_457_000))},
		{123_456_001, true, new(int64(123_457_000))}, {123_456_000, true, new(int64(123_456_000))},
		{999_999_900, true, new(int64(1_000_000_000))},
		{math.NaN(), true, nil}, {math.Inf(1), true, nil}, {-1, false, nil}, {1 << 62, false, nil},
	} {
		if got := nanoseconds(c.f, c.up); !equal(got, c.want) {
			t.Errorf("%v: %s, want %s", c.f, show(got), show(c.want))
		}
	}
}

func FuzzEstimates(f *testing.F) {
	f.Add(uint64(1), uint16(300), int64(8e8), uint8(3))
	f.Add(uint64(2), uint16(900), int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, wall int64, shape uint8) {
		names := []string{"constant", "uniform us", "lognormal ns", "ties", "huge", "whole range"}
		r, next := rand.New(rand.NewPCG(seed, 3)), durationtest.Generators[names[int(shape)%len(names)]]
		done, cut := new(quantile.Sample), new(quantile.Sample)
		for range n {
			if v := next(r); v < wall {
				done.Add(v)
			} else {
				cut.Add(max(0, wall))
			}
		}
		for _, e := range estimatesOf(quantile.Observed{Completed: quantile.Union{done}, CutSeen: quantile.Union{cut}}, "0.9", "0.99", "1") {
			if e != nil && e.Passed() != (len(e.Models) > 0) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func TestEstimateInJSONHasSixDigits(t *testing.T) {
	for f, want := range map[float64]string{.13524946789: "0.135249", 53: "53", math.Inf(1): "null", math.NaN(): "null", math.MaxFloat64: "1.79769e+308"} {
		if got, err := json.Marshal(sixDigits(f)); err != nil || string(got) != want {
			t.Errorf("%v: %s, %v, want %s", f, got, err, want)
		}
	}
}
