package assembly

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tailscope/tailscope/spans"
)

// testSpan is a span in small numbers: id 1 0-100 <- parent.
type testSpan struct {
	trace              int // 0 is trace 1
	id, parent         int
	start, end         int
	hop                string     // "" is "h"
	kind               spans.Kind // NoKind is Internal
	outcome            spans.Outcome
	ties               spans.Ties
	retry              bool
	digest             int // 0: made of id and start
	noStart, noEnd     bool
	host, instance     string
	file, line         int
	traceText, textual string // texts of ids that are no number
}

func (s testSpan) hopValue() spans.Hop {
	h := spans.Hop{Name: "h", Kind: spans.Internal}
	if s.hop != "" {
		h.Name = s.hop
	}
	if s.kind != spans.NoKind {
		h.Kind = s.kind
	}
	return h
}

func (s testSpan) traceID() spans.TraceID {
	if s.traceText != "" {
		id, _ := spans.ParseTraceID([]byte(s.traceText))
		return id
	}
	return spans.TraceID{Lo: uint64(max(s.trace, 1))}
}

func (s testSpan) spanID() spans.SpanID {
	if s.textual != "" {
		id, _ := spans.ParseSpanID([]byte(s.textual))
		return id
	}
	return spans.SpanID(s.id)
}

func (s testSpan) digestValue() uint64 {
	if s.digest != 0 {
		return uint64(s.digest)
	}
	return uint64(s.id)<<20 + uint64(s.start) + 1
}

// append puts the span into a builder.
func (s testSpan) append(b *spans.Builder) {
	h := s.hopValue()
	r := spans.Row{
		Hop:     b.SpanHop(fmt.Append(nil, h), func() spans.Hop { return h }),
		Outcome: s.outcome, Start: int64(s.start), HasStart: !s.noStart, Duration: int64(s.end - s.start), HasDuration: !s.noEnd,
		Retry: s.retry, File: int32(s.file), Line: int64(s.line), Trace: []byte(s.traceText), Instance: b.Instance([]byte(s.instance)),
		Link: spans.Link{
			TraceID: s.traceID(), Span: s.spanID(), Parent: spans.SpanID(s.parent), Ties: s.ties,
			Host: b.Host([]byte(s.host)), Digest: s.digestValue(), SpanText: []byte(s.textual),
		},
	}
	if s.outcome == spans.Truncated {
		r.CutBy = spans.Own
	}
	if s.outcome == spans.Failed {
		r.Failure = spans.OtherFailure
	}
	b.Append(&r)
}

// batchOf makes one batch of the spans, from a builder of its own.
func batchOf(mem memory.Allocator, list ...testSpan) *spans.Batch {
	b := spans.NewBuilder(mem, spans.Links|spans.Hosts|spans.Texts|spans.Positions|spans.Instances)
	defer b.Release()
	for _, s := range list {
		s.append(b)
	}
	return b.Batch()
}

// traceOf links the spans of one trace.
func traceOf(t tester, list ...testSpan) *spans.Trace {
	t.Helper()
	traces := assemble(t, TraceConfig{}, 1, list)
	if len(traces) != 1 {
		t.Fatalf("%d traces, want 1", len(traces))
	}
	return traces[0]
}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// assemble gives each worker every workers-th of up to 51 batches and returns
// the traces by id; nothing is left on disk.
func assemble(t tester, c TraceConfig, visitors int, list []testSpan) []*spans.Trace {
	t.Helper()
	a := NewTraces(c)
	defer a.Close()
	addAll(t, a, list)
	return collect(t, a, visitors)
}

func addAll(t tester, a *Traces, list []testSpan) {
	w := 0
	for part := range slices.Chunk(list, max(5, len(list)/50)) {
		b := batchOf(memory.DefaultAllocator, part...)
		err := a.Worker(w % a.config.Workers).Add(b)
		b.Release()
		if err != nil {
			t.Fatalf("Add: %v", err)
		}
		w++
	}
}

// newTestAssembler returns an assembler that is closed when the test ends, with
// a folder of its own.
func newTestAssembler(t testing.TB, c TraceConfig) *Traces {
	if c.TempDir == "" {
		c.TempDir = t.TempDir()
	}
	a := NewTraces(c)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return a
}

// collect returns copies of all traces by id.
func collect(t tester, a *Traces, visitors int) []*spans.Trace {
	t.Helper()
	var mu sync.Mutex
	traces := map[spans.TraceID]*spans.Trace{}
	err := a.Each(context.Background(), visitors, func(_ int, tr *spans.Trace) error {
		mu.Lock()
		defer mu.Unlock()
		if traces[tr.ID] != nil {
			t.Errorf("trace %s came twice", tr.Name())
		}
		traces[tr.ID] = clone(t, tr)
		return nil
	})
	if err != nil {
		t.Fatalf("Each: %v", err)
	}
	byID := func(a, b spans.TraceID) int { return slices.Compare([]uint64{a.Hi, a.Lo}, []uint64{b.Hi, b.Lo}) }
	var list []*spans.Trace
	for _, id := range slices.SortedFunc(maps.Keys(traces), byID) {
		list = append(list, traces[id])
	}
	return list
}

// clone copies a trace, which is linked again.
func clone(t tester, tr *spans.Trace) *spans.Trace {
	t.Helper()
	c := &spans.Trace{ID: tr.ID, Text: tr.Text, Spans: slices.Clone(tr.Spans), Hops: tr.Hops, Hosts: tr.Hosts, Strata: tr.Strata, Instances: tr.Instances}
	for i, s := range c.Spans {
		if name := tr.SpanName(int32(i)); name != s.ID.String() {
			c.Caption(s.ID, []byte(name))
		}
	}
	c.Link()
	if c.Duplicates != 0 || c.Cycles != tr.Cycles || !slices.Equal(c.Parents, tr.Parents) {
		t.Errorf("trace %s: %d duplicates, %d cycles, parents %v; was %d, %v", tr.Name(), c.Duplicates, c.Cycles, c.Parents, tr.Cycles, tr.Parents)
	}
	c.Duplicates = tr.Duplicates
	return c
}

// checked returns an allocator that reports what is not released.
func checked(t testing.TB) memory.Allocator {
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { a.AssertSize(t, 0) })
	return a
}

const everything = spans.Traces | spans.Starts | spans.Positions | spans.Strata | spans.Links | spans.Hosts | spans.Texts | spans.Resolutions | spans.Instances

// spilledBytes is how much the collectors have written to files.
func spilledBytes(a *Traces) (n int64) {
	for _, c := range a.collectors {
		for i := range c.store.partitions {
			n += c.store.partitions[i].spilled()
		}
	}
	return n
}
