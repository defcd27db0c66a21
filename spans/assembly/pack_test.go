package assembly

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/spans"
)

// packed packs the rows of one trace and unpacks them.
func packed(t testing.TB, id spans.TraceID, traceText string, list []spans.Row) (f fragment, out []spans.Span, texts []string) {
	b := spans.NewBuilder(checked(t), everything)
	defer b.Release()
	for i := range list {
		b.Append(&list[i])
	}
	batch := b.Batch()
	defer batch.Release()
	v := vectorsOf(batch, testNames)
	if err := v.check(); err != nil {
		t.Fatal(err)
	}
	var p packer
	p.begin(id, 3, []byte(traceText))
	for i := range list {
		p.add(&v, i)
	}
	f = p.end()
	u := f.open()
	for range f.rows() {
		var s spans.Span
		texts = append(texts, string(u.next(&s)))
		out = append(out, s)
	}
	return f, out, texts
}

// edges are values of every width, and those at which signs turn.
var edges = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x100, 1 << 16, 1<<24 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 48, 1<<56 - 1, 1 << 62, 1<<63 - 1, 1 << 63, math.MaxUint64}

// testNames give each index the number that stands there in edges.
var testNames = func() *renaming {
	var list []int32
	for _, e := range edges {
		list = append(list, int32(e))
	}
	return &renaming{list, list, list, list}
}()

func arbitraryPackedRow(r *rand.Rand, before spans.Row) spans.Row {
	edge := func() uint64 { return edges[r.IntN(len(edges))] }
	index := func() int32 { return int32(r.IntN(len(edges))) }
	coin := func() bool { return r.IntN(2) == 0 }
	row := spans.Row{
		Hop: index(), Outcome: spans.Outcome(edge()), CutBy: spans.CutBy(edge()), Failure: spans.Failure(edge()), Resolution: uint8(edge()), Retry: coin(), Marked: coin(),
		HasStart: coin(), HasDuration: coin(), HasTimeout: r.IntN(4) == 0, Start: int64(edge()), Duration: int64(edge()), Line: int64(edge()), Offset: int64(edge()),
		Link: spans.Link{Span: spans.SpanID(edge()), Parent: spans.SpanID(edge()), Ties: spans.Ties(edge()), Host: index(), Digest: edge()},
	}
	switch r.IntN(4) {
	case 0:
		row.Parent = before.Span
	case 1:
		row.Parent = before.Parent
	}
	if coin() {
		row.Instance, row.Timeout, row.Weight, row.Stratum, row.File = index(), int64(edge()), float64(edge()), index(), int32(edge())
	}
	row.SpanText = [][]byte{nil, nil, []byte("span-1"), make([]byte, 300)}[r.IntN(4)]
	return row
}

// spanOfRow is what a row becomes.
func spanOfRow(r *spans.Row) spans.Span {
	n := testNames
	s := spans.Span{
		ID: r.Span, Parent: r.Parent, Digest: r.Digest, Weight: r.Weight, Line: r.Line, Offset: r.Offset, File: r.File,
		Hop: n.hops[r.Hop], Host: n.hosts[r.Host], Stratum: n.strata[r.Stratum], Instance: n.instances[r.Instance],
		Outcome: r.Outcome, CutBy: r.CutBy, Failure: r.Failure, Ties: r.Ties, Resolution: r.Resolution,
		Flags: flag(r.Marked, spans.OutcomeMarked) | flag(r.Retry || r.Ties.Has(spans.MarkedRetry), spans.RetryByMark),
	}
	if r.HasStart {
		s.Start, s.Flags = r.Start, s.Flags|spans.HasStart
	}
	if r.HasDuration {
		s.Duration, s.Flags = r.Duration, s.Flags|spans.HasDuration
	}
	if r.HasTimeout {
		s.Timeout, s.Flags = r.Timeout, s.Flags|spans.HasTimeout
	}
	return s
}

func TestPackedSpansComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var list []spans.Row
		var want []spans.Span
		var texts []string
		before := spans.Row{}
		for range 1 + r.IntN(9) {
			before = arbitraryPackedRow(r, before)
			list = append(list, before)
			want, texts = append(want, spanOfRow(&before)), append(texts, string(before.SpanText))
		}
		id, text := spans.TraceID{Hi: r.Uint64(), Lo: r.Uint64()}, []string{"", "trace-1"}[r.IntN(2)]
		f, got, gotTexts := packed(t, id, text, list)
		u := f.open()
		if f.trace() != id || f.length() != len(f) || u.source != 3 || string(u.text) != text {
			t.Fatalf("head: %v %d of %d, source %d, text %q", f.trace(), f.length(), len(f), u.source, u.text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(texts, gotTexts); d != "" {
			t.Fatal(d)
		}
	}
}

// TestUsualSpansArePackedSmall: what the memory limit holds and a spill file
// costs rests on it.
func TestUsualSpansArePackedSmall(t *testing.T) {
	f, _, _ := packed(t, spans.TraceID{Hi: 1, Lo: 2}, "", usualRows())
	if n := len(f) / f.rows(); n > 36 {
		t.Errorf("%d bytes a span", n)
	}
}

// usualRows are a trace of calls within calls.
func usualRows() (list []spans.Row) {
	for i := range 8 {
		r := spans.Row{Start: 1_768_442_400_000_000_000 + int64(i)*50_000, Duration: 96_019_000, HasStart: true, HasDuration: true, Resolution: 3,
			Line: 1, Offset: 1<<30 + int64(i)*520, Hop: int32(i) % 5, Link: spans.Link{Span: spans.SpanID(i+1) * 0x9e3779b97f4a7c15, Digest: uint64(i+1) * 0xd6e8feb86659fd93}}
		if i > 0 {
			r.Parent = list[i-1].Span
		}
		list = append(list, r)
	}
	return list
}

// TestRowsOfATraceAreGrouped: mixed rows make one fragment a trace.
func TestRowsOfATraceAreGrouped(t *testing.T) {
	var list []testSpan
	for id := range 5 {
		for trace := range 7 {
			list = append(list, testSpan{trace: trace + 1, id: id + 1})
		}
	}
	a := newTestAssembler(t, TraceConfig{})
	b := batchOf(checked(t), list...)
	defer b.Release()
	if err := a.Worker(0).Add(b); err != nil {
		t.Fatal(err)
	}
	fragments := 0
	for i := range a.collectors[0].store.partitions {
		fragments += a.collectors[0].store.partitions[i].records
	}
	if fragments != 7 {
		t.Errorf("%d fragments of 7 traces", fragments)
	}
}

func BenchmarkPack(b *testing.B) {
	rows := spans.NewBuilder(memory.DefaultAllocator, spans.Links|spans.Positions)
	defer rows.Release()
	for _, r := range usualRows() {
		rows.Append(&r)
	}
	batch := rows.Batch()
	defer batch.Release()
	v := vectorsOf(batch, testNames)
	var p packer
	b.ReportAllocs()
	for b.Loop() {
		p.begin(spans.TraceID{Hi: 1, Lo: 2}, 0, nil)
		for i := range batch.Len() {
			p.add(&v, i)
		}
		f := p.end()
		u := f.open()
		for range batch.Len() {
			var s spans.Span
			u.next(&s)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8, "ns/span")
}
