package assembly

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/internal/spill/spilltest"

	"github.com/tailscope/tailscope/spans"
)

// interleaved makes n traces of ten spans whose spans come in random order.
func interleaved(n int) []testSpan {
	var list []testSpan
	for trace := range n {
		for id := range 10 {
			s := testSpan{trace: trace + 1, id: id + 1, parent: (id + 1) / 2, start: id, end: 20, outcome: spans.Outcome(id % 4)}
			if trace%10 == 0 {
				s.traceText, s.textual = fmt.Sprint("trace ", trace), fmt.Sprint("span ", id)
			}
			list = append(list, s)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

func TestSpillingChangesNothing(t *testing.T) {
	t.Parallel()
	n := 300
	if raceEnabled() {
		n = 100 // the checked allocator is slow then
	}
	list := interleaved(n)
	want := wholes(assemble(t, TraceConfig{}, 2, list))
	for _, memory := range []int64{256 << 10, 1 << 20, 16 << 20} {
		a := newTestAssembler(t, TraceConfig{Memory: memory, Workers: 3})
		addAll(t, a, list)
		var surveyed atomic.Int64
		if err := a.Survey(t.Context(), 2, func(_ int, tr *spans.Trace) error { surveyed.Add(int64(len(tr.Spans))); return nil }); err != nil || surveyed.Load() != int64(10*n) {
			t.Errorf("%d bytes: %d spans surveyed, %v", memory, surveyed.Load(), err)
		}
		got := wholes(collect(t, a, 2))
		if d := difference(want, got); d != "" {
			t.Errorf("%d bytes:\n%s", memory, d)
		}
		c := a.Counts()
		if c.Spans != int64(10*n) || c.Traces != int64(n) || c.Duplicates != 0 || (spilledBytes(a) == 0) != (memory == 16<<20) {
			t.Errorf("%d bytes: %+v", memory, c)
		}
	}
}

func TestCounts(t *testing.T) {
	a := newTestAssembler(t, TraceConfig{})
	addAll(t, a, []testSpan{{id: 1}, {id: 1}, {id: 2, parent: 2}, {trace: 2, id: 1}})
	collect(t, a, 1)
	if got, want := a.Counts(), (Counts{Spans: 3, Traces: 2, Duplicates: 1, Cycles: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestATraceAmongManyIsSplitFromThem: the partition must be split until the
// large trace is alone; it is then held whole, whatever the limit.
func TestATraceAmongManyIsSplitFromThem(t *testing.T) {
	list := interleaved(60)
	for i := range 300 {
		list = append(list, testSpan{trace: 7, id: 100 + i, parent: 1, start: i})
	}
	for _, tr := range assemble(t, TraceConfig{Memory: 1 << 14}, 2, list) {
		want := 10
		if tr.ID.Lo == 7 {
			want = 310
		}
		if len(tr.Spans) != want || len(tr.Roots) != 1 {
			t.Errorf("trace %s: %d spans, %d roots", tr.Name(), len(tr.Spans), len(tr.Roots))
		}
	}
}

// TestIDsWithTheSameBitsEndTheSplitting: ids made to fall together at every level.
func TestIDsWithTheSameBitsEndTheSplitting(t *testing.T) {
	a := newTestAssembler(t, TraceConfig{Memory: 1})
	b := spans.NewBuilder(memory.DefaultAllocator, spans.Links)
	defer b.Release()
	for i := range uint64(20) {
		b.Append(&spans.Row{Hop: b.Hop([]byte("h")), Link: spans.Link{TraceID: spans.TraceID{Hi: i<<31 | i>>33, Lo: i}, Span: 1}})
	}
	batch := b.Batch()
	defer batch.Release()
	if err := a.Worker(0).Add(batch); err != nil {
		t.Fatal(err)
	}
	if n := len(collect(t, a, 2)); n != 20 {
		t.Errorf("%d traces, want 20", n)
	}
}

func TestLargeTextsAreSpilled(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	var list []testSpan
	for i := range 8 {
		list = append(list, testSpan{traceText: fmt.Sprint(long, i%2), id: i + 1})
	}
	for _, tr := range assemble(t, TraceConfig{Memory: 8 << 20}, 1, list) {
		if len(tr.Spans) != 4 || !strings.HasPrefix(tr.Name(), long) {
			t.Errorf("trace of %d spans, id of %d bytes", len(tr.Spans), len(tr.Name()))
		}
	}
}

// spilled returns an assembler that has spilled, and its folder.
func spilled(t *testing.T, traces int) (*Traces, string) {
	folder := t.TempDir()
	a := newTestAssembler(t, TraceConfig{Memory: 8 << 10, Workers: 2, TempDir: folder})
	addAll(t, a, interleaved(traces))
	if files := spilltest.Open(t, folder); len(files) != 2 {
		t.Fatalf("open files %v, want one for each worker", files)
	}
	if named, _ := os.ReadDir(folder); len(named) != 0 {
		t.Errorf("%v is left if the process is killed", named)
	}
	return a, folder
}

func TestCloseRemovesSpillFiles(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		name string
		run  func(a *Traces) error
		want error
	}{
		{"before Each", func(*Traces) error { return nil }, nil},
		{"after Each", func(a *Traces) error {
			return a.Each(context.Background(), 2, func(int, *spans.Trace) error { return nil })
		}, nil},
		{"after an error", func(a *Traces) error {
			var n atomic.Int64
			return a.Each(context.Background(), 2, func(int, *spans.Trace) error {
				if n.Add(1) == 20 {
					return stop
				}
				return nil
			})
		}, stop},
		{"after the end of ctx", func(a *Traces) error {
			ctx, cancel := context.WithCancel(context.Background())
			return a.Each(ctx, 2, func(int, *spans.Trace) error { cancel(); return nil })
		}, context.Canceled},
		{"with a ctx that had ended", func(a *Traces) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(stop)
			return a.Each(ctx, 2, func(int, *spans.Trace) error { t.Error("visited"); return nil })
		}, stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, folder := spilled(t, 20)
			if err := c.run(a); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			for range 2 {
				if err := a.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			if n := spilltest.Open(t, folder); len(n) != 0 {
				t.Errorf("left: %v", n)
			}
		})
	}
}

func TestPartsOfPartitionsAreRemovedAsTheyAreVisited(t *testing.T) {
	a, folder := spilled(t, 40)
	most := 0
	err := a.Each(context.Background(), 1, func(int, *spans.Trace) error {
		most = max(most, len(spilltest.Open(t, folder)))
		return nil
	})
	if err != nil || most < 3 || most > 2+levels {
		t.Errorf("up to %d files at once, %v", most, err)
	}
	if files := spilltest.Open(t, folder); len(files) != 2 {
		t.Errorf("%v, want the two of the workers", files)
	}
}

func TestErrorsNameTheFolderAndSpans(t *testing.T) {
	check := func(t *testing.T, err error, folder string) {
		t.Helper()
		if want := "temporary file of spans in " + folder + ": "; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %s and more in one line", err, want)
		}
	}
	nothing := func(int, *spans.Trace) error { return nil }
	t.Run("no such folder", func(t *testing.T) {
		gone := filepath.Join(t.TempDir(), "gone")
		a := newTestAssembler(t, TraceConfig{Memory: 1, TempDir: gone})
		b := batchOf(memory.DefaultAllocator, interleaved(2)...)
		defer b.Release()
		check(t, a.Worker(0).Add(b), gone)
	})
	for name, damage := range map[string]func(path string) error{"cut": spilltest.Cut, "overwritten": spilltest.Overwrite} {
		t.Run(name, func(t *testing.T) {
			a, folder := spilled(t, 20)
			spilltest.Damage(t, folder, damage)
			check(t, a.Each(context.Background(), 2, nothing), folder)
		})
	}
	t.Run("closed under our feet", func(t *testing.T) {
		a, folder := spilled(t, 10)
		for _, c := range a.collectors {
			c.store.file.Close()
		}
		check(t, a.Each(context.Background(), 1, nothing), folder)
	})
}

func TestMisuseIsAnError(t *testing.T) {
	a := newTestAssembler(t, TraceConfig{})
	bare := spans.NewBuilder(memory.DefaultAllocator, 0)
	defer bare.Release()
	bare.Append(&spans.Row{Hop: bare.Hop([]byte("h"))})
	b := bare.Batch()
	defer b.Release()
	if err := a.Worker(0).Add(b); !errors.Is(err, errNoLinks) {
		t.Errorf("a batch without links: %v", err)
	}
	c := a.Worker(0)
	collect(t, a, 1)
	linked := batchOf(memory.DefaultAllocator, testSpan{id: 1})
	defer linked.Release()
	if err := c.Add(linked); err == nil {
		t.Errorf("Add after Each: no error")
	}
	if err := a.Each(context.Background(), 1, nil); err == nil {
		t.Errorf("Each after Each: no error")
	}
}

func TestIndicesWithoutANameAreAnError(t *testing.T) {
	for _, r := range []spans.Row{{Hop: 1}, {Hop: -1}, {Link: spans.Link{Host: 1}}, {Link: spans.Link{Host: -1}}, {Stratum: 7}, {Instance: 1}, {Instance: -1}} {
		a := newTestAssembler(t, TraceConfig{})
		b := spans.NewBuilder(memory.DefaultAllocator, spans.Links|spans.Hosts|spans.Strata|spans.Instances)
		defer b.Release()
		b.Hop([]byte("h"))
		b.Append(&r)
		batch := b.Batch()
		if err := a.Worker(0).Add(batch); err == nil {
			t.Errorf("hop %d, host %d, stratum %d, instance %d: no error", r.Hop, r.Host, r.Stratum, r.Instance)
		}
		batch.Release()
	}
}

// TestTablesAreJoined: two builders number hops and hosts differently, one
// knows no hosts, and their batches come in any order.
func TestTablesAreJoined(t *testing.T) {
	a := newTestAssembler(t, TraceConfig{Workers: 2})
	mem := memory.DefaultAllocator
	one, two := spans.NewBuilder(mem, spans.Links|spans.Hosts|spans.Strata|spans.Resolutions|spans.Instances), spans.NewBuilder(mem, spans.Links|spans.Hosts)
	defer one.Release()
	defer two.Release()
	row := func(b *spans.Builder, id int, hop, host, stratum string) *spans.Batch {
		r := spans.Row{Hop: b.Hop([]byte(hop)), Resolution: 3, Link: spans.Link{TraceID: spans.TraceID{Lo: 9}, Span: spans.SpanID(id)}}
		if host != "" {
			r.Host = b.Host([]byte(host))
		}
		if stratum != "" {
			r.Stratum, r.Instance = b.Stratum([]byte(stratum)), b.Instance([]byte("pod-"+stratum))
		}
		b.Append(&r)
		return b.Batch()
	}
	first, second := row(one, 1, "b", "n2", "eu"), row(one, 2, "a", "n1", "us")
	third, fourth := row(two, 3, "c", "", ""), row(two, 4, "a", "n2", "")
	for i, b := range []*spans.Batch{second, first, third, fourth} {
		if err := a.Worker(i / 2).Add(b); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	tr := collect(t, a, 1)[0]
	var got []string
	for i, s := range tr.Spans {
		got = append(got, fmt.Sprintf("%d %s %q %q %q %d", s.ID, tr.HopOf(int32(i)).Name, tr.Hosts[s.Host], tr.Strata[s.Stratum], tr.Instances[s.Instance], s.Resolution))
	}
	want := []string{`1 b "n2" "eu" "pod-eu" 3`, `2 a "n1" "us" "pod-us" 3`, `3 c "" "" "" 0`, `4 a "n2" "" "" 0`}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestMemoryStaysWithinItsLimit reads the heap while half a million spans go
// through 16 MiB.
func TestMemoryStaysWithinItsLimit(t *testing.T) {
	if testing.Short() || raceEnabled() {
		t.Skip()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	const limit, constant = 16 << 20, 8 << 20
	feed := newFeed(memory.DefaultAllocator, 50)
	defer feed.release()
	a := NewTraces(TraceConfig{Memory: limit, Workers: 2, TempDir: t.TempDir()})
	defer a.Close()
	before := heap()
	most := int64(0)
	for i := range 400_000 / spans.BatchRows {
		b := feed.batch(spans.BatchRows)
		if err := a.Worker(i % 2).Add(b); err != nil {
			t.Fatal(err)
		}
		b.Release()
		most = max(most, heap()-before)
	}
	var mu sync.Mutex
	n := 0
	err := a.Each(context.Background(), 2, func(int, *spans.Trace) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%500 == 0 {
			most = max(most, heap()-before)
		}
		return nil
	})
	t.Logf("up to %.1f MiB under a limit of %d", float64(most)/(1<<20), limit>>20)
	if err != nil || most > limit+constant || spilledBytes(a) == 0 {
		t.Errorf("up to %d MiB, %d bytes spilled, %v", most>>20, spilledBytes(a), err)
	}
}

// TestAMillionSpansOfOneTrace: it cannot be split, so it is held whole.
func TestAMillionSpansOfOneTrace(t *testing.T) {
	if testing.Short() || raceEnabled() {
		t.Skip()
	}
	const n = 61 * spans.BatchRows
	feed := newFeed(memory.DefaultAllocator, n)
	defer feed.release()
	feed.open = feed.open[:1]
	a := NewTraces(TraceConfig{Memory: 64 << 20, TempDir: t.TempDir()})
	defer a.Close()
	for range n / spans.BatchRows {
		b := feed.batch(spans.BatchRows)
		if err := a.Worker(0).Add(b); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	err := a.Each(context.Background(), 2, func(_ int, tr *spans.Trace) error {
		tr.MarkRetries(spans.RetryOptions{})
		tr.PassUpCuts()
		if len(tr.Spans) != n || len(tr.Roots) != 1 || len(tr.TopDown()) != n {
			t.Errorf("%d spans, %d roots", len(tr.Spans), len(tr.Roots))
		}
		return nil
	})
	if err != nil || a.Counts().Traces != 1 || spilledBytes(a) == 0 {
		t.Errorf("%+v, %v", a.Counts(), err)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func FuzzAdd(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), int64(1))
	f.Add(slices.Repeat([]byte{0, 1, 2, 3, 4, 0xff, 0x80}, 40), int64(0))
	f.Fuzz(func(t *testing.T, raw []byte, limit int64) {
		if len(raw) > 1<<12 {
			return
		}
		a := newTestAssembler(t, TraceConfig{Memory: limit, Workers: 1})
		b := spans.NewBuilder(memory.DefaultAllocator, spans.Links|spans.Hosts|spans.Texts|spans.Positions|spans.Strata)
		defer b.Release()
		b.SpanHop([]byte("c"), func() spans.Hop { return spans.Hop{Name: "h", Kind: spans.Client} })
		b.SpanHop([]byte("s"), func() spans.Hop { return spans.Hop{Name: "h", Kind: spans.Server} })
		n := 0
		for len(raw) >= 8 && !b.Full(&spans.Row{}) {
			r := arbitraryRow(raw[:8])
			raw = raw[8:]
			b.Append(&r)
			n++
		}
		batch := b.Batch()
		if batch == nil {
			return
		}
		err := a.Worker(0).Add(batch)
		batch.Release()
		if err != nil {
			return
		}
		seen := 0
		for _, tr := range collect(t, a, 2) {
			tr.MarkRetries(spans.RetryOptions{})
			tr.PassUpCuts()
			seen += len(tr.Spans) + tr.Duplicates
			if len(tr.TopDown()) != len(tr.Spans) {
				t.Errorf("%d spans in order of %d", len(tr.TopDown()), len(tr.Spans))
			}
		}
		if seen != n {
			t.Errorf("%d spans came out of %d", seen, n)
		}
	})
}

// arbitraryRow makes values at and beyond every edge out of eight bytes.
func arbitraryRow(p []byte) spans.Row {
	edge := func(b byte) int64 { return []int64{0, 1, -1, 1<<63 - 1, -1 << 63, 1 << 40, 7, 1e18}[b%8] }
	r := spans.Row{
		Hop: int32(p[0] % 2), Outcome: spans.Outcome(p[1]), CutBy: spans.CutBy(p[2]), HasStart: p[3]&1 > 0, HasDuration: p[3]&2 > 0, Retry: p[3]&4 > 0,
		Start: edge(p[4]), Duration: edge(p[4] >> 4), File: int32(edge(p[5])), Line: edge(p[5]),
		Link: spans.Link{TraceID: spans.TraceID{Hi: uint64(p[6] % 3), Lo: uint64(p[6] >> 6)}, Span: spans.SpanID(p[7] % 5), Parent: spans.SpanID(p[7] >> 5), Ties: spans.Ties(p[5]), Digest: uint64(p[5])},
	}
	if p[0] == 0xff {
		r.Host = int32(edge(p[1]))
	}
	if p[2]&1 > 0 {
		r.Trace, r.SpanText = p[6:7], p[7:8]
	}
	return r
}
