package quantile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

// kmOf is the Kaplan-Meier quantile of Tails.
func kmOf(completed, cut Union, p P) (value int64, ok bool) {
	q := Observed{Completed: completed, CutSeen: cut}.Tails([]P{p}, MustP("0.95")).Tails[0].KM
	if q == nil {
		return 0, false
	}
	return *q, true
}

// Ten durations of 1..10: 4 is the one cut.
//
//	t   1    2    3    4cut 5     6     7     ...
//	S   .9   .8   .7   .7   .583  .467  .35
func TestQuantileSkipsTheCutOne(t *testing.T) {
	done, cut := Union{sampleOf(1, 2, 3, 5, 6, 7, 8, 9, 10)}, Union{sampleOf(4)}
	for p, want := range map[string]int64{"0": 1, "0.1": 1, "0.3": 3, "0.31": 5, "0.5": 6, "0.6": 7, "0.65": 7, "0.66": 8, "1": 10} {
		if got, ok := kmOf(done, cut, MustP(p)); !ok || got != want {
			t.Errorf("p=%s: %d %v, want %d", p, got, ok, want)
		}
	}
}

func TestWithoutCutsTheQuantileIsTheNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 300).Draw(t, "values")
		i := rapid.IntRange(0, 1000).Draw(t, "p")
		got, ok := kmOf(Union{sampleOf(values...)}, nil, perMille(i))
		if want := durationtest.OracleOf(values).Quantile(i); !ok || got != want {
			t.Fatalf("p=%d/1000: %d %v, want %d", i, got, ok, want)
		}
	})
}

// simpleKM is the textbook product over sorted slices.
func simpleKM(completed, cut []int64) (times []int64, survival []float64) {
	risk, s := float64(len(completed)+len(cut)), 1.0
	count := func(values []int64, t int64) (n float64) {
		for _, v := range values {
			if v == t {
				n++
			}
		}
		return n
	}
	for _, t := range durationtest.OracleOf(append(append([]int64(nil), completed...), cut...)).Tallies() {
		d := count(completed, t.Value)
		s *= (risk - d) / risk
		risk -= d + count(cut, t.Value)
		times, survival = append(times, t.Value), append(survival, s)
	}
	return times, survival
}

func TestCurveEqualsTheTextbookProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 80)
		completed, cut := values.Draw(t, "completed"), values.Draw(t, "cut")
		times, survival := simpleKM(completed, cut)
		i, last := 0, 1.0
		for s := range KMBeyond(Union{sampleOf(completed...)}, Union{sampleOf(cut...)}, -1) {
			if s.Time != times[i] || math.Abs(s.Survival-survival[i]) > 1e-12 || s.Survival > last {
				t.Fatalf("step %d is %+v, want %d %v", i, s, times[i], survival[i])
			}
			last = s.Survival
			i++
		}
		if i != len(times) {
			t.Fatalf("%d steps, want %d", i, len(times))
		}
	})
}

func TestCurveCanBeLeftEarly(t *testing.T) {
	for s := range KMBeyond(Union{sampleOf(1, 2, 3)}, nil, -1) {
		if s.Time != 1 {
			t.Fatalf("went on to %d", s.Time)
		}
		break
	}
}

// Two callers with walls of 1 s and 3 s; the slow calls belong to the second
// caller only. Pooled, the curve takes the first caller's cuts as fast ones.
func TestStrataAreIdentifiedUpToTheFirstStop(t *testing.T) {
	fast := Stratum{Union{sampleOf(100, 200, 300, 400)}, nil}                // reaches 0 at 400
	slow := Stratum{Union{sampleOf(500, 1000, 2000)}, Union{sampleOf(3000)}} // stops at 3000
	cutAt600 := Stratum{Union{sampleOf(100, 200, 500)}, Union{sampleOf(600)}}
	for _, c := range []struct {
		name   string
		strata []Stratum
		p      string
		want   int64 // 0: not identified
	}{
		{"a curve at 0 stays there", []Stratum{fast, slow}, "0.5", 400},
		{"the second curve goes on", []Stratum{fast, slow}, "0.75", 1000},
		{"up to its last completion", []Stratum{fast, slow}, "0.875", 2000},
		{"not beyond the stop", []Stratum{fast, slow}, "0.9", 0},
		{"a stop ends the sum", []Stratum{cutAt600, slow}, "0.5", 500},
		{"even where the other goes on", []Stratum{cutAt600, slow}, "0.625", 0},
		{"before the first cut by rank", []Stratum{cutAt600, fast}, "0.25", 100},
		{"empty strata weigh nothing", []Stratum{{}, fast, {nil, Union{nil}}}, "1", 400},
		{"no strata", nil, "0.5", 0},
	} {
		got, ok := StratifiedKMQuantile(c.strata, MustP(c.p))
		if ok != (c.want > 0) || got != c.want {
			t.Errorf("%s: %d %v, want %d", c.name, got, ok, c.want)
		}
	}
}

// A completion at the very time a curve stops still counts.
func TestStrataCountCompletionsAtTheStop(t *testing.T) {
	a := Stratum{Union{sampleOf(50)}, Union{sampleOf(100)}}
	b := Stratum{Union{sampleOf(100, 100)}, nil}
	if got, ok := StratifiedKMQuantile([]Stratum{a, b}, MustP("0.75")); !ok || got != 100 {
		t.Errorf("%d %v, want 100", got, ok)
	}
}

// Callers with exponential calls of mean 0.3 s cut at 1 s, and of mean 1 s
// cut at 3 s. The pooled curve overstates the p90, the strata do not.
func TestStrataCorrectWhatPoolingOverstates(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	var quick, slow Stratum
	truth := new(Sample)
	for _, g := range []struct {
		s          *Stratum
		mean, wall float64
	}{{&quick, .3e9, .4e9}, {&slow, 1e9, 3e9}} {
		done, cut := new(Sample), new(Sample)
		for range 20_000 {
			v := r.ExpFloat64() * g.mean
			truth.Add(int64(v))
			if v > g.wall {
				cut.Add(int64(g.wall))
			} else {
				done.Add(int64(v))
			}
		}
		*g.s = Stratum{Union{done}, Union{cut}}
	}
	p := MustP("0.4")
	want := Summarize(Union{truth}, []P{p}).Quantiles[0]
	got, ok := StratifiedKMQuantile([]Stratum{quick, slow}, p)
	if !ok || math.Abs(float64(got)/float64(want)-1) > .03 {
		t.Errorf("strata say %d %v, the truth is %d", got, ok, want)
	}
	if _, ok := StratifiedKMQuantile([]Stratum{quick, slow}, MustP("0.9")); ok {
		t.Error("a quantile beyond the shorter wall is not identified")
	}
	tail := MustP("0.9")
	want = Summarize(Union{truth}, []P{tail}).Quantiles[0]
	pooled, _ := kmOf(append(quick.Completed, slow.Completed...), append(quick.Cut, slow.Cut...), tail)
	if float64(pooled) < 1.1*float64(want) {
		t.Errorf("pooled %d, truth %d: this world no longer shows the bias", pooled, want)
	}
}
