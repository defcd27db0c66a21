package spans

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packed packs spans and unpacks them.
func packed(id TraceID, traceText string, list []Span, texts []string) (f fragment, out []Span, outTexts []string) {
	var p packer
	p.begin(id, 3, []byte(traceText))
	for i := range list {
		p.add(&list[i], []byte(texts[i]))
	}
	f = p.end()
	u := f.open()
	for range f.rows() {
		var s Span
		outTexts = append(outTexts, string(u.next(&s)))
		out = append(out, s)
	}
	return f, out, outTexts
}

// edges are values of every width, and those at which signs turn.
var edges = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x100, 1 << 16, 1<<24 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 48, 1<<56 - 1, 1 << 62, 1<<63 - 1, 1 << 63, math.MaxUint64}

func arbitrarySpan(r *rand.Rand, before Span) Span {
	edge := func() uint64 { return edges[r.IntN(len(edges))] }
	s := Span{
		ID: SpanID(edge()), Parent: SpanID(edge()), Start: int64(edge()), Duration: int64(edge()), Digest: edge(), Line: int64(edge()), Offset: int64(edge()),
		Hop: int32(edge()), Host: int32(edge()), Outcome: Outcome(edge()), CutBy: CutBy(edge()), Failure: Failure(edge()), Ties: Ties(edge()), Resolution: uint8(edge()), Flags: Flags(edge()),
	}
	switch r.IntN(4) {
	case 0:
		s.Parent = before.ID
	case 1:
		s.Parent = before.Parent
	}
	if r.IntN(2) == 0 {
		s.Instance = int32(edge())
		s.Timeout, s.Shift, s.Weight, s.Stratum, s.File = int64(edge()), int64(edge()), float64(edge()), int32(edge()), int32(edge())
	}
	return s
}

func TestPackedSpansComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var list []Span
		var texts []string
		before := Span{}
		for range 1 + r.IntN(9) {
			before = arbitrarySpan(r, before)
			list = append(list, before)
			texts = append(texts, []string{"", "", "span-1", string(make([]byte, 300))}[r.IntN(4)])
		}
		id, text := TraceID{r.Uint64(), r.Uint64()}, []string{"", "trace-1"}[r.IntN(2)]
		f, got, gotTexts := packed(id, text, list, texts)
		u := f.open()
		if f.trace() != id || f.length() != len(f) || u.source != 3 || string(u.text) != text {
			t.Fatalf("head: %v %d of %d, source %d, text %q", f.trace(), f.length(), len(f), u.source, u.text)
		}
		if d := cmp.Diff(list, got); d != "" {
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
	var list []Span
	for i := range 8 {
		s := Span{ID: SpanID(i+1) * 0x9e3779b97f4a7c15, Start: 1_768_442_400_000_000_000 + int64(i)*50_000, Duration: 96_019_000, Digest: uint64(i+1) * 0xd6e8feb86659fd93,
			Line: 1, Offset: 1<<30 + int64(i)*520, Hop: int32(i), Resolution: 3, Flags: HasStart | HasDuration}
		if i > 0 {
			s.Parent = list[i-1].ID
		}
		list = append(list, s)
	}
	f, _, _ := packed(TraceID{1, 2}, "", list, make([]string, len(list)))
	if n := len(f) / len(list); n > 36 {
		t.Errorf("%d bytes a span", n)
	}
}

// TestRowsOfATraceAreGrouped: mixed rows make one fragment a trace.
func TestRowsOfATraceAreGrouped(t *testing.T) {
	var list []testSpan
	for id := range 5 {
		for trace := range 7 {
			list = append(list, testSpan{trace: trace + 1, id: id + 1})
		}
	}
	a := newTestAssembler(t, AssemblerConfig{})
	b := batchOf(checked(t), list...)
	defer b.Release()
	if err := a.Worker(0).Add(b); err != nil {
		t.Fatal(err)
	}
	fragments := 0
	for i := range a.collectors[0].store.shelves {
		fragments += a.collectors[0].store.shelves[i].fragments
	}
	if fragments != 7 {
		t.Errorf("%d fragments of 7 traces", fragments)
	}
}

func BenchmarkPack(b *testing.B) {
	list := make([]Span, 8)
	for i := range list {
		list[i] = Span{ID: SpanID(i+1) << 50, Start: 1 << 60, Duration: 1 << 25, Digest: uint64(i) << 40, Line: 1, Offset: int64(i) * 520, Hop: int32(i)}
	}
	var p packer
	b.ReportAllocs()
	for b.Loop() {
		p.begin(TraceID{1, 2}, 0, nil)
		for i := range list {
			p.add(&list[i], nil)
		}
		f := p.end()
		u := f.open()
		for range list {
			var s Span
			u.next(&s)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8, "ns/span")
}
