package spans

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// testSpan is a span in small numbers: id 1 0-100 <- parent.
type testSpan struct {
	trace              int // 0 is trace 1
	id, parent         int
	start, end         int
	hop                string // "" is "h"
	kind               Kind   // NoKind is Internal
	outcome            Outcome
	ties               Ties
	retry              bool
	digest             int // 0: made of id and start
	noStart, noEnd     bool
	host, instance     string
	file, line         int
	traceText, textual string // texts of ids that are no number
}

func (s testSpan) hopValue() Hop {
	h := Hop{Name: "h", Kind: Internal}
	if s.hop != "" {
		h.Name = s.hop
	}
	if s.kind != NoKind {
		h.Kind = s.kind
	}
	return h
}

func (s testSpan) traceID() TraceID {
	if s.traceText != "" {
		id, _ := ParseTraceID([]byte(s.traceText))
		return id
	}
	return TraceID{0, uint64(max(s.trace, 1))}
}

func (s testSpan) spanID() SpanID {
	if s.textual != "" {
		id, _ := ParseSpanID([]byte(s.textual))
		return id
	}
	return SpanID(s.id)
}

func (s testSpan) digestValue() uint64 {
	if s.digest != 0 {
		return uint64(s.digest)
	}
	return uint64(s.id)<<20 + uint64(s.start) + 1
}

// append puts the span into a builder.
func (s testSpan) append(b *Builder) {
	h := s.hopValue()
	r := Row{
		Hop:     b.SpanHop(fmt.Append(nil, h), func() Hop { return h }),
		Outcome: s.outcome, Start: int64(s.start), HasStart: !s.noStart, Duration: int64(s.end - s.start), HasDuration: !s.noEnd,
		Retry: s.retry, File: int32(s.file), Line: int64(s.line), Trace: []byte(s.traceText), Instance: b.Instance([]byte(s.instance)),
		Link: Link{
			TraceID: s.traceID(), Span: s.spanID(), Parent: SpanID(s.parent), Ties: s.ties,
			Host: b.Host([]byte(s.host)), Digest: s.digestValue(), SpanText: []byte(s.textual),
		},
	}
	if s.outcome == Truncated {
		r.CutBy = Own
	}
	if s.outcome == Failed {
		r.Failure = OtherFailure
	}
	b.Append(&r)
}

// batchOf makes one batch of the spans, from a builder of its own.
func batchOf(mem memory.Allocator, list ...testSpan) *Batch {
	b := NewBuilder(mem, Links|Hosts|Texts|Positions|Instances)
	defer b.Release()
	for _, s := range list {
		s.append(b)
	}
	return b.Batch()
}

// traceOf links the spans of one trace.
func traceOf(t tester, list ...testSpan) *Trace {
	t.Helper()
	traces := assemble(t, AssemblerConfig{}, 1, list)
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
func assemble(t tester, c AssemblerConfig, visitors int, list []testSpan) []*Trace {
	t.Helper()
	a := NewAssembler(c)
	defer a.Close()
	addAll(t, a, list)
	return collect(t, a, visitors)
}

func addAll(t tester, a *Assembler, list []testSpan) {
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
func newTestAssembler(t testing.TB, c AssemblerConfig) *Assembler {
	if c.TempDir == "" {
		c.TempDir = t.TempDir()
	}
	a := NewAssembler(c)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return a
}

// collect returns copies of all traces by id.
func collect(t tester, a *Assembler, visitors int) []*Trace {
	t.Helper()
	var mu sync.Mutex
	traces := map[TraceID]*Trace{}
	err := a.Each(context.Background(), visitors, func(_ int, tr *Trace) error {
		mu.Lock()
		defer mu.Unlock()
		if traces[tr.ID] != nil {
			t.Errorf("trace %s came twice", tr.Name())
		}
		traces[tr.ID] = clone(tr)
		return nil
	})
	if err != nil {
		t.Fatalf("Each: %v", err)
	}
	byID := func(a, b TraceID) int { return slices.Compare([]uint64{a.Hi, a.Lo}, []uint64{b.Hi, b.Lo}) }
	var list []*Trace
	for _, id := range slices.SortedFunc(maps.Keys(traces), byID) {
		list = append(list, traces[id])
	}
	return list
}

func clone(t *Trace) *Trace {
	c := *t
	for _, s := range []*[]int32{&c.Parents, &c.Roots, &c.Missing, &c.RetryOf, &c.firstChild, &c.children} {
		*s = slices.Clone(*s)
	}
	c.Spans, c.order, c.work = slices.Clone(c.Spans), nil, workspace{}
	c.captions = nil
	for _, n := range t.captions {
		c.captions = append(c.captions, named{n.id, slices.Clone(n.text)})
	}
	return &c
}

// shape writes a trace as "id<-parent" in the order of its spans; ! marks
// spans whose parent is missing.
func shape(t *Trace) (s []string) {
	for i := range t.Spans {
		text := fmt.Sprint(uint64(t.Spans[i].ID))
		if p := t.Parents[i]; p >= 0 {
			text += fmt.Sprint("<-", uint64(t.Spans[p].ID))
			if !slices.Contains(t.Children(p), int32(i)) {
				text += " unknown to its parent"
			}
		} else if slices.Contains(t.Missing, int32(i)) {
			text += "!"
		} else if !slices.Contains(t.Roots, int32(i)) {
			text += " nowhere"
		}
		s = append(s, text)
	}
	return s
}
