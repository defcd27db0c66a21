package quantile

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

func TestSummaryOfNothingIsZero(t *testing.T) {
	for _, u := range []Union{nil, {nil}, {nil, new(Sample)}} {
		if diff := cmp.Diff(Summary{}, Summarize(u, []P{MustP("0.5")})); diff != "" {
			t.Error(diff)
		}
	}
}

// 100 requests, two of 200 ms and else 10 ms: the p99 is 200 ms.
func TestTwoSlowRequestsInAHundredAreTheP99(t *testing.T) {
	var s Sample
	s.AddN(10_000_000, 98)
	s.AddN(200_000_000, 2)
	ps := []P{MustP("0.99"), MustP("0.98"), MustP("0.5")}
	got := Summarize(Union{&s}, ps)
	want := Summary{
		N: 100, Mean: 13_800_000, Min: 10_000_000, Max: 200_000_000, Sum: Sum{Lo: 1_380_000_000},
		Quantiles: []int64{200_000_000, 10_000_000, 10_000_000}, Asked: ps,
	}
	if diff := cmp.Diff(want, got, equalPs); diff != "" {
		t.Error(diff)
	}
}

func TestMeanIsRoundedHalfUp(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   int64
	}{{[]int64{1, 2}, 2}, {[]int64{0, 1}, 1}, {[]int64{1, 1, 2}, 1}, {[]int64{1, 2, 2}, 2}, {[]int64{0, 0, 0, 1}, 0}, {[]int64{math.MaxInt64, math.MaxInt64 - 1}, math.MaxInt64}} {
		if got := Summarize(Union{sampleOf(c.values...)}, nil).Mean; got != c.want {
			t.Errorf("mean of %v is %d, want %d", c.values, got, c.want)
		}
	}
}

func TestSumNeedsMoreThan64Bits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sample
		want, n := new(big.Int), uint64(0)
		for range rapid.IntRange(1, 20).Draw(t, "values") {
			v := rapid.Int64Range(0, math.MaxInt64).Draw(t, "v")
			c := rapid.Uint64Range(1, 1<<58).Draw(t, "c")
			s.AddN(v, c)
			n += c
			want.Add(want, new(big.Int).Mul(big.NewInt(v), new(big.Int).SetUint64(c)))
		}
		got := Summarize(Union{&s}, nil)
		sum := new(big.Int).Lsh(new(big.Int).SetUint64(got.Sum.Hi), 64)
		sum.Add(sum, new(big.Int).SetUint64(got.Sum.Lo))
		mean := new(big.Int).Add(want, new(big.Int).SetUint64(n/2))
		mean.Quo(mean, new(big.Int).SetUint64(n))
		if sum.Cmp(want) != 0 || mean.Cmp(big.NewInt(got.Mean)) != 0 {
			t.Fatalf("sum %d mean %d, want %d and %d", sum, got.Mean, want, mean)
		}
	})
}

func TestUnionsThatShareSamplesAreSummarizedAsEachAlone(t *testing.T) {
	ps := []P{MustP("0.99"), MustP("0.5"), MustP("1"), MustP("0")}
	a, b, c := sampleOf(1, 1, 4), sampleOf(1, 2, 4, 4, 9000), sampleOf(durationtest.LognormalMicroseconds(20_000)...)
	c.Merge(sampleOf(durationtest.UniformNanoseconds(20_000)...))
	unions := []Union{nil, {a}, {a, nil}, {b}, {a, b}, {c}, {c, a}, {b, c, a}, {a, a}, {new(Sample)}}
	for i, got := range SummarizeEach(unions, ps) {
		if diff := cmp.Diff(summaryOf(talliesOf(unions[i]), ps), got, equalPs); diff != "" {
			t.Errorf("union %d (-want +got):\n%s", i, diff)
		}
	}
}

var equalPs = cmpopts.EquateComparable(P{})

// summaryOf goes through the values one by one.
func summaryOf(values []durationtest.Tally, ps []P) Summary {
	var s Summary
	if len(values) == 0 {
		return s
	}
	s.Min, s.Max = values[0].Value, values[len(values)-1].Value
	for _, t := range values {
		s.N += t.Count
		s.Sum.Add(t.Value, t.Count)
	}
	s.Mean, s.Quantiles, s.Asked = s.Sum.Mean(s.N), valuesAt(values, s.N, ps), ps
	return s
}

// valuesAt returns the nearest ranks of n values.
func valuesAt(values []durationtest.Tally, n uint64, ps []P) (list []int64) {
	for _, p := range ps {
		seen, i := values[0].Count, 0
		for seen < p.Rank(n) {
			i++
			seen += values[i].Count
		}
		list = append(list, values[i].Value)
	}
	return list
}

func TestQuantilesRiseWithP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sampleOf(rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 200).Draw(t, "values")...)
		a := rapid.IntRange(0, 1000).Draw(t, "a")
		b := rapid.IntRange(a, 1000).Draw(t, "b")
		if q := Summarize(Union{s}, []P{perMille(b), perMille(a)}).Quantiles; q[0] < q[1] {
			t.Fatalf("p=%d gives %d, p=%d gives %d", b, q[0], a, q[1])
		}
	})
}

func TestSummaryInJSON(t *testing.T) {
	s := Summary{N: 3, Mean: 2, Min: 1, Max: 3, Quantiles: []int64{2}, Asked: []P{MustP("0.50"), MustP("0.9")}}
	biased := s
	biased.Biased, biased.Quantiles = true, nil
	for want, s := range map[string]Summary{
		`{"n":3,"mean_ns":2,"min_ns":1,"max_ns":3,"quantiles":[{"p":"0.50","value_ns":2}]}`: s,
		`{"n":3,"mean_ns":null,"min_ns":1,"max_ns":3,"quantiles":[]}`:                       biased,
		`{"n":0,"mean_ns":null,"min_ns":null,"max_ns":null,"quantiles":[]}`:                 {},
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
