package depend

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// timed is an attempt of one of several hops.
type timed struct {
	hop    int
	start  int64
	bucket LogBucket
}

const hopsDrawn = 3

func drawTimed(t *rapid.T) []timed {
	start := rapid.OneOf(rapid.Int64Range(-3*minute, 200*minute), rapid.Int64Range(0, 2*minute),
		rapid.SampledFrom([]int64{math.MinInt64 + 1, math.MaxInt64, 0, -1, minute - 1, minute}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) timed {
		return timed{rapid.IntRange(0, hopsDrawn-1).Draw(t, "hop"), start.Draw(t, "start"), rapid.SampledFrom([]LogBucket{0, 100, 101, CutBucket}).Draw(t, "bucket")}
	}), 0, 300).Draw(t, "attempts")
}

// worker is the blocks of all hops that one worker has.
type worker struct {
	window *Window
	hops   [hopsDrawn]*Blocks
}

func newWorker(limit int) *worker {
	w := &worker{window: NewWindow()}
	w.window.limit = limit
	for i := range w.hops {
		w.hops[i] = w.window.New()
	}
	return w
}

func (w *worker) merge(o *worker) {
	w.window.Join(o.window)
	for i := range w.hops {
		w.hops[i].Merge(o.hops[i])
	}
}

// text is what the blocks of a worker say, by hop, time and bucket.
func (w *worker) text() string {
	w.window.Flush()
	s := fmt.Sprintln(w.window.Width())
	for i, b := range w.hops {
		for _, c := range b.cells {
			s += fmt.Sprintln(i, c.key>>bucketBits, c.key&int64(CutBucket), c.n)
		}
	}
	return s
}

// countedAnew counts with a map, in blocks of the smallest width that is enough.
func countedAnew(list []timed, limit int) string {
	for shift := 0; shift <= widest; shift++ {
		cells := map[[3]int64]int{}
		for _, a := range list {
			number := new(big.Int).Div(big.NewInt(a.start), big.NewInt(minute)).Int64() + firstMinute
			cells[[3]int64{int64(a.hop), number >> shift, int64(a.bucket)}]++
		}
		if len(cells) > limit {
			continue
		}
		s := fmt.Sprintln(minuteWidth(shift))
		for _, k := range slices.SortedFunc(maps.Keys(cells), func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) }) {
			s += fmt.Sprintln(k[0], k[1], k[2], cells[k])
		}
		return s
	}
	return fmt.Sprintln(minuteWidth(widest))
}

func minuteWidth(shift int) any { return (&Window{shift: uint8(shift)}).Width() }

func TestBlocksCountAsAMapDoesForAnySplitAndOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawTimed(t)
		limit := rapid.SampledFrom([]int{4, 12, 40, 100, maxCells}).Draw(t, "limit")
		var workers []*worker
		for range rapid.IntRange(1, 3).Draw(t, "workers") {
			workers = append(workers, newWorker(limit))
		}
		for _, a := range rapid.Permutation(list).Draw(t, "order") {
			w := workers[rapid.IntRange(0, len(workers)-1).Draw(t, "worker")]
			w.hops[a.hop].Add(a.start, a.bucket)
		}
		for _, w := range workers[1:] {
			workers[0].merge(w)
		}
		if got, want := workers[0].text(), countedAnew(list, limit); got != want {
			t.Fatalf("limit %d: got\n%swant\n%s", limit, got, want)
		}
	})
}

// More than waits at once, in an order that makes blocks come again.
func TestBlocksOfManyAttempts(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(i int64) int64{
		"one minute":         func(i int64) int64 { return i % minute },
		"in time":            func(i int64) int64 { return i * minute / 700 },
		"backwards":          func(i int64) int64 { return (40_000 - i) * minute / 700 },
		"back and forth":     func(i int64) int64 { return i % 57 * minute },
		"one after an other": func(i int64) int64 { return i * minute },
	} {
		b := NewWindow().New()
		want := map[int64]uint64{}
		for i := range int64(40_000) {
			b.Add(next(i), LogBucketOf(i%3*1e6))
			want[next(i)/minute]++
		}
		b.window.Flush()
		got := map[int64]uint64{}
		for _, c := range b.cells {
			got[c.key>>bucketBits-firstMinute] += c.n
		}
		if !maps.Equal(got, want) || !slices.IsSortedFunc(b.cells, func(a, b blockCell) int { return int(a.key - b.key) }) {
			t.Errorf("%s: %d blocks, want %d", name, len(got), len(want))
		}
		if b.window.cells != len(b.cells) {
			t.Errorf("%s: %d cells, counted as %d", name, len(b.cells), b.window.cells)
		}
	}
}

func TestAttemptsWithoutAStartLieInNoBlock(t *testing.T) {
	b := NewWindow().New()
	b.AddAll([]int64{math.MinInt64, 5, math.MinInt64, 7 * minute}, []int64{1, 2, 3, 4})
	b.window.Flush()
	want := []blockCell{{firstMinute<<bucketBits | 2, 1}, {(firstMinute+7)<<bucketBits | 4, 1}}
	if !slices.Equal(b.cells, want) {
		t.Errorf("%v, want %v", b.cells, want)
	}
}

// byMinute makes blocks of m attempts, of which beyond(i) of the i-th were cut.
func byMinute(minutes, m int, beyond func(i int) int) *Blocks {
	b := NewWindow().New()
	for i := range minutes {
		for k := range m {
			s := LogBucket(5)
			if k < beyond(i) {
				s = CutBucket
			}
			b.Add(int64(i)*minute, s)
		}
	}
	b.window.Flush()
	return b
}

// effectOfCuts is that of the cut ones by time.
func (b *Blocks) effectOfCuts() Effect {
	var cut Threshold
	cut.From = CutBucket
	return Dependence{Traces: new(Clusters), Blocks: b, CutFrom: CutBucket}.At(0, []Threshold{cut}, []Threshold{cut})[0]
}

func TestEffectByTimeOfSlowMinutes(t *testing.T) {
	if steady := byMinute(60, 50, func(int) int { return 3 }).effectOfCuts(); !steady.Known() || steady.Counts() {
		t.Errorf("steady: %+v", steady)
	}
	if spells := byMinute(60, 50, func(i int) int { return i % 10 / 9 * 30 }).effectOfCuts(); spells.Minutes != 1 || spells.Float() < 25 {
		t.Errorf("slow minutes: %+v", spells)
	}
	// Slow for half an hour of every four hours: wider blocks show more of it.
	if spells := byMinute(1440, 50, func(i int) int { return i % 240 / 210 * 5 }).effectOfCuts(); spells.Minutes < 32 || spells.Float() < 100 {
		t.Errorf("slow half hours: %+v", spells)
	}
}

func TestWiderBlocksAreThoseOfWiderWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWindow()
		b := w.New()
		for _, a := range drawTimed(t) {
			b.Add(a.start, a.bucket)
		}
		w.Flush()
		at := []Threshold{{From: 100}, {From: CutBucket}}
		for _, got := range b.grouped(at) {
			for w.Width().Minutes() < float64(got.minutes) {
				w.widen()
			}
			for i, one := range at {
				var want clustered
				b.each(one.From, want.add)
				if got.at[i] != want {
					t.Fatalf("%d minutes: %+v, want %+v", got.minutes, got.at[i], want)
				}
			}
		}
	})
}

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		name    string
		minutes int
		beyond  func(i int) int
		want    *Drift
	}{
		{"steady", 60, func(i int) int { return 3 + i%2 }, nil},
		{"rises", 60, func(i int) int { return i / 10 }, &Drift{Part{10, 1000}, Part{90, 1000}}},
		{"falls", 60, func(i int) int { return 5 - i/10 }, &Drift{Part{90, 1000}, Part{10, 1000}}},
		{"one bad minute", 60, func(i int) int { return i / 59 * 50 }, nil},
		{"too few minutes", 29, func(i int) int { return i / 5 }, nil},
		{"too few beyond", 60, func(i int) int { return i / 50 }, nil},
		{"less than twice", 60, func(i int) int { return 10 + i/10 }, nil},
		{"none at first", 60, func(i int) int { return i / 40 * 3 }, &Drift{Part{0, 1000}, Part{60, 1000}}},
		{"no attempts", 0, nil, nil},
	} {
		got := byMinute(c.minutes, 50, c.beyond).drift(CutBucket)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Shares that differ by chance are hardly ever called a drift.
func TestASteadyTailDoesNotDrift(t *testing.T) {
	called := 0
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		if byMinute(45, 20, func(int) int { return r.IntN(3) }).drift(CutBucket) != nil {
			called++
		}
	}
	if called > 1 {
		t.Errorf("%d of 200 steady tails", called)
	}
}

// A window that becomes wider while an attempt waits to be entered enters it where
// it belongs.
func TestAnAttemptThatWidensTheWindowLiesInItsBlock(t *testing.T) {
	w := NewWindow()
	w.limit = 64
	b := w.New()
	for i := range int64(3 * flushedFrom) {
		b.Add(i*minute, 5)
	}
	w.Flush()
	var total uint64
	last := int64(-1)
	for _, c := range b.cells {
		if c.key>>bucketBits <= last>>bucketBits && last >= 0 {
			t.Fatal("cells are not sorted, or not each once")
		}
		last = c.key
		total += c.n
		block := c.key>>bucketBits<<w.shift - firstMinute
		if block < 0 || block >= 3*flushedFrom {
			t.Errorf("a block at minute %d with %d attempts", block, c.n)
		}
	}
	if total != 3*flushedFrom {
		t.Errorf("%d attempts", total)
	}
}

// Attempts of one minute counted together are those counted one by one.
func TestAttemptsOfOneMinuteAreCountedTogether(t *testing.T) {
	one, all := NewWindow().New(), NewWindow().New()
	var durations []int64
	for i := range int64(5000) {
		durations = append(durations, i*i*1000)
	}
	for _, start := range []int64{-1, 0, 59e9, 600e9} {
		for _, ns := range durations {
			one.Add(start, LogBucketOf(ns))
		}
		all.AddAt(start, durations)
	}
	one.flush()
	all.flush()
	if !slices.Equal(one.cells, all.cells) {
		t.Errorf("%d cells, %d", len(one.cells), len(all.cells))
	}
}

func TestSameMinute(t *testing.T) {
	for _, c := range []struct {
		starts []int64
		want   bool
	}{
		{nil, false}, {[]int64{5}, true}, {[]int64{0, minute - 1}, true}, {[]int64{0, minute}, false}, {[]int64{-1, 0}, false}, {[]int64{-minute, -1}, true},
		{[]int64{math.MinInt64, math.MinInt64}, false}, {[]int64{math.MaxInt64, math.MaxInt64}, false}, {[]int64{math.MinInt64, math.MaxInt64}, false},
	} {
		if got := SameMinute(c.starts); got != c.want {
			t.Errorf("%d: %v", c.starts, got)
		}
	}
}
