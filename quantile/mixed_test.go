package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

// mixedSample is a sample whose values lie in pages, in runs and in neither.
func mixedSample(t *rapid.T) (*Sample, durationtest.Multiset) {
	s, m := new(Sample), durationtest.Multiset{}
	add := func(v int64, n uint64) {
		s.AddN(v, n)
		m[v] += n
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		switch v := mixedDurations.Draw(t, "value"); rapid.IntRange(0, 6).Draw(t, "step") {
		case 0:
			for range 5000 { // more than wait before they are sorted
				add(v/2+r.Int64N(100)*1000, 1)
			}
		case 1:
			add(v, mixedCounts.Draw(t, "count"))
		case 2:
			s = s.Clone()
		default:
			add(v, 1)
		}
	}
	return s, m
}

// mixedDurations are close enough to meet in a page, and some far away.
var mixedDurations = rapid.OneOf(
	rapid.Map(rapid.Int64Range(0, 2000), func(us int64) int64 { return us * 1000 }),
	rapid.Int64Range(0, 2_000_000),
	rapid.Int64Range(math.MaxInt64-1_000_000, math.MaxInt64),
)

var mixedCounts = rapid.OneOf(rapid.Uint64Range(1, 5), rapid.Uint64Range(250, 260), rapid.Uint64Range(1, 1<<50))

// mixedUnion is several samples, some merged, and all their values.
func mixedUnion(t *rapid.T) (Union, durationtest.Multiset) {
	u, all := Union{nil}, durationtest.Multiset{}
	for range rapid.IntRange(0, 4).Draw(t, "samples") {
		s, m := mixedSample(t)
		all.Add(m)
		if last := u[len(u)-1]; last != nil && rapid.Bool().Draw(t, "merged") {
			last.Merge(s)
			continue
		}
		u = append(u, s)
	}
	return u, all
}

func TestSummariesEqualThoseOfTheSortedValues(t *testing.T) {
	t.Parallel()
	ps := []P{MustP("0.99"), MustP("0.5"), MustP("0.001"), MustP("0.5"), MustP("0.9999")}
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		other, others := mixedUnion(t)
		both := durationtest.Multiset{}
		both.Add(all)
		both.Add(others)
		got := SummarizeEach([]Union{u, other, slices.Concat(u, other)}, ps)
		want := []Summary{summaryOf(all.Tallies(), ps), summaryOf(others.Tallies(), ps), summaryOf(both.Tallies(), ps)}
		if diff := cmp.Diff(want, got, equalPs); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestKMQuantilesEqualThoseReadStepByStep(t *testing.T) {
	t.Parallel()
	ps := []P{MustP("0"), MustP("0.001"), MustP("0.3"), MustP("0.5"), MustP("0.9"), MustP("0.99"), MustP("1")}
	rapid.Check(t, func(t *rapid.T) {
		completed, _ := mixedUnion(t)
		cut, _ := mixedUnion(t)
		var got []*int64
		for _, q := range (Observed{Completed: completed, CutAt: cut}).Tails(ps, MustP("1")).Tails {
			got = append(got, q.KM)
		}
		want := kmByStep(completed, cut, ps)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// kmByStep asks the curve at every distinct time.
func kmByStep(completed, cut Union, ps []P) []*int64 {
	found := make([]*int64, len(ps))
	done, cuts, total := uint64(0), uint64(0), completed.N()+cut.N()
	for s := range KMBeyond(completed, cut, -1) {
		done += s.Completed
		for i, p := range ps {
			reached := s.Survival <= p.Beyond()*reachedTolerance
			if cuts == 0 {
				reached = done >= p.Rank(total)
			}
			if found[i] == nil && s.Completed > 0 && reached {
				found[i] = new(s.Time)
			}
		}
		cuts += s.Cut
	}
	return found
}

func TestTailsEqualThoseOfTheSortedValues(t *testing.T) {
	t.Parallel()
	ps := []P{MustP("0.01"), MustP("0.5"), MustP("0.9"), MustP("0.999")}
	rapid.Check(t, func(t *rapid.T) {
		completed, done := mixedUnion(t)
		at, known := mixedUnion(t)
		seen, unknown := mixedUnion(t)
		got := Observed{Completed: completed, CutAt: at, CutSeen: seen}.Tails(ps, MustP("1")) // limits of huge counts are slow
		want := tailsOf(done, known, unknown, ps)
		for i := range want {
			if got.Tails[i].Value != want[i] {
				t.Fatalf("%s is %d, want %d", ps[i].Label(), got.Tails[i].Value, want[i])
			}
		}
	})
}

// tailsOf sorts what is proved of every attempt.
func tailsOf(done, known, unknown durationtest.Multiset, ps []P) []int64 {
	proved := durationtest.Multiset{}
	proved.Add(done)
	proved.Add(known)
	for d, c := range unknown {
		below, slowest := int64(0), int64(-1)
		for v := range done {
			if slowest = max(slowest, v); v < d {
				below = max(below, v)
			}
		}
		if slowest >= d {
			below = min(below, EarliestTimeout(d))
		}
		proved[below] += c
	}
	total := uint64(0)
	for _, c := range proved {
		total += c
	}
	if len(done)+len(known) == 0 {
		return make([]int64, len(ps))
	}
	return valuesAt(proved.Tallies(), total, ps)
}
