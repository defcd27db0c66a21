package calls

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// simpleOpen counts what is open for how long, as dumb as can be: at each ns.
func simpleOpen(list []moment, of func(*moment) bool) map[int]int64 {
	at := map[int]int64{}
	for t := int64(-30); t < 70; t++ {
		n := 0
		for i := range list {
			if m := &list[i]; of(m) && m.begin <= t && t < m.end() {
				n++
			}
		}
		if n > 0 {
			at[n]++
		}
	}
	return at
}

func TestOpenAtOnceIsWhatCountingEachMomentTells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := someMoments(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), rapid.IntRange(1, 30).Draw(t, "n"))
		var l log
		for _, m := range list {
			l.add(m)
		}
		s := newStudy(&l, &Query{}, nil, nil, 0)
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		same := func(r *room, of func(*moment) bool) {
			want := simpleOpen(list, of)
			most, busy := 0, int64(0)
			for n, ns := range want {
				most, busy = max(most, n), busy+ns
				if n >= len(r.at) || r.at[n] != ns {
					t.Fatalf("%d open for %d ns, want %v in %v", n, r.at, want, list)
				}
			}
			if r.most() != most || r.busy() != busy || r.open != 0 {
				t.Fatalf("most %d, busy %d, open in the end %d; want %d, %d, 0", r.most(), r.busy(), r.open, most, busy)
			}
		}
		same(&s.whole, func(*moment) bool { return true })
		for i, r := range s.insts {
			same(r, func(m *moment) bool { return m.instance == i })
		}
	})
}

// slowRanks gives each value the mean rank of those equal to it.
func slowRanks(list []int64) []float64 {
	ranks := make([]float64, len(list))
	for i, v := range list {
		for _, o := range list {
			switch {
			case o < v:
				ranks[i]++
			case o == v:
				ranks[i] += .5
			}
		}
	}
	return ranks
}

func slowCorrelation(x, y []int64) float64 {
	a, b := slowRanks(x), slowRanks(y)
	mean := float64(len(x)) / 2
	var aa, bb, ab float64
	for i := range a {
		da, db := a[i]-mean, b[i]-mean
		aa, bb, ab = aa+da*da, bb+db*db, ab+da*db
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func TestRankCorrelationIsThatOfTheRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for n := range 60 {
		var x, y []int64
		var g grid
		for range n {
			a := int64(r.IntN(30)) // a step each
			b := a + int64(r.IntN(1+n))
			x, y = append(x, a), append(y, int64(step(b)))
			g.add(step(a), step(b))
		}
		if got, want := g.correlation(), slowCorrelation(x, y); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v %v: %v, want %v", x, y, got, want)
		}
	}
}

func TestStepsRiseAndAreNarrow(t *testing.T) {
	if step(-5) != 0 || step(0) != 0 || step(31) != 31 || step(32) != 32 {
		t.Error("small values have a step each")
	}
	last, from := step(32), int64(32)
	for v := int64(32); v < 1<<40; v += 1 + v/997 {
		switch now := step(v); {
		case now < last:
			t.Fatalf("the step of %d is %d, below %d", v, now, last)
		case now > last:
			last, from = now, v
		case v-from > from/15:
			t.Fatalf("%d and %d are in one step", from, v)
		}
	}
	step(math.MaxInt64)
}

// What a slow call waited with its neighbours: two before and two after.
func TestNeighboursOfASlowCall(t *testing.T) {
	for _, c := range []struct {
		name           string
		list           []waiting
		waited, beside uint64 // twice the sums
	}{
		{"alone", []waiting{{10, true}}, 20, 0},
		{"none is slow", []waiting{{10, false}, {9, false}}, 0, 0},
		{"all wait alike", []waiting{{10, false}, {10, false}, {10, true}, {10, false}, {10, false}}, 20, 20},
		{"nobody else waits", []waiting{{0, false}, {0, false}, {10, true}, {0, false}, {0, false}}, 20, 0},
		{"the median of four", []waiting{{1, false}, {2, false}, {10, true}, {5, false}, {9, false}}, 20, 7},
		{"at the end, two", []waiting{{99, false}, {4, false}, {6, false}, {10, true}}, 20, 10},
		{"no more than it waited", []waiting{{50, false}, {10, true}, {50, false}}, 20, 20},
		{"far ones do not count", []waiting{{10, true}, {1, false}, {1, false}, {99, false}, {99, false}, {99, false}}, 20, 2},
	} {
		var n neighbours
		f := &following{}
		for _, w := range c.list {
			n.add(w, f)
		}
		n.close(f)
		if f.waited.Lo != c.waited || f.beside.Lo != c.beside {
			t.Errorf("%s: %d and %d, want %d and %d", c.name, f.waited.Lo, f.beside.Lo, c.waited, c.beside)
		}
	}
}

func TestLevelsHaveALowerMedian(t *testing.T) {
	for _, c := range []struct {
		list []int32
		want int
	}{{nil, 0}, {[]int32{3}, 3}, {[]int32{1, 3}, 1}, {[]int32{1, 3, 3}, 3}, {[]int32{0, 0, 7}, 0}} {
		var l levels
		for _, n := range c.list {
			l.add(n)
		}
		if got := l.median(); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
	}
}

// Ends that are too long ago are forgotten, and those in a window found.
func TestEndsInAWindow(t *testing.T) {
	var r room
	for _, at := range []int64{5, 10, 20, 21} {
		r.remember(at, 1000)
	}
	for _, c := range []struct {
		from, to int64
		want     bool
	}{{0, 4, false}, {0, 5, true}, {6, 9, false}, {10, 10, true}, {11, 19, false}, {20, 30, true}, {22, 40, false}} {
		if r.endedIn(c.from, c.to) != c.want {
			t.Errorf("between %d and %d: not %v", c.from, c.to, c.want)
		}
	}
	for i := range int64(3 * mostEnds) {
		r.remember(100+i, 10)
	}
	if len(r.ends) > mostEnds || !r.endedIn(3*mostEnds+95, 3*mostEnds+99) || r.endedIn(0, 50) {
		t.Errorf("%d ends remembered", len(r.ends))
	}
}
