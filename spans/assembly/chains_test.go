package assembly

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/spans"
)

const ms = int64(1_000_000)

// testLine is a line of a hop log, times in ms.
type testLine struct {
	chain      string // "" for none
	hop, pod   string
	start, end int
	outcome    spans.Outcome
	retry      bool
	marked     bool
	untimed    bool
}

// row makes a row of a line.
func (l testLine) row(b *spans.Builder) spans.Row {
	r := spans.Row{
		Hop: b.Hop([]byte(l.hop)), Instance: b.Instance([]byte(l.pod)), Outcome: l.outcome, HasDuration: true, Duration: int64(l.end-l.start) * ms,
		HasStart: !l.untimed, Retry: l.retry, Marked: l.marked,
	}
	if r.HasStart {
		r.Start = int64(l.start) * ms
	}
	switch l.outcome {
	case spans.Truncated:
		r.CutBy = spans.Own
	case spans.Failed:
		r.Failure = spans.Reset
	}
	if l.chain != "" {
		r.Trace = []byte(l.chain)
	}
	return r
}

// addLines lets a collector take lines, in a batch from a builder of its own.
func addLines(t testing.TB, c *ChainCollector, list ...testLine) {
	t.Helper()
	b := spans.NewBuilder(memory.DefaultAllocator, spans.Traces|spans.Starts|spans.Instances)
	defer b.Release()
	for _, l := range list {
		r := l.row(b)
		b.Append(&r)
	}
	batch := b.Batch()
	defer batch.Release()
	if err := c.AddBatch(batch); err != nil {
		t.Fatal(err)
	}
}

// storeOf returns a store that is closed when the test ends.
func storeOf(t testing.TB, c ChainConfig) *Chains {
	if c.Keep == KeepNone {
		c.Keep = KeepAll
	}
	s := NewChains(c)
	t.Cleanup(func() {
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// chainsOf writes all chains, sorted.
func chainsOf(t testing.TB, s *Chains, workers int) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	err := s.Each(t.Context(), workers, func(worker int, c *spans.Chain) error {
		if worker < 0 || worker >= workers {
			t.Errorf("worker %d of %d", worker, workers)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, describe(c))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// describe writes a chain: "id: hop@pod 0-10 truncated retry".
func describe(c *spans.Chain) string {
	var s strings.Builder
	fmt.Fprint(&s, c.Name(), ":")
	for i := range c.Attempts {
		a := &c.Attempts[i]
		fmt.Fprintf(&s, " %s", c.Hops[a.Hop].Name)
		if pod := c.Instances[a.Instance]; pod != "" {
			fmt.Fprint(&s, "@", pod)
		}
		if a.Timed {
			fmt.Fprintf(&s, " %d-%d", a.Start/ms, a.End()/ms)
		} else {
			fmt.Fprintf(&s, " %d", a.Duration/ms)
		}
		if a.Outcome != spans.Completed {
			fmt.Fprint(&s, " ", a.Outcome)
		}
		for word, on := range map[string]bool{" retry": a.Retry, " may be cut": a.MayBeCut, " passed up": a.PassedUp()} {
			if on {
				s.WriteString(word)
			}
		}
	}
	return s.String()
}

// manyLines are those of some chains, in an order that mixes them.
func manyLines(chains int) (lines []testLine) {
	for attempt := range 3 {
		for i := range chains {
			lines = append(lines, testLine{chain: fmt.Sprint("chain ", i), hop: fmt.Sprint("hop-", attempt), pod: fmt.Sprint(i % 3), start: attempt * 100, end: attempt*100 + 500 + i%50})
		}
	}
	return lines
}

func TestChainsArePutTogether(t *testing.T) {
	lines := []testLine{
		{chain: "2", hop: "b", start: 10, end: 50}, {chain: "1", hop: "a", end: 100}, {chain: "1", hop: "b", pod: "p", start: 20, end: 40, outcome: spans.Truncated},
		{hop: "a", end: 7}, {chain: "2", hop: "a", start: 10, end: 60, retry: true}, {chain: "3", hop: "a", end: 5}, {chain: "3", hop: "b", untimed: true, end: 4},
	}
	want := []string{"1: a 0-100 b@p 20-40 truncated", "2: a 10-60 retry b 10-50", "3: a 0-5 b 4"}
	for _, workers := range []int{1, 3} {
		s := storeOf(t, ChainConfig{Workers: 2})
		for i, l := range lines {
			addLines(t, s.Worker(i%2), l)
		}
		got := chainsOf(t, s, workers)
		got[2] = strings.Replace(got[2], "b 4 a 0-5", "a 0-5 b 4", 1)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
}

func TestOnlyWhatRetriedCallsAreMadeOfIsKept(t *testing.T) {
	lines := []testLine{
		{chain: "1", hop: "a", end: 100, outcome: spans.Failed}, {chain: "1", hop: "b", start: 5, end: 20}, {chain: "1", hop: "a", start: 120, end: 130, retry: true},
		{chain: "2", hop: "b", end: 90}, {chain: "2", hop: "b", end: 89}, {chain: "2", hop: "a", end: 95},
	}
	c := ChainConfig{Keep: KeepRetried, Workers: 2, Timeouts: map[string]int64{"b": 90 * ms}}
	s := storeOf(t, c)
	addLines(t, s.Worker(0), lines...)
	if d := cmp.Diff([]string{"1: a 0-100 failed a 120-130 retry", "2: b 0-90 truncated may be cut"}, chainsOf(t, s, 1)); d != "" {
		t.Error(d)
	}
	// Marks that another worker sees tell that none of its hop was cut.
	s = storeOf(t, c)
	addLines(t, s.Worker(0), lines...)
	addLines(t, s.Worker(1), testLine{hop: "b", end: 3, marked: true})
	if d := cmp.Diff([]string{"1: a 0-100 failed a 120-130 retry", "2: b 0-90"}, chainsOf(t, s, 1)); d != "" {
		t.Error(d)
	}
}

func TestLinesThatMemoryDoesNotHoldGoToAFile(t *testing.T) {
	t.Parallel()
	lines := manyLines(500)
	whole := storeOf(t, ChainConfig{})
	addLines(t, whole.Worker(0), lines...)
	folder := t.TempDir()
	small := storeOf(t, ChainConfig{Memory: 2000, TempDir: folder, Workers: 2})
	for i, part := range slices.Collect(slices.Chunk(lines, 70)) {
		addLines(t, small.Worker(i%2), part...)
	}
	if !slices.ContainsFunc(small.collectors[0].store.partitions, func(p partition) bool { return len(p.onDisk) > 1 }) {
		t.Error("nothing was spilled twice")
	}
	if d := cmp.Diff(chainsOf(t, whole, 1), chainsOf(t, small, 2)); d != "" {
		t.Error(d)
	}
	if err := small.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestAFileOfLinesThatCannotBeMadeOrReadIsAnError(t *testing.T) {
	b := spans.NewBuilder(memory.DefaultAllocator, spans.Traces|spans.Starts)
	defer b.Release()
	for _, l := range manyLines(5) {
		r := l.row(b)
		b.Append(&r)
	}
	batch := b.Batch()
	defer batch.Release()
	none := func(int, *spans.Chain) error { return nil }
	s := storeOf(t, ChainConfig{Memory: 10, TempDir: t.TempDir() + "/absent"})
	if err := s.Worker(0).AddBatch(batch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	s = storeOf(t, ChainConfig{Memory: 10, TempDir: t.TempDir()})
	if err := s.Worker(0).AddBatch(batch); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Worker(0).AddBatch(batch); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing a closed file: %v", err)
	}
	if err := s.Each(t.Context(), 1, none); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading a closed file: %v", err)
	}
	if err := s.Each(t.Context(), 1, none); err == nil {
		t.Error("chains may be asked for twice")
	}
}

func TestChainsStopWithTheRunOrTheVisitor(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := storeOf(t, ChainConfig{})
	addLines(t, s.Worker(0), slices.Repeat([]testLine{{chain: "1", hop: "a", end: 5}}, 3)...)
	cancel(stopped)
	if err := s.Each(ctx, 2, func(int, *spans.Chain) error { t.Error("a chain after the end"); return nil }); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	// Many chains of one part: it stops between two.
	for name, stop := range map[string]func(context.CancelCauseFunc) error{
		"run":     func(cancel context.CancelCauseFunc) error { cancel(stopped); return nil },
		"visitor": func(context.CancelCauseFunc) error { return stopped },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := storeOf(t, ChainConfig{})
		addLines(t, s.Worker(0), manyLines(3000)...)
		n := 0
		err := s.Each(ctx, 1, func(int, *spans.Chain) error { n++; return stop(cancel) })
		if !errors.Is(err, stopped) || n != 1 {
			t.Errorf("%s: %v after %d chains", name, err, n)
		}
	}
}

// oddRow draws a line with values at the ends of what there is.
func oddRow(r *rand.Rand, b *spans.Builder) (spans.Row, keptLine) {
	k := keptLine{
		Chain: []string{"chain ", "a", "0000000000000001aaaaaaaaaaaaaaa"}[r.IntN(3)] + fmt.Sprint(r.IntN(3)), Hop: fmt.Sprint("hop ", r.IntN(40)),
		Pod: []string{"", "pod-1", "pod-2"}[r.IntN(3)], Outcome: spans.Outcome(r.IntN(3)), Timed: r.IntN(4) > 0, Retry: r.IntN(5) == 0,
	}
	times := []int64{0, 1, 999, 1000, 5000, 1_768_442_400_000_000_123, math.MaxInt64, math.MaxInt64 - 807}
	k.Duration = times[r.IntN(len(times))]
	if k.Timed {
		k.Start = times[r.IntN(len(times))]
		if r.IntN(2) == 0 {
			k.Start = math.MinInt64 + k.Start
		}
	}
	switch k.Outcome {
	case spans.Truncated:
		k.CutBy = spans.CutBy(1 + r.IntN(4))
	case spans.Failed:
		k.Failure = spans.Failures[r.IntN(len(spans.Failures))]
	}
	row := spans.Row{
		Hop: b.Hop([]byte(k.Hop)), Instance: b.Instance([]byte(k.Pod)), Trace: []byte(k.Chain), HasDuration: true, Duration: k.Duration,
		HasStart: k.Timed, Start: k.Start, Outcome: k.Outcome, CutBy: k.CutBy, Failure: k.Failure, Retry: k.Retry,
	}
	if k.MayBeCut = k.Outcome == spans.Completed && k.Duration >= 999 && k.Hop == "hop 1"; k.MayBeCut {
		k.Outcome, k.CutBy = spans.Truncated, spans.Own
	}
	return row, k
}

// keptLine is a line as it comes back, with its chain and its names.
type keptLine struct {
	Chain, Hop, Pod        string
	Start, Duration        int64
	Outcome                spans.Outcome
	CutBy                  spans.CutBy
	Failure                spans.Failure
	Timed, Retry, MayBeCut bool
}

func TestKeptLinesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, limit := range []int64{0, 500} {
		s := storeOf(t, ChainConfig{Memory: limit, TempDir: t.TempDir(), Timeouts: map[string]int64{"hop 1": 1000}})
		want, got := map[keptLine]int{}, map[keptLine]int{}
		for range 20 {
			b := spans.NewBuilder(memory.DefaultAllocator, spans.Traces|spans.Starts|spans.Instances)
			for range 100 {
				row, k := oddRow(r, b)
				b.Append(&row)
				want[k]++
			}
			batch := b.Batch()
			if err := s.Worker(0).AddBatch(batch); err != nil {
				t.Fatal(err)
			}
			batch.Release()
			b.Release()
		}
		err := s.Each(t.Context(), 1, func(_ int, c *spans.Chain) error {
			for i := range c.Attempts {
				a := &c.Attempts[i]
				got[keptLine{c.Name(), c.Hops[a.Hop].Name, c.Instances[a.Instance], a.Start, a.Duration, a.Outcome, a.CutBy, a.Failure, a.Timed, a.Retry, a.MayBeCut}]++
				if i > 0 && c.Attempts[i-1].Start > a.Start {
					t.Errorf("attempt %d comes too late", i)
				}
			}
			return nil
		})
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("memory %d: %v %s", limit, err, d)
		}
		for i := range s.collectors[0].store.partitions {
			if p := &s.collectors[0].store.partitions[i]; p.blocks != nil {
				t.Errorf("part %d is still held", i)
			}
		}
	}
}

func TestALineCostsFewBytesAndOnlyWhereItMatters(t *testing.T) {
	var lines []testLine
	for i := range 1000 {
		lines = append(lines, testLine{chain: fmt.Sprint("request ", i), hop: "a", start: 7 * i, end: 7*i + 30})
	}
	few := NewChains(ChainConfig{Keep: KeepRetried}).Worker(0)
	addLines(t, few, lines...)
	if held(few) != 0 {
		t.Errorf("%d bytes for attempts that completed at once", held(few))
	}
	for i := range lines {
		lines[i].outcome = spans.Truncated
	}
	addLines(t, few, lines...)
	if perLine := held(few) / 1000; perLine > 30 {
		t.Errorf("%d bytes a line", perLine)
	}
	// A line with its pod takes a byte where the pairs of hop and pod are few.
	with := NewChains(ChainConfig{Keep: KeepRetried}).Worker(0)
	for i := range lines {
		lines[i].pod = fmt.Sprint("pod-", i%3)
	}
	addLines(t, with, lines...)
	if held(with) != held(few) {
		t.Errorf("%d bytes with pods, %d without", held(with), held(few))
	}
}

func TestCutsArePassedUpWhereThatIsAskedFor(t *testing.T) {
	for on, want := range map[bool]string{true: "1: web 0-100 truncated passed up api 5-95 truncated", false: "1: web 0-100 failed api 5-95 truncated"} {
		s := storeOf(t, ChainConfig{PassUpCuts: on, Workers: 2})
		addLines(t, s.Worker(0), testLine{chain: "1", hop: "web", end: 100, outcome: spans.Failed})
		addLines(t, s.Worker(1), testLine{chain: "1", hop: "api", start: 5, end: 95, outcome: spans.Truncated})
		if d := cmp.Diff([]string{want}, chainsOf(t, s, 1)); d != "" {
			t.Error(d)
		}
	}
}

// A chain that was put together as a trace is the same, but for its id.
func TestATraceOfALogIsAChain(t *testing.T) {
	lines := manyLines(1)
	s := storeOf(t, ChainConfig{})
	addLines(t, s.Worker(0), lines...)
	var list []testSpan
	for i, l := range lines {
		list = append(list, testSpan{id: i + 1, hop: l.hop, start: l.start * int(ms), end: l.end * int(ms), instance: l.pod, ties: spans.LogLine})
	}
	_, got, _ := strings.Cut(describe(traceOf(t, list...).Chain()), ":")
	_, want, _ := strings.Cut(chainsOf(t, s, 1)[0], ":")
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// held is how many bytes of records are in memory.
func held(c *ChainCollector) (n int) {
	for _, p := range c.store.partitions {
		for _, block := range p.blocks {
			n += len(block)
		}
	}
	return n
}

func TestASampleIsWholeChainsAndLeavesThemThere(t *testing.T) {
	for _, c := range []struct {
		chains int
		rounds int
	}{{50, 1}, {40_000, 6}} {
		s := storeOf(t, ChainConfig{Workers: 2, Memory: 1 << 18, TempDir: t.TempDir()})
		lines := manyLines(c.chains)
		for part := range slices.Chunk(lines, 10_000) {
			addLines(t, s.Worker(0), part[:len(part)/2]...)
			addLines(t, s.Worker(1), part[len(part)/2:]...)
		}
		seen, first, rounds := map[string]bool{}, 0, 0
		for more := true; more; rounds++ {
			var mu sync.Mutex
			var err error
			more, err = s.Sample(t.Context(), 2, rounds, func(_ int, chain *spans.Chain) error {
				mu.Lock()
				defer mu.Unlock()
				if len(chain.Attempts) != 3 || seen[chain.Name()] {
					t.Errorf("%s: %d attempts, or seen before", chain.Name(), len(chain.Attempts))
				}
				seen[chain.Name()] = true
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if rounds == 0 {
				first = len(seen)
			}
		}
		if all := s.SampledGroup() == math.MaxUint16; all != (c.rounds == 1) {
			t.Errorf("%d chains: groups up to %d", c.chains, s.SampledGroup())
		}
		if rounds != c.rounds || len(seen) != c.chains || c.rounds > 1 && (first < sampleLines/3*8/10 || first > sampleLines/3*12/10) {
			t.Errorf("%d chains: %d seen in %d rounds, %d in the first", c.chains, len(seen), rounds, first)
		}
		if got := len(chainsOf(t, s, 2)); got != c.chains {
			t.Errorf("%d chains are left of %d", got, c.chains)
		}
	}
}
