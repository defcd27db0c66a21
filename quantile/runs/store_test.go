package runs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/tailscope/tailscope/internal/durationtest"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
	"pgregory.net/rapid"
)

// storeIn returns a store that is closed at the end of the test.
func storeIn(t testing.TB, limit int64, dir string) *Store {
	st := NewStore(limit, dir)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// filled adds n values of each generator to a sample of its own.
func filled(n int, create func() *Sample) map[string]*Sample {
	samples := map[string]*Sample{}
	for name, next := range durationtest.Generators {
		r := rand.New(rand.NewPCG(uint64(n), 9))
		s := create()
		for range n {
			s.Add(next(r))
		}
		samples[name] = s
	}
	return samples
}

func TestSamplesThatWereWrittenOutEqualThoseInMemory(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 100_000, 1 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			dir := t.TempDir()
			st, free := storeIn(t, limit, dir), filled(60_000, func() *Sample { return new(Sample) })
			for name, s := range filled(60_000, st.New) {
				if !slices.Equal(talliesOf(Union{s}), talliesOf(Union{free[name]})) {
					t.Errorf("%s: the values differ", name)
				}
				compareQuantiles(t, s, durationtest.OracleOf(repeated(talliesOf(Union{free[name]}))))
			}
			if n := spilltest.Bytes(t, dir); st.Err() != nil || n == 0 {
				t.Errorf("%d bytes in the file, %v", n, st.Err())
			}
		})
	}
}

// repeated lists every value as often as it counts.
func repeated(list []durationtest.Tally) []int64 {
	var values []int64
	for _, t := range list {
		for range t.Count {
			values = append(values, t.Value)
		}
	}
	return values
}

func TestStoreHoldsItsLimit(t *testing.T) {
	t.Parallel()
	limit := shorter(2 << 20)
	dir := t.TempDir()
	st := storeIn(t, int64(limit), dir)
	samples, r := []*Sample{st.New(), st.New(), st.New()}, rand.New(rand.NewPCG(4, 4))
	for i := range shorter(3_000_000) {
		samples[i%3].Add(r.Int64N(1e9))
		if st.held > uint64(limit+blockSize) {
			t.Fatalf("%d bytes held after %d values", st.held, i)
		}
	}
	var bytes uint64
	for _, s := range samples {
		bytes += s.heldBytes()
	}
	if n := spilltest.Bytes(t, dir); bytes > uint64(limit+limit/8) || n < int64(limit) {
		t.Errorf("%d bytes held, %d in the file", bytes, n)
	}
}

func TestPagesLeaveAQuarterOfTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	st := storeIn(t, limit, t.TempDir())
	s, r := st.New(), rand.New(rand.NewPCG(5, 5))
	values := durationtest.Generate(500_000, func() int64 { return r.Int64N(3_000_000) * microsecond })
	for _, v := range values {
		s.Add(v)
	}
	if got := s.pages.count * uint64(unsafe.Sizeof(page{})); got > limit*3/4 || got < limit/2 {
		t.Errorf("%d bytes of pages", got)
	}
	if !slices.Equal(talliesOf(Union{s}), durationtest.OracleOf(values).Tallies()) {
		t.Error("the values differ")
	}
}

func TestMergedAndClonedSamplesOfStoresKeepTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stores := []*Store{NewStore(0, ""), NewStore(20_000, ""), nil}
		defer stores[0].Close()
		defer stores[1].Close()
		var samples []*Sample
		var counts []durationtest.Multiset
		for i := range 6 {
			s, m := stores[i%3].New(), durationtest.Multiset{}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			for range rapid.IntRange(0, 9000).Draw(t, "values") {
				v := durationtest.Mixture(r)
				s.Add(v)
				m[v]++
			}
			samples, counts = append(samples, s), append(counts, m)
		}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			into, from := rapid.IntRange(0, 5).Draw(t, "into"), rapid.IntRange(0, 5).Draw(t, "from")
			switch clone := rapid.Bool().Draw(t, "clone"); {
			case into == from:
			case clone:
				samples[into], counts[into] = samples[from].Clone(), durationtest.Multiset{}
				counts[into].Add(counts[from])
			default:
				samples[into].Merge(samples[from])
				counts[into].Add(counts[from])
				counts[from] = durationtest.Multiset{}
			}
		}
		for i, s := range samples {
			if !slices.Equal(talliesOf(Union{s}), counts[i].Tallies()) {
				t.Fatalf("sample %d differs", i)
			}
		}
		for _, st := range stores {
			if err := st.Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNothingIsLostWhereTheFileCannotBeWritten(t *testing.T) {
	t.Parallel()
	st := storeIn(t, 1000, filepath.Join(t.TempDir(), "absent"))
	s, values := st.New(), durationtest.UniformNanoseconds(100_000)
	for _, v := range values {
		s.Add(v)
	}
	if err := st.Err(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(talliesOf(Union{s}), durationtest.OracleOf(values).Tallies()) {
		t.Error("the values differ")
	}
}

// TestAFileThatChangedIsAnError and nothing panics: counts stay right, whatever
// becomes of the values.
func TestAFileThatChangedIsAnError(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{"cut": spilltest.Cut, "altered": spilltest.Overwrite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st := storeIn(t, 1000, dir)
			s := st.New()
			for _, v := range durationtest.UniformNanoseconds(100_000) {
				s.Add(v)
			}
			if st.Err() != nil {
				t.Fatal(st.Err())
			}
			spilltest.Damage(t, dir, damage)
			if got := repeated(talliesOf(Union{s})); len(got) != 100_000 {
				t.Errorf("%d values are left", len(got))
			}
			q := NewRankQuery(Union{s, sampleOf(1, 2, 3)}, []uint64{1, 50_000, 100_003})
			if Answer(q); !slices.IsSorted(q.Values) {
				t.Errorf("values %v", q.Values)
			}
			other := sampleOf(1, 2, 3)
			other.Merge(s.Clone())
			for _, v := range durationtest.UniformNanoseconds(100_000) {
				other.Add(v)
			}
			if got := repeated(talliesOf(Union{other})); len(got) != 200_003 {
				t.Errorf("%d values are left", len(got))
			}
			if err := st.Err(); err == nil || !strings.HasPrefix(err.Error(), "temporary file of durations in "+dir+": ") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestNoFileIsLeft(t *testing.T) {
	dir := t.TempDir()
	for _, limit := range []int64{1 << 30, 1000} {
		st := NewStore(limit, dir)
		s := st.New()
		for _, v := range durationtest.UniformNanoseconds(100_000) {
			s.Add(v)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("a killed process leaves %v, %v", left, err)
		}
		for range 2 {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left := spilltest.Open(t, dir); len(left) > 0 {
		t.Error(left)
	}
}

func TestStoreOfNothingHasNoLimit(t *testing.T) {
	var st *Store
	s := st.New()
	for _, v := range durationtest.UniformNanoseconds(20_000) {
		s.Add(v)
	}
	if s.N() != 20_000 || st.Err() != nil || st.Close() != nil {
		t.Error(s.N(), st.Err())
	}
}
