package retries

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

const (
	ms     = int64(1_000_000)
	cut    = spans.Truncated
	failed = spans.Failed
)

// heap is an allocator of Arrow memory that leaves all to Go: only spans imports
// Arrow.
type heap struct{}

func (heap) Allocate(size int) []byte             { return make([]byte, size) }
func (heap) Reallocate(size int, b []byte) []byte { return append(make([]byte, 0, size), b...)[:size] }
func (heap) Free([]byte)                          {}

// testLine is an attempt of a hop log, times in ms.
type testLine struct {
	chain      string // "" for none
	hop        string
	start, end int
	outcome    spans.Outcome
	failure    spans.Failure // of one that failed: NotFailed is Reset
	retry      bool
	untimed    bool
	marked     bool
}

func (l testLine) failed() spans.Failure {
	if l.outcome == failed && l.failure == spans.NotFailed {
		return spans.Reset
	}
	return l.failure
}

func (l testLine) cutBy() spans.CutBy {
	if l.outcome == cut {
		return spans.Own
	}
	return spans.NotCut
}

// batchOf makes a batch of lines.
func batchOf(list ...testLine) *spans.Batch {
	b := spans.NewBuilder(heap{}, spans.Traces|spans.Starts)
	defer b.Release()
	for _, l := range list {
		r := spans.Row{
			Hop: b.Hop([]byte(l.hop)), Outcome: l.outcome, CutBy: l.cutBy(), Failure: l.failed(), HasDuration: true, Duration: int64(l.end-l.start) * ms,
			HasStart: !l.untimed, Start: int64(l.start) * ms, Retry: l.retry, Marked: l.marked,
		}
		if l.chain != "" {
			r.Trace = []byte(l.chain)
		}
		b.Append(&r)
	}
	return b.Batch()
}

// testLog is a hop log whose lines some workers read, and what they saw.
type testLog struct {
	testing.TB
	store        *assembly.Chains
	accumulators []*Accumulator
	walls        *spans.Walls
}

func newLog(t testing.TB, c assembly.ChainConfig, accumulators ...*Accumulator) *testLog {
	c.Keep, c.Workers = max(c.Keep, assembly.KeepRetried), len(accumulators)
	c.PassUpCuts = true
	return &testLog{t, assembly.NewChains(c), accumulators, spans.NewWalls(c.Timeouts, nil, true)}
}

// add lets worker i read lines.
func (l *testLog) add(i int, list ...testLine) {
	l.Helper()
	for part := range slices.Chunk(list, 10_000) {
		b := batchOf(part...)
		l.walls.CutFailed(b)
		if err := errors.Join(l.accumulators[i].AddBatch(b), l.store.Worker(i).AddBatch(b)); err != nil {
			l.Fatal(err)
		}
		b.Release()
	}
}

// chains looks at all chains.
func (l *testLog) chains() {
	l.Helper()
	err := l.store.Each(l.Context(), len(l.accumulators), func(i int, c *spans.Chain) error {
		l.accumulators[i].AddChain(c)
		return nil
	})
	if err := errors.Join(err, l.store.Close()); err != nil {
		l.Fatal(err)
	}
}

// merged looks at all chains and returns what all workers saw.
func (l *testLog) merged() *Accumulator {
	l.Helper()
	l.chains()
	for _, w := range l.accumulators[1:] {
		l.accumulators[0].Merge(w)
	}
	return l.accumulators[0]
}

// logOf looks at the lines of a hop log.
func logOf(t testing.TB, list ...testLine) *Accumulator {
	t.Helper()
	l := newLog(t, assembly.ChainConfig{}, NewAccumulator(Config{Limit: 20}))
	l.add(0, list...)
	return l.merged()
}

// testSpan is a span, times in ms.
type testSpan struct {
	id, parent int
	hop        string
	kind       spans.Kind
	start, end int
	outcome    spans.Outcome
	retry      bool
	ties       spans.Ties
}

// traceOf links the spans of trace n and marks retries.
func traceOf(n int, list ...testSpan) *spans.Trace {
	var hops []spans.Hop
	var values []spans.Span
	for _, s := range list {
		h := spans.Hop{Name: s.hop, Kind: s.kind}
		if !slices.Contains(hops, h) {
			hops = append(hops, h)
		}
		one := spans.Span{
			ID: spans.SpanID(s.id), Parent: spans.SpanID(s.parent), Digest: uint64(s.id), Outcome: s.outcome, Ties: s.ties,
			Hop: int32(slices.Index(hops, h)), Start: int64(s.start) * ms, Duration: int64(s.end-s.start) * ms, Flags: spans.HasStart | spans.HasDuration,
		}
		switch s.outcome {
		case cut:
			one.CutBy = spans.Own
		case failed:
			one.Failure = spans.Reset
		}
		if s.retry {
			one.Flags |= spans.RetryByMark
		}
		values = append(values, one)
	}
	t := spans.NewTrace(spans.TraceID{Lo: uint64(n)}, values, hops, []string{""})
	t.MarkRetries(spans.RetryOptions{})
	return t
}

func watchOf(list ...testSpan) *Accumulator {
	w := NewAccumulator(Config{Limit: 20})
	w.AddTrace(traceOf(1, list...))
	return w
}

// usual is what the program asks for; walls are those of the map, in ms.
func usual(walls map[string]int) Query {
	return Query{
		Confidence: quantile.MustP("0.95"),
		Wall: func(h spans.Hop) (int64, bool) {
			ns, known := walls[h.Name]
			return int64(ns) * ms, known
		},
	}
}

// hopOf returns the row of a hop.
func hopOf(t testing.TB, r Result, name string) Hop {
	t.Helper()
	for _, h := range r.Hops {
		if h.Name == name {
			return h
		}
	}
	t.Fatalf("no hop %s in %+v", name, r.Hops)
	return Hop{}
}

func codes(r Result) (list []string) {
	for _, w := range r.Warnings {
		list = append(list, w.Code)
	}
	return list
}

func says(r Result, code string) bool { return slices.Contains(codes(r), code) }

// repeated makes n chains of the same lines; the k-th begins after k times apart ms.
func repeated(n, apart int, list ...testLine) (all []testLine) {
	for k := range n {
		for _, l := range list {
			l.chain = fmt.Sprint("chain ", k)
			l.start, l.end = l.start+k*apart, l.end+k*apart
			all = append(all, l)
		}
	}
	return all
}

// exactly compares results to the last digit.
var exactly = cmp.Comparer(func(a, b quantile.P) bool { return a.Compare(b) == 0 })
