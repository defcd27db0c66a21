package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// lognormalWith draws n durations in ns, a share of which ended at 3 s, logged up to 0.3 %
// late.
func lognormalWith(r *rand.Rand, n int, piled float64) *Sample {
	s := new(Sample)
	for range n {
		v := int64(100e6 * math.Exp(r.NormFloat64()))
		if r.Float64() < piled {
			v = 3e9 + r.Int64N(10e6)
		}
		s.Add(v)
	}
	return s
}

func TestPileUpsAreFoundAndSmoothTailsAreNot(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		share     float64
		least, at int // of 100
	}{
		{"clean, few", 300, 0, 0, 3}, {"clean", 3000, 0, 0, 3}, {"clean, many", 20_000, 0, 0, 3},
		{"0.4 %", 3000, .004, 85, 100}, {"1 %", 3000, .01, 99, 100}, {"5 %", 3000, .05, 99, 100},
	} {
		found := 0
		for seed := range uint64(100) {
			s := lognormalWith(rand.New(rand.NewPCG(seed, 5)), c.n, c.share)
			if pile, ok := FindPileUp(Union{s}, 1, MustP("0.999")); ok {
				found++
				if c.share > 0 && (pile.From < 2.9e9 || pile.From > 3.01e9) {
					t.Errorf("%s: %+v", c.name, pile)
				}
			}
		}
		if found < c.least || found > c.at {
			t.Errorf("%s: found in %d of 100", c.name, found)
		}
	}
}

func TestPileUpsThatCannotBeTold(t *testing.T) {
	uniform := func(more int64, at int64) *Sample {
		s := new(Sample)
		for i := range int64(3000) {
			s.Add(1e6 + i*1e5)
		}
		s.AddN(at, uint64(more))
		return s
	}
	narrow := new(Sample)
	narrow.AddN(20e6, 3920)
	narrow.AddN(500e6, 80)
	for _, c := range []struct {
		name   string
		values *Sample
		step   int64
		want   PileUp
	}{
		{"nothing", new(Sample), 1, PileUp{}},
		{"uniform", uniform(0, 0), 1e5, PileUp{}},
		{"two lie by chance", uniform(2, 2e9), 1e5, PileUp{}},
		{"at the top", uniform(150, 2e9), 1e5, PileUp{2e9, 2_020_000_000, 150}},
		{"below the top", uniform(150, 290e6), 1e5, PileUp{290e6, 292_900_000, 180}},
		{"a body as narrow", narrow, 1, PileUp{}},
		{"a clock as coarse", uniform(150, 2e9), 1e9, PileUp{}},
	} {
		got, found := FindPileUp(Union{c.values}, c.step, MustP("0.999"))
		if !found {
			got = PileUp{}
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestAPileUpIsInTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 5000), 0, 200).Draw(t, "values")
		s := sampleOf(values...)
		s.AddN(rapid.Int64Range(0, math.MaxInt64).Draw(t, "pile"), rapid.Uint64Range(0, 100).Draw(t, "piled"))
		pile, found := FindPileUp(Union{s}, rapid.Int64Range(0, 100).Draw(t, "step"), MustP("0.99"))
		if inside := s.N() - (Union{s}).UpTo(pile.From-1) - (s.N() - (Union{s}).UpTo(pile.To)); found && inside != pile.N {
			t.Fatalf("%+v holds %d", pile, inside)
		}
	})
}

// eachWindow is inside by the rule itself: every window beyond p90, over a sorted slice.
func eachWindow(s *pileSearch, sorted []int64, p P) (most PileUp, found bool) {
	between := func(from, to int64) (n uint64) {
		for _, v := range sorted {
			if v >= from && v <= to {
				n++
			}
		}
		return n
	}
	num, den := p.Fraction()
	fewest := max(fewestPiled, float64(s.n)*float64(den-num)/float64(den)/5)
	for _, v := range sorted[s.n*9/10:] {
		from := share(v, 105)
		w := s.window(v, between(v, hundredthUp(v)), between(from, v-1), from)
		if float64(w.count) >= fewest && w.count > most.N && s.fits(v) && w.dense() && w.chance() <= insideLevel {
			most, found = w.pileUp(), true
		}
	}
	return most, found
}

func TestNoWindowIsPassedOver(t *testing.T) {
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) // draws of rapid's own are mostly small
		scale := rapid.SampledFrom([]int64{1, 50, 1e3, 1e6, math.MaxInt64 / 50_000}).Draw(t, "scale")
		values := rapid.SliceOfN(rapid.Int64Range(0, 40_000), 1, 20).Draw(t, "values")
		for range r.IntN(300) {
			values = append(values, r.Int64N(40_000))
		}
		for range r.IntN(4) {
			at := 5_000 + r.Int64N(44_000)
			for i := range 1 + r.Int64N(40) {
				values = append(values, at+i*at/6000)
			}
		}
		for i := range values {
			values[i] *= scale
		}
		slices.Sort(values)
		s := newPileSearch(Union{sampleOf(values...)}, rapid.SampledFrom([]int64{1, 7, scale, 20 * scale}).Draw(t, "step"))
		s.median, s.p90, s.largest = values[(len(values)-1)/2], values[len(values)*9/10], values[len(values)-1]
		p := MustP(rapid.SampledFrom([]string{"0.5", "0.9", "0.99", "0.999"}).Draw(t, "p"))
		got, found := s.inside(p)
		want, ok := eachWindow(s, values, p)
		if seen[found]++; found != ok || got != want {
			t.Fatalf("%+v, %t; want %+v, %t", got, found, want, ok)
		}
	})
	if !t.Failed() && !testing.Short() && (seen[true] == 0 || seen[false] == 0) { // few draws may all be of one kind
		t.Errorf("found or not: %v", seen)
	}
}
