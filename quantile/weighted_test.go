package quantile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

// attempts are those of one weight, as plain values.
type attempts struct {
	weight               float64
	done, cutAt, cutSeen []int64
	repeat               int // each value so often
}

func (a attempts) observed() Observed {
	var o Observed
	for _, part := range []struct {
		into   *Union
		values []int64
	}{{&o.Completed, a.done}, {&o.CutAt, a.cutAt}, {&o.CutSeen, a.cutSeen}} {
		s := new(Sample)
		for _, v := range part.values {
			s.AddN(v, uint64(max(1, a.repeat)))
		}
		*part.into = Union{s}
	}
	return o
}

func classesOf(list []attempts) []Class {
	var classes []Class
	for _, a := range list {
		classes = append(classes, Class{a.weight, a.observed()})
	}
	return classes
}

// expanded is the sample in which every attempt comes as often as it weighs.
func expanded(list []attempts) Observed {
	var all Observed
	for _, a := range list {
		a.repeat = int(a.weight)
		o := a.observed()
		all.Completed = append(all.Completed, o.Completed...)
		all.CutAt = append(all.CutAt, o.CutAt...)
		all.CutSeen = append(all.CutSeen, o.CutSeen...)
	}
	return all
}

func drawAttempts(t *rapid.T, weights *rapid.Generator[float64]) []attempts {
	values := rapid.SliceOfN(rapid.Int64Range(0, 30), 0, 12)
	n := rapid.IntRange(1, 5).Draw(t, "classes")
	var list []attempts
	for range n {
		list = append(list, attempts{
			weight: weights.Draw(t, "weight"),
			done:   values.Draw(t, "done"), cutAt: values.Draw(t, "cut at"), cutSeen: values.Draw(t, "cut seen"),
		})
	}
	return list
}

var weightedPs = []P{MustP("0"), MustP("0.1"), MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.999"), MustP("1")}

// Whole weights are repetitions: value, status and share are those of the
// expanded sample, to the last digit.
func TestWholeWeightsAreRepetitions(t *testing.T) {
	whole := rapid.Map(rapid.IntRange(1, 40), func(n int) float64 { return float64(n) })
	rapid.Check(t, func(t *rapid.T) {
		list := drawAttempts(t, whole)
		want, got := expanded(list).Tails(weightedPs, MustP("0.95")), TailsByWeight(classesOf(list), weightedPs, MustP("0.95"))
		for i, w := range want.Tails {
			g := got.Tails.Tails[i]
			if g.Status != w.Status || g.Value != w.Value {
				t.Fatalf("%s: %s %d, want %s %d", w.P.Label(), g.Status, g.Value, w.Status, w.Value)
			}
		}
		if want.N > 0 && got.CutShare != float64(want.Cut)/float64(want.N) {
			t.Fatalf("share %v, want %d of %d", got.CutShare, want.Cut, want.N)
		}
	})
}

// One weight for all is none, whatever it is: the limits too.
func TestEqualWeightsGiveTheUnweightedTails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(1e-6, 1e6).Draw(t, "weight")
		list := drawAttempts(t, rapid.Just(weight))
		for i := range list {
			list[i].weight = 1
		}
		want := expanded(list).Tails(weightedPs, MustP("0.9"))
		for i := range list {
			list[i].weight = weight
		}
		got := TailsByWeight(classesOf(list), weightedPs, MustP("0.9"))
		if got.Effective != want.N {
			t.Fatalf("n_eff %d of %d equal attempts", got.Effective, want.N)
		}
		for i, w := range want.Tails {
			g := got.Tails.Tails[i]
			w.KM, w.Rank, w.Effective, w.IsMaximum = nil, g.Rank, g.Effective, g.IsMaximum
			if diff := cmp.Diff(w, g, cmp.Comparer(func(a, b P) bool { return a == b })); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", w.P.Label(), diff)
			}
		}
		if want.N == 0 {
			return
		}
		lower, upper := ClopperPearson(want.Cut, want.N, MustP("0.9"))
		certifiable := HighestCertifiable(want.N-want.Known, want.N, MustP("0.9"))
		if got.CutLower != lower || got.CutUpper != upper || got.Certifiable != certifiable {
			t.Fatalf("limits %v %v %v, want %v %v %v", got.CutLower, got.CutUpper, got.Certifiable, lower, upper, certifiable)
		}
	})
}

func text(t WeightedTails) string {
	s := fmt.Sprintf("%d %d %d %v %v %v %v\n", t.N, t.Cut, t.Effective, t.CutShare, t.CutLower, t.CutUpper, t.Certifiable)
	for _, q := range t.Tails.Tails {
		s += fmt.Sprintf("%s %s %d rank %d max %v %s %s\n", q.P, q.Status, q.Value, q.Rank, q.IsMaximum, pointed(q.Lower), pointed(q.Upper))
	}
	return s
}

func pointed(v *int64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// Any weights: the order of classes, and classes that share a weight, change
// nothing; quantiles rise with p and lie within their limits.
func TestWeightedTailsDependOnNoOrder(t *testing.T) {
	weights := rapid.SampledFrom([]float64{1, 1 / 0.3, 1 / 0.7, 1e-9, 12345.678, 1 / 0.001})
	rapid.Check(t, func(t *rapid.T) {
		list := drawAttempts(t, weights)
		want := TailsByWeight(classesOf(list), weightedPs, MustP("0.95"))
		for _, a := range list {
			if len(a.done) > 1 {
				list = append(list, attempts{weight: a.weight, done: a.done[1:]})
				list[slices.IndexFunc(list, func(b attempts) bool { return len(b.done) == len(a.done) && b.weight == a.weight })].done = a.done[:1]
				break
			}
		}
		total := 0
		for _, a := range list {
			total += len(a.done) + len(a.cutAt) + len(a.cutSeen)
		}
		shuffled := rapid.Permutation(list).Draw(t, "order")
		got := TailsByWeight(classesOf(shuffled), weightedPs, MustP("0.95"))
		if uint64(total) == want.N && text(got) != text(want) {
			t.Fatalf("got\n%swant\n%s", text(got), text(want))
		}
		checkOrder(t, want)
	})
}

func checkOrder(t *rapid.T, w WeightedTails) {
	if w.CutLower > w.CutShare || w.CutShare > w.CutUpper || w.Effective > w.N || w.N > 0 && w.Effective == 0 {
		t.Fatalf("share %v of %v to %v, n_eff %d of %d", w.CutShare, w.CutLower, w.CutUpper, w.Effective, w.N)
	}
	last := int64(-1)
	for _, q := range w.Tails.Tails {
		if q.Status == NoValue {
			continue
		}
		if q.Value < last || q.Lower != nil && *q.Lower > q.Value || q.Upper != nil && *q.Upper < q.Value {
			t.Fatalf("%s", text(w))
		}
		last = q.Value
	}
}

func TestWeightedByHand(t *testing.T) {
	// 10 fast ones stand for 100 each, 10 slow and kept ones for 1: of 1010 only
	// 10 are slow, so p99 is still fast (rank 1000 of 1010).
	fast, slow := new(Sample), new(Sample)
	fast.AddN(10, 10)
	slow.AddN(500, 10)
	got := TailsByWeight([]Class{{100, Observed{Completed: Union{fast}}}, {1, Observed{Completed: Union{slow}}}},
		[]P{MustP("0.5"), MustP("0.99"), MustP("0.995")}, MustP("0.95"))
	// (1010)^2 / (10 * 100^2 + 10) = 10.19
	want := "20 0 10 0 0 " + fmt.Sprint(upperOf(0, 10)) + " " + fmt.Sprint(1-upperOf(0, 10)) + "\n" +
		"0.5 exact 10 rank 1 max false 10 10\n0.99 exact 10 rank 1 max false 10 500\n0.995 exact 500 rank 11 max false 10 -\n"
	if diff := cmp.Diff(want, text(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Beyond p99's lower limit lie ten of weight 1, a share r of 10/1010: r (1-r) 1010^2 over
	// 10 (1-r)^2 + 10 100^2 r^2 is 510.05.
	if got.Tails.Tails[1].Size() != 510 || (Tail{N: 7}).Size() != 7 {
		t.Errorf("n_eff %d", got.Tails.Tails[1].Size())
	}
}

// Slow calls are kept one in thirty, the others all: the slow ones that were kept tell
// what is known of the tail, however many others there are.
func TestLimitsByWeightHoldWhereTheTailWeighsMore(t *testing.T) {
	if t.Parallel(); testing.Short() {
		t.Skip("hundreds of samples")
	}
	const runs = 200
	p99 := MustP("0.99")
	// 3 % are slow, lognormal; p99 is where a third of them lie beyond.
	truth := int64(1e9 * math.Exp(.4307273))
	held, said, asAll := 0, 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 3))
		fast, slow := new(Sample), new(Sample)
		for range 40_000 {
			switch {
			case r.Float64() >= .03:
				fast.Add(int64(1e6 * (1 + r.Float64())))
			case r.IntN(30) == 0:
				slow.Add(int64(1e9 * math.Exp(r.NormFloat64())))
			}
		}
		got := TailsByWeight([]Class{{1, Observed{Completed: Union{fast}}}, {30, Observed{Completed: Union{slow}}}}, []P{p99}, MustP("0.95"))
		q := got.Tails.Tails[0]
		if q.Upper == nil || *q.Upper >= truth {
			held++
		}
		if q.Upper != nil {
			said++
		}
		// As before, with n_eff of all.
		all := UpperRank(got.Effective, p99, MustP("0.95"))
		if share := float64(all) / float64(got.Effective); float64(slow.N())*30*share > 0 {
			rest := float64(slow.N()*30) - (1-share)*float64(slow.N()*30+fast.N())
			if slow := (Union{slow}); slow.At(uint64(math.Ceil(rest / 30)))[0] >= truth {
				asAll++
			}
		}
	}
	t.Logf("held in %d of %d, said in %d; with n_eff of all attempts in %d", held, runs, said, asAll)
	if held < runs*92/100 || said < runs*9/10 {
		t.Errorf("held in %d of %d, said in %d", held, runs, said)
	}
}

func upperOf(c, n uint64) float64 {
	_, upper := ClopperPearson(c, n, MustP("0.95"))
	return upper
}

func TestWeightedWithoutValues(t *testing.T) {
	ps := []P{MustP("0.5")}
	for name, classes := range map[string][]Class{"none": nil, "empty": {{2, Observed{}}, {3, Observed{}}}} {
		got := TailsByWeight(classes, ps, MustP("0.95"))
		if got.N != 0 || got.CutUpper != 1 || got.Tails.Tails[0].Status != NoValue {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := TailsByWeight([]Class{{2, Observed{CutSeen: Union{sampleOf(5)}}}, {1, Observed{CutSeen: Union{sampleOf(7)}}}}, ps, MustP("0.95"))
	if got.Tails.Tails[0].Status != NoValue || got.CutShare != 1 {
		t.Errorf("all cut: %+v", got)
	}
}

func TestUnitsKeepRatios(t *testing.T) {
	units := unitsOf([]float64{1, 3, 1000, 0.5})
	if units[1] != 3*units[0] || units[2] != 1000*units[0] || 2*units[3] != units[0] {
		t.Errorf("units %v", units)
	}
	if u := unitsOf([]float64{math.MaxFloat32, 1e-300}); u[1] != 1 || u[0] > 1<<unitBits {
		t.Errorf("units %v", u)
	}
}

func TestPortionIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sum{Hi: rapid.Uint64Max(1<<62).Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
		den := rapid.Uint64Range(1, 1<<62).Draw(t, "den")
		num := rapid.Uint64Max(den).Draw(t, "num")
		d := new(big.Int).SetUint64(den)
		want := new(big.Int).Mul(s.Big(), new(big.Int).SetUint64(num))
		want.Add(want, new(big.Int).Sub(d, big.NewInt(1))).Div(want, d)
		if want.Sign() == 0 {
			want.SetInt64(1)
		}
		if got := s.Portion(num, den).Big(); got.Cmp(want) != 0 {
			t.Fatalf("%v %d/%d = %v, want %v", s, num, den, got, want)
		}
	})
}

func BenchmarkTailsByWeight(b *testing.B) {
	var classes []Class
	for i := range 4 {
		classes = append(classes, Class{math.Pow(10, float64(i)), Observed{Completed: Union{sampleOf(durationtest.LognormalMicroseconds(250_000)...)}}})
	}
	for b.Loop() {
		TailsByWeight(classes, weightedPs, MustP("0.95"))
	}
}
