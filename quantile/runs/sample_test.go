package runs

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

var sizes = []int{1, 2, 10, 999, 4095, 4097, 20_000, 150_000}

func TestQuantilesEqualTheSortedSlice(t *testing.T) {
	t.Parallel()
	for name, next := range durationtest.Generators {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				n := shorter(n)
				r := rand.New(rand.NewPCG(7, uint64(n)))
				values := durationtest.Generate(n, func() int64 { return next(r) })
				s, o := sampleOf(values...), durationtest.OracleOf(values)
				if got, want := talliesOf(Union{s}), o.Tallies(); !slices.Equal(got, want) {
					t.Fatalf("%d distinct values, want %d", len(got), len(want))
				}
				compareQuantiles(t, s, o)
			})
		}
	}
}

func compareQuantiles(t *testing.T, s *Sample, o durationtest.Oracle) {
	t.Helper()
	ranks := []uint64{1, uint64(len(o))}
	for i := 1000; i >= 0; i-- {
		ranks = append(ranks, uint64(max(1, (i*len(o)+999)/1000)))
	}
	q := NewRankQuery(Union{s}, ranks)
	Answer(q)
	for i, v := range q.Values[2:] {
		if want := o.Quantile(1000 - i); v != want {
			t.Fatalf("rank %d is %d, want %d", ranks[2+i], v, want)
		}
	}
	if s.N() != uint64(len(o)) || q.Values[0] != o[0] || q.Values[1] != o[len(o)-1] {
		t.Fatalf("%d values from %d to %d", s.N(), q.Values[0], q.Values[1])
	}
}

func TestMergedPartsEqualTheWhole(t *testing.T) {
	t.Parallel()
	for name, next := range durationtest.Generators {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(8, 8))
			values := durationtest.Generate(60_000, func() int64 { return next(r) })
			parts := make([]*Sample, 13)
			for i := range parts {
				parts[i] = new(Sample)
			}
			for _, v := range values {
				parts[r.IntN(1+r.IntN(len(parts)))].Add(v)
			}
			want := durationtest.OracleOf(values).Tallies()
			if !slices.Equal(talliesOf(parts), want) {
				t.Fatal("the union of the parts differs")
			}
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			var whole Sample
			for _, p := range parts {
				whole.Merge(p)
				if p.N() != 0 || len(talliesOf(Union{p})) != 0 {
					t.Fatal("a merged part is not empty")
				}
			}
			if whole.N() != uint64(len(values)) || !slices.Equal(talliesOf(Union{&whole}), want) {
				t.Fatal("the merged parts differ")
			}
		})
	}
}

func TestSampleIsAMultiset(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(
		rapid.Int64Range(0, 20),
		rapid.Map(rapid.Int64Range(0, 3000), func(us int64) int64 { return us * microsecond }),
		rapid.Int64Range(0, math.MaxInt64),
	)
	rapid.Check(t, func(t *rapid.T) {
		counts := map[int64]uint64{}
		parts := []*Sample{new(Sample), new(Sample), new(Sample)}
		for range rapid.IntRange(0, 60).Draw(t, "adds") {
			s := parts[rapid.IntRange(0, 2).Draw(t, "part")]
			v, n := value.Draw(t, "value"), rapid.Uint64Range(0, 3000).Draw(t, "count")
			if n > 0 {
				counts[v] += n
			}
			switch n % 3 { // one by one, so that pages and runs come to be
			case 0:
				for range n {
					s.Add(v)
				}
			case 1:
				s.AddAll(slices.Repeat([]int64{v}, int(n)))
			default:
				s.AddN(v, n)
			}
			if n == 7 {
				parts[0].Merge(parts[1])
			}
		}
		merged := parts[2]
		merged.Merge(parts[0])
		merged.Merge(parts[1])
		got := map[int64]uint64{}
		last, total := int64(-1), uint64(0)
		for v, c := range merged.All() {
			if v <= last {
				t.Fatalf("%d after %d", v, last)
			}
			got[v], last, total = c, v, total+c
		}
		if diff := cmp.Diff(counts, got); diff != "" || total != merged.N() {
			t.Fatalf("N %d, total %d, %s", merged.N(), total, diff)
		}
	})
}

func TestWalkBetweenAddsChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var s Sample
	var values []int64
	for i := range 12_000 {
		v := durationtest.Mixture(r)
		s.Add(v)
		s.AddN(v/2, 5)
		values = append(values, v, v/2, v/2, v/2, v/2, v/2)
		if i%1500 == 0 && !slices.Equal(talliesOf(Union{&s}), durationtest.OracleOf(values).Tallies()) {
			t.Fatalf("after %d", i)
		}
	}
	for v := range s.All() { // a walk may be left early
		if v > 0 {
			break
		}
	}
	if !slices.Equal(talliesOf(Union{&s}), durationtest.OracleOf(values).Tallies()) {
		t.Fatal("at the end")
	}
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	values := append(durationtest.LognormalMicroseconds(50_000), durationtest.UniformNanoseconds(50_000)...)
	s := sampleOf(values...)
	s.AddN(3, 1000)
	c := s.Clone()
	before := talliesOf(Union{s})
	for i := range int64(100_000) {
		s.Add(i * 1000)
	}
	s.Merge(sampleOf(durationtest.UniformNanoseconds(200_000)...))
	if !slices.Equal(talliesOf(Union{c}), before) || c.N() != 101_000 {
		t.Error("the clone changed with its original")
	}
	after := talliesOf(Union{s})
	c.Merge(sampleOf(values...))
	if !slices.Equal(talliesOf(Union{s}), after) {
		t.Error("the original changed with its clone")
	}
}

func TestMergeOfNothingOrItselfChangesNothing(t *testing.T) {
	s := sampleOf(1, 2, 2)
	s.Merge(nil)
	s.Merge(s)
	s.Merge(new(Sample))
	s.AddN(9, 0)
	if s.N() != 3 || !slices.Equal(talliesOf(Union{s}), []durationtest.Tally{{Value: 1, Count: 1}, {Value: 2, Count: 2}}) {
		t.Errorf("%v", talliesOf(Union{s}))
	}
}

func TestNegativeDurationCountsAsZero(t *testing.T) {
	s := sampleOf(-1, math.MinInt64, -1000)
	s.AddN(-5, 100)
	s.AddN(-5, 2)
	if got := talliesOf(Union{s}); !slices.Equal(got, []durationtest.Tally{{Value: 0, Count: 105}}) {
		t.Errorf("%v", got)
	}
}

func TestLargeCountsStayExact(t *testing.T) {
	var s Sample
	for i := range int64(5000) {
		s.AddN(i*1_000_003, 1<<40)
	}
	s.AddN(5000, 1<<62)
	q := NewRankQuery(Union{&s}, []uint64{1, 1<<40 + 1, 1<<40 + 1<<62, 1<<40 + 1<<62 + 1})
	if Answer(q); s.N() != 5000<<40+1<<62 || !slices.Equal(q.Values, []int64{0, 5000, 5000, 1_000_003}) {
		t.Errorf("%d values, %v", s.N(), q.Values)
	}
	sum := uint64(0)
	for _, c := range s.All() {
		sum += c
	}
	if sum != s.N() {
		t.Errorf("counts add up to %d of %d", sum, s.N())
	}
}

func TestSmallSampleIsSmall(t *testing.T) {
	if got := sampleOf(1e9, 2e9, 3e9, 4e9, 5e9).heldBytes(); got > 300 {
		t.Errorf("five values hold %d bytes", got)
	}
}

func TestRandomNanosecondsTakeThreeBytesAValue(t *testing.T) {
	t.Parallel()
	n := shorter(2_000_000)
	s := sampleOf(durationtest.UniformNanoseconds(n)...)
	if per := float64(s.heldBytes()) / float64(n); per > 3 || s.pages.count > 0 {
		t.Errorf("%.2f bytes a value, %d pages", per, s.pages.count)
	}
}

func TestDenseMicrosecondsUsePages(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	s := sampleOf(durationtest.LognormalMicroseconds(n)...)
	paged := uint64(0)
	for _, p := range s.pages.all() {
		n, _ := p.total()
		paged += n
	}
	if paged < n*9/10 || s.heldBytes() > n {
		t.Errorf("%d of %d values in pages, %d bytes", paged, n, s.heldBytes())
	}
}

func TestDriftingMicrosecondsDoNotBuyPagesWithoutEnd(t *testing.T) {
	t.Parallel()
	var s Sample
	const n = int64(2_000_000)
	for i := range n {
		s.Add(i * 12 * microsecond) // about 42 values to a page, each page left for good
	}
	if per := float64(s.heldBytes()) / float64(n); per > 8 {
		t.Errorf("%.2f bytes a value", per)
	}
	i := int64(0)
	for v, c := range s.All() {
		if v != i*12*microsecond || c != 1 {
			t.Fatalf("value %d is %d with count %d", i, v, c)
		}
		i++
	}
	if i != n {
		t.Errorf("%d values", i)
	}
}

func FuzzSample(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Add(binary.LittleEndian.AppendUint64([]byte{255, 1}, math.MaxInt64))
	f.Add(slices.Repeat([]byte{64, 0xe8, 3, 0, 0, 0, 0, 0, 0}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, left, right Sample
		var values []int64
		for ; len(data) >= 9; data = data[9:] {
			v := int64(binary.LittleEndian.Uint64(data[1:]) >> 1)
			if data[0]&64 != 0 {
				v = v % 4_000_000 * microsecond
			}
			n := uint64(data[0]&63) * uint64(data[0]&63)
			whole.AddN(v, n)
			for i := range n {
				values = append(values, v)
				if i%3 == 0 {
					left.Add(v)
				} else {
					right.Add(v)
				}
			}
		}
		want := durationtest.OracleOf(values).Tallies()
		if !slices.Equal(talliesOf(Union{&left, nil, &right}), want) {
			t.Error("the union of two parts differs")
		}
		left.Merge(&right)
		if !slices.Equal(talliesOf(Union{&left}), want) || !slices.Equal(talliesOf(Union{whole.Clone()}), want) {
			t.Error("the sample differs from the sorted slice")
		}
	})
}
