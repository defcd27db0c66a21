package quantile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

func TestStatusNames(t *testing.T) {
	for s, want := range map[Status]string{NoValue: "no_value", Exact: "exact", AtLeast: "at_least", 99: "no_value"} {
		if s.String() != want {
			t.Errorf("%d is %s", s, s)
		}
	}
}

func TestTailsOfSmallHops(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Observed
		p      string
		status Status
		value  int64
	}{
		{"nothing at all", Observed{}, "0.5", NoValue, 0},
		{"only cuts without a timeout", Observed{CutSeen: Union{sampleOf(5)}}, "0.5", NoValue, 0},
		{"only cuts with a timeout", Observed{CutAt: Union{sampleOf(5, 5)}}, "0.5", AtLeast, 5},
		{"the same and one without", Observed{CutAt: Union{sampleOf(5, 5)}, CutSeen: Union{sampleOf(9)}}, "0", AtLeast, 0},
		{"nothing was cut", Observed{Completed: Union{sampleOf(1, 2, 3)}}, "1", Exact, 3},
		{"below the first cut", Observed{Completed: Union{sampleOf(1, 2, 3)}, CutSeen: Union{sampleOf(4)}}, "0.75", Exact, 3},
		{"at the cut", Observed{Completed: Union{sampleOf(1, 2, 3)}, CutSeen: Union{sampleOf(4)}}, "1", AtLeast, 3},
		{"at the cut, timeout known", Observed{Completed: Union{sampleOf(1, 2, 3)}, CutAt: Union{sampleOf(4)}}, "1", AtLeast, 4},
		{"a completion ties with the first cut", Observed{Completed: Union{sampleOf(1, 4)}, CutAt: Union{sampleOf(4)}}, "0.6", Exact, 4},
		{"all completed after the cut", Observed{Completed: Union{sampleOf(7, 8)}, CutSeen: Union{sampleOf(4)}}, "0.3", AtLeast, 0},
		{"all completed after the cut, higher", Observed{Completed: Union{sampleOf(7, 8)}, CutSeen: Union{sampleOf(4)}}, "0.5", AtLeast, 7},
		{"unknown cuts stand below known ones", Observed{Completed: Union{sampleOf(1, 2, 9)}, CutAt: Union{sampleOf(6)}, CutSeen: Union{sampleOf(5, 20)}}, "0.6", AtLeast, 2},
		{"and the rest follows", Observed{Completed: Union{sampleOf(1, 2, 9)}, CutAt: Union{sampleOf(6)}, CutSeen: Union{sampleOf(5, 20)}}, "0.8", AtLeast, 6},
		{"up to the last", Observed{Completed: Union{sampleOf(1, 2, 9)}, CutAt: Union{sampleOf(6)}, CutSeen: Union{sampleOf(5, 20)}}, "1", AtLeast, 9},
	} {
		got := c.o.Tails([]P{MustP(c.p)}, ninetyFive).Tails[0]
		if got.Status != c.status || got.Value != c.value {
			t.Errorf("%s: %s %d, want %s %d", c.name, got.Status, got.Value, c.status, c.value)
		}
	}
}

func TestTailsShareWhatWasCut(t *testing.T) {
	o := Observed{Completed: Union{sampleOf(1, 2, 2, 9)}, CutAt: Union{sampleOf(5, 6)}, CutSeen: Union{nil, sampleOf(4, 30)}}
	got := o.Tails(nil, ninetyFive)
	want := Tails{N: 8, Cut: 4, FirstCut: new(int64(4)), Below: 3, SlowestBelow: new(int64(2)), CutMin: new(int64(4)), CutMax: new(int64(30)), Tails: []Tail{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Tails{Tails: []Tail{}}, Observed{}.Tails(nil, ninetyFive)); diff != "" {
		t.Error(diff)
	}
}

// 59 completions are the fewest that bound a p95; a cut takes the bound away.
func TestUpperLimitNeedsCompletionsBelowTheFirstCut(t *testing.T) {
	s := new(Sample)
	for i := range int64(59) {
		s.Add(i + 1)
	}
	q := Observed{Completed: Union{s}}.Tails([]P{MustP("0.95")}, ninetyFive).Tails[0]
	want := Tail{P: MustP("0.95"), N: 59, Rank: 57, Status: Exact, Value: 57, Lower: new(int64(53)), Upper: new(int64(59)), LowerRank: 53, UpperRank: 59, KM: new(int64(57))}
	if diff := cmp.Diff(want, q, cmp.AllowUnexported(P{})); diff != "" {
		t.Error(diff)
	}
	cut := Observed{Completed: Union{s}, CutAt: Union{sampleOf(58)}}
	if q := cut.Tails([]P{MustP("0.95")}, ninetyFive).Tails[0]; q.Upper != nil {
		t.Errorf("upper %d in spite of the cut", *q.Upper)
	}
}

func TestRankIsTheMaximumWhereLessThanOneValueLiesBeyond(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    string
		want bool
	}{{60, "0.999", true}, {999, "0.999", true}, {1000, "0.999", false}, {19, "0.95", true}, {20, "0.95", false}, {5, "1", true}, {1, "0", false}} {
		var s Sample
		s.AddN(7, c.n)
		if got := (Observed{Completed: Union{&s}}).Tails([]P{MustP(c.p)}, ninetyFive).Tails[0].IsMaximum; got != c.want {
			t.Errorf("n=%d p=%s: %v", c.n, c.p, got)
		}
	}
}

// provenOrder is the ordering of Tails written out as a slice.
func provenOrder(completed, cutAt, cutSeen []int64) (order durationtest.Oracle, below int) {
	first := int64(math.MaxInt64)
	for _, v := range append(append([]int64(nil), cutAt...), cutSeen...) {
		first = min(first, v)
	}
	floor := int64(0)
	for _, v := range completed {
		if v <= first {
			below++
			floor = max(floor, v)
		}
	}
	values := append(append([]int64(nil), completed...), cutAt...)
	for range cutSeen {
		values = append(values, floor)
	}
	return durationtest.OracleOf(values), below
}

func TestTailsEqualTheOrderingWrittenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 30), 0, 60)
		completed, cutAt, cutSeen := values.Draw(t, "completed"), values.Draw(t, "cut at"), values.Draw(t, "cut seen")
		i := rapid.IntRange(0, 1000).Draw(t, "p")
		o := Observed{Union{sampleOf(completed...)}, Union{sampleOf(cutAt...)}, Union{sampleOf(cutSeen...)}}
		got := o.Tails([]P{perMille(i), ninetyFive}, MustP("0.8")).Tails[0]
		order, below := provenOrder(completed, cutAt, cutSeen)
		if len(completed) == 0 && len(cutAt) == 0 {
			if got.Status != NoValue || got.Lower != nil || got.Upper != nil {
				t.Fatalf("%+v of nothing", got)
			}
			return
		}
		if want := order.Quantile(i); got.Value != want || (got.Status == Exact) != (got.Rank <= uint64(below)) {
			t.Fatalf("%+v, want %d with %d below", got, want, below)
		}
		if (got.Lower != nil) != (got.LowerRank > 0) || got.Lower != nil && *got.Lower != order[got.LowerRank-1] {
			t.Fatalf("lower %s at %d", show(got.Lower), got.LowerRank)
		}
		if (got.Upper != nil) != (got.UpperRank <= uint64(below)) || got.Upper != nil && *got.Upper != order[got.UpperRank-1] {
			t.Fatalf("upper %s at %d", show(got.Upper), got.UpperRank)
		}
	})
}

// Callers with walls of 1 s and 3 s, known or not, pooled: what is said to be
// "at least" never exceeds the value that the uncut durations have. In worlds
// with one wall, cuts without a known timeout are recorded late as well.
func TestAtLeastNeverExceedsTheTruth(t *testing.T) {
	ps := []P{MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.99")}
	atLeast := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 77))
		truth, done, at, seen := new(Sample), new(Sample), new(Sample), new(Sample)
		median, known, oneWall := .2+1.5*r.Float64(), r.Float64(), seed%2 == 0
		for range 20 + r.IntN(200) {
			v := int64(median * 1e9 * math.Exp(r.NormFloat64()))
			wall := int64(1e9)
			if !oneWall && r.IntN(2) == 0 {
				wall = 3e9
			}
			truth.Add(v)
			switch {
			case v <= wall:
				done.Add(v)
			case r.Float64() < known:
				at.Add(wall)
			case oneWall:
				seen.Add(wall + r.Int64N(1e9))
			default:
				seen.Add(wall)
			}
		}
		want := Summarize(Union{truth}, ps).Quantiles
		for i, q := range (Observed{Union{done}, Union{at}, Union{seen}}).Tails(ps, ninetyFive).Tails {
			if q.Status == AtLeast {
				atLeast++
			}
			if q.Status != NoValue && q.Value > want[i] || q.Status == Exact && q.Value != want[i] {
				t.Fatalf("seed %d %s: %s %d, truth %d", seed, q.P.Label(), q.Status, q.Value, want[i])
			}
		}
	}
	if atLeast < 500 {
		t.Errorf("only %d values were cut: the worlds are too kind", atLeast)
	}
}
