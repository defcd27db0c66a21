package quantile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

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
	for name, next := range generators {
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
	for _, limit := range []int64{0, 100_000, 1 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			st, free := storeIn(t, limit, t.TempDir()), filled(60_000, func() *Sample { return new(Sample) })
			for name, s := range filled(60_000, st.New) {
				if !slices.Equal(talliesOf(Union{s}), talliesOf(Union{free[name]})) {
					t.Errorf("%s: the values differ", name)
				}
				compareQuantiles(t, s, oracleOf(repeated(talliesOf(Union{free[name]}))))
			}
			if st.Err() != nil || st.file.end == 0 {
				t.Errorf("%d bytes in the file, %v", st.file.end, st.Err())
			}
		})
	}
}

// repeated lists every value as often as it counts.
func repeated(list []tally) []int64 {
	var values []int64
	for _, t := range list {
		for range t.count {
			values = append(values, t.value)
		}
	}
	return values
}

func TestStoreHoldsItsLimit(t *testing.T) {
	const limit = 2 << 20
	st := storeIn(t, limit, t.TempDir())
	samples, r := []*Sample{st.New(), st.New(), st.New()}, rand.New(rand.NewPCG(4, 4))
	for i := range 3_000_000 {
		samples[i%3].Add(r.Int64N(1e9))
		if st.held > limit+blockSize {
			t.Fatalf("%d bytes held after %d values", st.held, i)
		}
	}
	var bytes uint64
	for _, s := range samples {
		bytes += s.Bytes()
	}
	if bytes > limit+limit/8 || st.file.end < limit {
		t.Errorf("%d bytes held, %d in the file", bytes, st.file.end)
	}
}

func TestPagesLeaveAQuarterOfTheLimit(t *testing.T) {
	const limit = 1 << 20
	st := storeIn(t, limit, t.TempDir())
	s, r := st.New(), rand.New(rand.NewPCG(5, 5))
	values := generate(500_000, func() int64 { return r.Int64N(3_000_000) * microsecond })
	for _, v := range values {
		s.Add(v)
	}
	if got := s.pages.count * uint64(unsafe.Sizeof(page{})); got > limit*3/4 || got < limit/2 {
		t.Errorf("%d bytes of pages", got)
	}
	if !slices.Equal(talliesOf(Union{s}), oracleOf(values).tallies()) {
		t.Error("the values differ")
	}
}

func TestMergedAndClonedSamplesOfStoresKeepTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stores := []*Store{NewStore(0, ""), NewStore(20_000, ""), nil}
		defer stores[0].Close()
		defer stores[1].Close()
		var samples []*Sample
		var counts []multiset
		for i := range 6 {
			s, m := stores[i%3].New(), multiset{}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			for range rapid.IntRange(0, 9000).Draw(t, "values") {
				v := mixture(r)
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
				samples[into], counts[into] = samples[from].Clone(), multiset{}
				counts[into].add(counts[from])
			default:
				samples[into].Merge(samples[from])
				counts[into].add(counts[from])
				counts[from] = multiset{}
			}
		}
		for i, s := range samples {
			if !slices.Equal(talliesOf(Union{s}), counts[i].tallies()) {
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
	st := storeIn(t, 1000, filepath.Join(t.TempDir(), "absent"))
	s, values := st.New(), uniformNanoseconds(100_000)
	for _, v := range values {
		s.Add(v)
	}
	if err := st.Err(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(talliesOf(Union{s}), oracleOf(values).tallies()) {
		t.Error("the values differ")
	}
}

func TestFileThatChangedIsAnErrorAndNoPanic(t *testing.T) {
	for name, damage := range map[string]func(*os.File) error{
		"cut": func(f *os.File) error { return f.Truncate(1000) },
		"altered": func(f *os.File) error {
			info, err := f.Stat()
			if err == nil {
				_, err = f.WriteAt(make([]byte, info.Size()), 0)
			}
			return err
		},
		"closed": func(f *os.File) error { return f.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			st := NewStore(1000, t.TempDir())
			s := st.New()
			for _, v := range uniformNanoseconds(100_000) {
				s.Add(v)
			}
			if st.Err() != nil {
				t.Fatal(st.Err())
			}
			if err := damage(st.file.file); err != nil {
				t.Fatal(err)
			}
			u := Union{s}
			Observed{Completed: u, CutSeen: Union{sampleOf(7e8)}}.Tails([]P{MustP("0.5")}, MustP("0.95"))
			Summarize(u, []P{MustP("0.99")})
			if st.Err() == nil {
				t.Error("no error")
			}
			st.Close()
		})
	}
}

func TestNoFileIsLeft(t *testing.T) {
	dir := t.TempDir()
	for _, limit := range []int64{1 << 30, 1000} {
		st := NewStore(limit, dir)
		s := st.New()
		for _, v := range uniformNanoseconds(100_000) {
			s.Add(v)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

func TestStoreOfNothingHasNoLimit(t *testing.T) {
	var st *Store
	s := st.New()
	for _, v := range uniformNanoseconds(20_000) {
		s.Add(v)
	}
	if s.N() != 20_000 || st.Err() != nil || st.Close() != nil {
		t.Error(s.N(), st.Err())
	}
}
