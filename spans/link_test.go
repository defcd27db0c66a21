package spans

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestSpansBecomeAForest(t *testing.T) {
	for _, c := range []struct {
		name   string
		spans  []testSpan
		want   string
		dups   int
		cycles int
	}{
		// PEERS.md, cases 1 to 7.
		{"a child outlives its parent", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 110}, {id: 3, parent: 2, start: 40, end: 50}},
			"1 2<-1 3<-2", 0, 0},
		{"two outlive", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 70}, {id: 3, parent: 2, start: 20, end: 120}},
			"1 2<-1 3<-2", 0, 0},
		{"one starts late", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 110, end: 160}, {id: 3, parent: 2, start: 120, end: 150}, {id: 4, parent: 1, start: 60, end: 90}},
			"1 4<-1 2<-1 3<-2", 0, 0},
		{"a row of children", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 30}, {id: 3, parent: 1, start: 40, end: 50}, {id: 4, parent: 1, start: 60, end: 90}},
			"1 2<-1 3<-1 4<-1", 0, 0},
		{"overlapping children", []testSpan{{id: 1, end: 1000}, {id: 2, parent: 1, start: 10, end: 210}, {id: 3, parent: 1, start: 209, end: 309}, {id: 4, parent: 1, start: 308, end: 608}},
			"1 2<-1 3<-1 4<-1", 0, 0},
		{"equal boundaries", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, end: 50}, {id: 3, parent: 1, start: 50, end: 100}},
			"1 2<-1 3<-1", 0, 0},
		{"a child before its parent", []testSpan{{id: 2, parent: 1, start: 5, end: 6}, {id: 1, start: 10, end: 100}}, "2<-1 1", 0, 0},

		{"a missing parent", []testSpan{{id: 1, end: 9}, {id: 3, parent: 2, start: 1, end: 2}, {id: 4, parent: 3, start: 1, end: 2}}, "1 3! 4<-3", 0, 0},
		{"two roots", []testSpan{{id: 1, end: 9}, {id: 2, start: 1, end: 2}}, "1 2", 0, 0},
		{"exact duplicates", []testSpan{{id: 1, end: 9}, {id: 2, parent: 1, start: 1, end: 2}, {id: 2, parent: 1, start: 1, end: 2}, {id: 1, end: 9}}, "1 2<-1", 2, 0},
		{"the same in three files", []testSpan{{id: 1, end: 9, file: 1}, {id: 1, end: 9, file: 2}, {id: 1, end: 9, file: 3}}, "1", 2, 0},
		{"the digest decides, not the times", []testSpan{{id: 1, digest: 7, end: 9}, {id: 1, digest: 7, start: 3, end: 9}}, "1", 1, 0},
		{"one id, other content", []testSpan{{id: 1, end: 9}, {id: 1, start: 1, end: 3}, {id: 2, parent: 1, start: 2, end: 3}}, "1 1 2<-1", 0, 0},
		{"one id and digest, other hop", []testSpan{{id: 1, digest: 7, end: 9}, {id: 1, digest: 7, end: 9, hop: "x"}}, "1 1", 0, 0},
		{"one id and digest, other parent", []testSpan{{id: 1, digest: 7, end: 9}, {id: 1, digest: 7, parent: 5, end: 9}}, "1 1!", 0, 0},
		{"in two encodings", []testSpan{{id: 1, digest: 7, end: 9000}, {id: 1, digest: 8, end: 9000}, {id: 2, parent: 1, digest: 7, start: 5, end: 20}, {id: 2, parent: 1, digest: 8, start: 5, end: 20}}, "1 2<-1", 2, 0},
		{"in micro- and nanoseconds", []testSpan{{id: 1, start: 5000, end: 95_000}, {id: 1, start: 5300, end: 95_900}}, "1", 1, 0},
		{"in micro- and nanoseconds, three times", []testSpan{{id: 1, start: 5000, end: 95_000}, {id: 1, start: 5300, end: 95_900}, {id: 1, digest: 7, start: 5000, end: 95_000}}, "1", 2, 0},
		{"in micro- and nanoseconds, further apart", []testSpan{{id: 1, start: 4000, end: 94_000}, {id: 1, start: 5300, end: 95_900}}, "1 1", 0, 0},
		{"in nanoseconds, some apart", []testSpan{{id: 1, start: 5200, end: 95_000}, {id: 1, start: 5300, end: 95_000}}, "1 1", 0, 0},
		{"in two encodings, other kind", []testSpan{{id: 1, digest: 7, end: 9000, kind: Server}, {id: 1, digest: 8, end: 9000}}, "1 1", 0, 0},
		{"in two encodings, without id", []testSpan{{digest: 7, end: 9000}, {digest: 8, end: 9000}}, "0 0", 0, 0},
		{"in two encodings, without an end", []testSpan{{id: 1, digest: 7, noEnd: true}, {id: 1, digest: 8, noEnd: true}}, "1 1", 0, 0},
		{"lines with made-up ids", []testSpan{{id: 1, digest: 7, end: 9000, ties: LogLine}, {id: 1, digest: 8, end: 9000, ties: LogLine}}, "1 1", 0, 0},
		{"spans without id", []testSpan{{digest: 1, end: 9}, {digest: 2, start: 1, end: 2, kind: Server}, {digest: 3, start: 1, end: 2, kind: Client}}, "0 0 0", 0, 0},

		{"its own parent", []testSpan{{id: 1, parent: 1, end: 9}, {id: 2, parent: 1, start: 1, end: 2}}, "1 2<-1", 0, 1},
		{"twins that name their own id", []testSpan{{id: 1, parent: 1, end: 9}, {id: 1, parent: 1, start: 1, end: 2}}, "1 1", 0, 2},
		{"two name each other", []testSpan{{id: 1, parent: 2, end: 9}, {id: 2, parent: 1, start: 1, end: 2}}, "1 2<-1", 0, 1},
		{"a cycle with a tail", []testSpan{{id: 9, parent: 4, end: 1}, {id: 4, parent: 2, start: 1, end: 2}, {id: 3, parent: 4, start: 2, end: 3}, {id: 2, parent: 3, start: 3, end: 4}},
			"9<-4 4 3<-4 2<-3", 0, 1},
		{"two cycles", []testSpan{{id: 1, parent: 2}, {id: 2, parent: 1}, {id: 3, parent: 4}, {id: 4, parent: 3}}, "1 2<-1 3 4<-3", 0, 2},

		{"client and server share an id", []testSpan{
			{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 90, kind: Client}, {id: 2, parent: 1, start: 20, end: 80, kind: Server}, {id: 3, parent: 2, start: 30, end: 40}},
			"1 2<-1 2<-2 3<-2", 0, 0},
		{"the server's clock is early", []testSpan{{id: 2, start: 20, end: 80, kind: Client}, {id: 2, start: 10, end: 70, kind: Server}, {id: 3, parent: 2, start: 30, end: 40}},
			"2<-2 2 3<-2", 0, 0},
		{"two servers share a client's id", []testSpan{{id: 2, end: 90, kind: Client}, {id: 2, start: 1, end: 3, kind: Server}, {id: 2, start: 5, end: 8, kind: Server}}, "2 2<-2 2<-2", 0, 0},
		{"a client half that names itself", []testSpan{{id: 2, parent: 2, end: 90, kind: Client}, {id: 2, parent: 2, start: 1, end: 3, kind: Server}}, "2 2<-2", 0, 1},
		{"a cycle through shared halves", []testSpan{{id: 2, parent: 3, end: 90, kind: Client}, {id: 2, start: 1, end: 3, kind: Server}, {id: 3, parent: 2, start: 2, end: 3}}, "2 2<-2 3<-2", 0, 1},
		{"without start", []testSpan{{id: 2, parent: 1, noStart: true, noEnd: true}, {id: 1, start: 3, end: 9}}, "2<-1 1", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // case 7: in either order
				got := traceOf(t, c.spans...)
				if s := strings.Join(shape(got), " "); s != c.want {
					t.Errorf("%s, want %s", s, c.want)
				}
				if got.Duplicates != c.dups || got.Cycles != c.cycles {
					t.Errorf("%d duplicates, %d cycles; want %d, %d", got.Duplicates, got.Cycles, c.dups, c.cycles)
				}
				slices.Reverse(c.spans)
			}
		})
	}
}

func TestChildrenOfASharedIDHangUnderTheServerHalf(t *testing.T) {
	got := traceOf(t, testSpan{id: 2, end: 90, kind: Client}, testSpan{id: 2, start: 20, end: 80, kind: Server}, testSpan{id: 3, parent: 2, start: 30, end: 40})
	if got.HopOf(got.Parents[2]).Kind != Server || got.HopOf(got.Parents[1]).Kind != Client {
		t.Errorf("parents %v of %v", got.Parents, got.Spans)
	}
	if !got.Spans[1].Ties.Has(SharedHalf) || got.Spans[0].Ties.Has(SharedHalf) {
		t.Errorf("SharedHalf belongs on the server half alone")
	}
}

func TestOfDuplicatesTheFirstPositionStays(t *testing.T) {
	got := traceOf(t, testSpan{id: 1, file: 2, line: 1}, testSpan{id: 1, file: 1, line: 8}, testSpan{id: 1, file: 1, line: 7})
	if s := got.Spans[0]; s.File != 1 || s.Line != 7 {
		t.Errorf("file %d line %d, want 1 and 7", s.File, s.Line)
	}
}

// Of two encodings the one with the finer times stays, whichever came first.
func TestOfTwoEncodingsTheFinerTimesStay(t *testing.T) {
	fine, coarse := testSpan{id: 1, start: 5300, end: 95_900, line: 1}, testSpan{id: 1, start: 5000, end: 95_000, line: 2}
	late := testSpan{id: 1, start: 6000, end: 97_000, line: 3} // rounded up
	for _, list := range [][]testSpan{{fine, coarse}, {coarse, fine}, {fine, late}, {late, fine}} {
		if got := traceOf(t, list...); len(got.Spans) != 1 || got.Spans[0].Line != 1 {
			t.Errorf("%d spans, line %d", len(got.Spans), got.Spans[0].Line)
		}
	}
}

func TestTopDownPutsParentsFirst(t *testing.T) {
	tr := traceOf(t, testSpan{id: 3, parent: 2}, testSpan{id: 2, parent: 1, start: 1}, testSpan{id: 1, start: 2}, testSpan{id: 4, parent: 9})
	seen := map[int32]bool{}
	for _, i := range tr.TopDown() {
		if p := tr.Parents[i]; p >= 0 && !seen[p] {
			t.Errorf("span %d before its parent", i)
		}
		seen[i] = true
	}
	if len(seen) != 4 || !slices.Equal(tr.TopDown(), tr.TopDown()) {
		t.Errorf("order %v", tr.TopDown())
	}
}

// TestGreatTraces: a million spans, chains and cycles deeper than any stack
// should be asked to go, and one id on everything. Work that grew with the square
// of any of it would outlast the test.
func TestGreatTraces(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	const deep, wide = 100_000, 1_000_000
	hops := []Hop{{Name: "h", Kind: Client}}
	for _, c := range []struct {
		name   string
		n      int
		span   func(i int) Span
		cycles int
		roots  int
	}{
		{"a chain", deep, func(i int) Span { return Span{ID: SpanID(i + 1), Parent: SpanID(i), Start: int64(deep - i)} }, 0, 1},
		{"a cycle", deep, func(i int) Span {
			return Span{ID: SpanID(i + 1), Parent: SpanID((i+1)%deep + 1), Start: int64(i * 7919 % deep)}
		}, 1, 1},
		{"all children of one", wide, func(i int) Span {
			return Span{ID: SpanID(i + 1), Parent: SpanID(min(i, 1)), Start: int64(2 * i), Duration: 1, Flags: HasStart | HasDuration, Outcome: Failed}
		}, 0, 1},
		{"a tree of two", wide, func(i int) Span { return Span{ID: SpanID(i + 1), Parent: SpanID((i + 1) / 2), Outcome: Failed} }, 0, 1},
		{"one id on all", wide, func(i int) Span { return Span{ID: 1, Parent: 2, Digest: uint64(i / 2), Start: int64(i)} }, 0, 0},
		{"no parents", wide, func(i int) Span { return Span{ID: SpanID(wide - i)} }, 0, wide},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := make([]Span, c.n)
			for i := range list {
				list[i] = c.span(i)
			}
			list[c.n-1].Outcome = Truncated
			tr := NewTrace(TraceID{1, 2}, list, hops, nil)
			tr.MarkRetries(RetryOptions{})
			tr.PassUpCuts()
			if tr.Cycles != c.cycles || len(tr.Roots) != c.roots || len(tr.TopDown()) != len(tr.Spans) {
				t.Errorf("%d cycles, %d roots, %d in order", tr.Cycles, len(tr.Roots), len(tr.TopDown()))
			}
		})
	}
}

func TestSizesAreAsAccounted(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"Span", unsafe.Sizeof(Span{}), 104},
	} {
		if c.got != c.want {
			t.Errorf("%s has %d bytes, want %d", c.what, c.got, c.want)
		}
	}
}

func TestEndsDoNotWrap(t *testing.T) {
	const most, least = 1<<63 - 1, -1 << 63
	for _, c := range []struct{ start, duration, want int64 }{{3, 4, 7}, {most - 1, 5, most}, {least + 1, -5, least}, {-3, 3, 0}, {5, most, most}, {-5, least, least}} {
		if got := (&Span{Start: c.start, Duration: c.duration}).End(); got != c.want {
			t.Errorf("%d + %d = %d, want %d", c.start, c.duration, got, c.want)
		}
	}
}
