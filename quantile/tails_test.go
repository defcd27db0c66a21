package quantile

import (
	"fmt"
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
		{"an unknown cut stands 30 % below what is logged where one outlasted it", Observed{Completed: Union{sampleOf(1, 50, 90)}, CutSeen: Union{sampleOf(52)}}, "0.5", AtLeast, 40},
		{"and at the slowest below it where none did", Observed{Completed: Union{sampleOf(1, 50, 51)}, CutSeen: Union{sampleOf(52)}}, "1", AtLeast, 51},
		{"and nowhere above the slowest below it", Observed{Completed: Union{sampleOf(1, 2, 90)}, CutSeen: Union{sampleOf(52)}}, "0.75", AtLeast, 2},
		{"one that is known stands at its timeout", Observed{Completed: Union{sampleOf(1, 2, 9)}, CutAt: Union{sampleOf(6)}, CutSeen: Union{sampleOf(20)}}, "0.6", AtLeast, 6},
		{"each unknown cut stands for itself", Observed{Completed: Union{sampleOf(10, 20, 30, 40)}, CutSeen: Union{sampleOf(11, 39)}}, "0.5", AtLeast, 20},
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
	want := Tails{N: 8, Cut: 4, FirstCut: new(int64(4)), Known: 4, CutMin: new(int64(4)), CutMax: new(int64(30)), Tails: []Tail{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Tails{Tails: []Tail{}}, Observed{}.Tails(nil, ninetyFive)); diff != "" {
		t.Error(diff)
	}
}

// 59 completions are the fewest that bound a p95; one more attempt that is not known from
// above takes the bound away.
func TestUpperLimitNeedsAttemptsKnownFromAbove(t *testing.T) {
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

// One page that was closed early hides one value of 5001, not all of them.
func TestAnEarlyCutOfUnknownTimeoutCostsNoMoreThanItself(t *testing.T) {
	var done Sample
	for ms := int64(2); ms < 5002; ms++ {
		done.Add(ms)
	}
	o := Observed{Completed: Union{&done}, CutSeen: Union{sampleOf(1)}}
	var got []string
	for _, q := range o.Tails([]P{MustP("0.5"), MustP("0.99"), MustP("0.999"), MustP("0.9999")}, ninetyFive).Tails {
		got = append(got, fmt.Sprintf("%s %d %s %s %s", q.Status, q.Value, show(q.AtMost), show(q.Lower), show(q.Upper)))
	}
	want := []string{"at_least 2501 2502 2442 2561", "at_least 4951 4952 4939 4964", "at_least 4996 4997 4992 5001", "at_least 5001 none 4999 none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsCountTheFailuresThatMayHideSlowerAttempts(t *testing.T) {
	var done Sample
	for v := int64(1); v <= 1000; v++ {
		done.Add(v * 10)
	}
	for _, c := range []struct {
		name   string
		failed []int64
		upper  string
	}{
		{"none", nil, "9960"},
		{"as fast as the fast ones", []int64{5, 5, 5, 5, 5, 5}, "9960"},
		{"30 % below the limit", []int64{7661, 7661, 7661}, "9960"},
		{"not quite", []int64{7662, 7663, 7664}, "9970"},
		{"too many", []int64{9000, 9000, 9000, 9000, 9000, 9000, 9000}, "none"},
	} {
		q := Observed{Completed: Union{&done}, Failed: Union{sampleOf(c.failed...)}}.Tails([]P{MustP("0.99")}, ninetyFive).Tails[0]
		if show(q.Upper) != c.upper || q.Status != Exact || q.Value != 9900 {
			t.Errorf("%s: %s %d, upper %s, want %s", c.name, q.Status, q.Value, show(q.Upper), c.upper)
		}
	}
}

func TestLimitsAreWidenedByTheStepOfAClockThatIsCoarse(t *testing.T) {
	var done Sample
	for v := int64(1); v <= 400; v++ {
		done.Add(v * 1000)
	}
	for step, want := range map[int64]string{0: "392000 396000 400000", 1: "392000 396000 400000", 391: "392000 396000 400000", 392: "391608 396000 400000", 400: "391600 396000 400400", 1000: "391000 396000 401000", 1e9: "0 396000 1000400000"} {
		q := Observed{Completed: Union{&done}, Step: step}.Tails([]P{MustP("0.99")}, ninetyFive).Tails[0]
		if got := fmt.Sprint(*q.Lower, " ", q.Value, " ", *q.Upper); got != want {
			t.Errorf("a step of %d: %s, want %s", step, got, want)
		}
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

// endsOf are the lower and the upper ends of Tails written out as slices.
func endsOf(completed, cutAt, cutSeen []int64) (lower, upper durationtest.Oracle) {
	values := append(append([]int64(nil), completed...), cutAt...)
	for _, d := range cutSeen {
		below, slowest := int64(0), int64(-1)
		for _, v := range completed {
			slowest = max(slowest, v)
			if v < d {
				below = max(below, v)
			}
		}
		if slowest >= d {
			below = min(below, d*10/13)
		}
		values = append(values, below)
	}
	return durationtest.OracleOf(values), durationtest.OracleOf(append([]int64(nil), completed...))
}

// atOrAbove is the smallest completed value with as many of them at or below it as the
// upper limit of n and of the failures that may lie above it asks for; nil for none.
func atOrAbove(upper durationtest.Oracle, n int, failed []int64, p, confidence P) *int64 {
	for i, x := range upper {
		hidden := 0
		for _, d := range failed {
			if d*13 >= x*10 {
				hidden++
			}
		}
		if uint64(i+1) >= UpperRank(uint64(n+hidden), p, confidence) {
			return &upper[i]
		}
	}
	return nil
}

func TestTailsEqualTheEndsWrittenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 30), 0, 60)
		completed, cutAt, cutSeen, failed := values.Draw(t, "completed"), values.Draw(t, "cut at"), values.Draw(t, "cut seen"), values.Draw(t, "failed")
		i, confidence := rapid.IntRange(0, 1000).Draw(t, "p"), MustP("0.8")
		o := Observed{Completed: Union{sampleOf(completed...)}, CutAt: Union{sampleOf(cutAt...)}, CutSeen: Union{sampleOf(cutSeen...)}, Failed: Union{sampleOf(failed...)}}
		got := o.Tails([]P{perMille(i), ninetyFive}, confidence).Tails[0]
		lower, upper := endsOf(completed, cutAt, cutSeen)
		if len(completed) == 0 && len(cutAt) == 0 {
			if got.Status != NoValue || got.Lower != nil || got.Upper != nil || got.AtMost != nil {
				t.Fatalf("%+v of nothing", got)
			}
			return
		}
		var most *int64
		if got.Rank <= uint64(len(upper)) {
			most = &upper[got.Rank-1]
		}
		low := lower.Quantile(i)
		if exact := most != nil && *most == low; got.Value != low || (got.Status == Exact) != exact || !exact && show(got.AtMost) != show(most) || exact && got.AtMost != nil {
			t.Fatalf("%s %d at most %s, want %d to %s", got.Status, got.Value, show(got.AtMost), low, show(most))
		}
		if (got.Lower != nil) != (got.LowerRank > 0) || got.Lower != nil && *got.Lower != lower[got.LowerRank-1] {
			t.Fatalf("lower %s at %d", show(got.Lower), got.LowerRank)
		}
		if want := atOrAbove(upper, len(lower), failed, perMille(i), confidence); show(got.Upper) != show(want) {
			t.Fatalf("upper %s, want %s", show(got.Upper), show(want))
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
		for i, q := range (Observed{Completed: Union{done}, CutAt: Union{at}, CutSeen: Union{seen}}).Tails(ps, ninetyFive).Tails {
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
