package spans

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"
)

const everything = Traces | Starts | Positions | Strata | Links | Hosts | Texts | Resolutions | Instances

// checked returns an allocator that fails the test if memory is left over.
func checked(t testing.TB) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func TestBatchGivesBackEveryField(t *testing.T) {
	b := NewBuilder(checked(t), everything)
	defer b.Release()
	full := Row{
		Hop: b.Hop([]byte("orders")), Stratum: b.Stratum([]byte("eu")), Instance: b.Instance([]byte("10.0.0.7")), Outcome: Truncated, CutBy: Own,
		Resolution: 3, Retry: true, Marked: true, HasDuration: true, HasTimeout: true, HasStart: true,
		File: 7, Duration: 300_068_000, Timeout: 300e6, Start: -5, Line: 9, Offset: 1 << 40, Trace: []byte("t1"),
		Link: Link{
			TraceID: TraceID{1, 2}, Span: 3, Parent: 4, Ties: Async | Shifted, Host: b.Host([]byte("node-1")), Digest: 1 << 63,
			Weight: 0.25, SpanText: []byte("span-1"),
		},
	}
	bare := Row{Hop: b.Hop([]byte("stock")), Stratum: b.Stratum(nil), Outcome: Unfinished, Link: Link{Host: b.Host(nil)}}
	b.Append(&full)
	b.Append(&bare)
	got := b.Batch()
	defer got.Release()
	if got.Len() != 2 {
		t.Fatalf("Len = %d, want 2", got.Len())
	}
	for i, want := range []Row{full, bare} {
		if row := rowOf(got, i); fmt.Sprint(row) != fmt.Sprint(want) {
			t.Errorf("row %d\n got %+v\nwant %+v", i, row, want)
		}
	}
	if got.Hops[got.Hop[0]].Name != "orders" || got.Strata[got.Stratum[0]] != "eu" {
		t.Errorf("names: hop %q, stratum %q", got.Hops[got.Hop[0]], got.Strata[got.Stratum[0]])
	}
	if got.Instances[got.Instance[0]] != "10.0.0.7" || got.Instances[got.Instance[1]] != "" {
		t.Errorf("instances: %d and %d of %q", got.Instance[0], got.Instance[1], got.Instances)
	}
	if column := got.Record().Column(got.Record().Schema().FieldIndices("instance")[0]); column.NullN() != 1 || column.IsNull(0) {
		t.Errorf("instances: %v", column)
	}
}

func TestInstancesThatAreTooManyHaveNoNumber(t *testing.T) {
	b := NewBuilder(checked(t), Instances)
	defer b.Release()
	for i := range MostInstances + 1 {
		if got := b.Instance(fmt.Append(nil, "request-", i)); got != int32(i)+1 {
			t.Fatalf("instance %d has the number %d", i, got)
		}
	}
	if known, more := b.Instance([]byte("request-7")), b.Instance([]byte("one more")); known != 8 || more != 0 {
		t.Errorf("a known one has the number %d, one too many %d", known, more)
	}
}

// rowOf reads a row back through the batch's public face.
func rowOf(b *Batch, i int) Row {
	r := Row{
		Hop: b.Hop[i], Stratum: b.Stratum[i], Outcome: Outcome(b.Outcome[i]), CutBy: CutBy(b.CutBy[i]), Failure: Failure(b.Failure[i]),
		Instance: b.Instance[i], Resolution: b.Resolution[i], Retry: b.Retry(i), Marked: b.Marked(i), HasDuration: b.HasDuration(i), HasTimeout: b.HasTimeout(i),
		File: b.File[i], Duration: b.Duration[i], Timeout: b.Timeout[i], Line: b.Line[i], Offset: b.Offset[i], Trace: b.Trace(i),
	}
	r.Link = Link{
		TraceID: TraceID{b.TraceHi[i], b.TraceLo[i]}, Span: SpanID(b.Span[i]), Parent: SpanID(b.Parent[i]), Ties: Ties(b.Ties[i]),
		Host: b.Host[i], Digest: b.Digest[i], Weight: b.Weight[i], SpanText: b.SpanText(i),
	}
	r.Start, r.HasStart = b.Start(i)
	return r
}

func TestRecordMatchesItsSchema(t *testing.T) {
	for c := Columns(0); c <= everything; c++ {
		b := NewBuilder(checked(t), c)
		b.Append(&Row{Hop: b.Hop([]byte("h"))})
		got := b.Batch()
		if !got.Record().Schema().Equal(Schema(c)) {
			t.Errorf("columns %b: schema %v", c, got.Record().Schema())
		}
		got.Release()
		b.Release()
	}
}

func TestColumnsNotAskedForAreNil(t *testing.T) {
	b := NewBuilder(checked(t), 0)
	defer b.Release()
	b.Append(&Row{Hop: b.Hop([]byte("h")), Line: 3, Instance: 1, Link: Link{Span: 1, SpanText: []byte("s")}})
	got := b.Batch()
	defer got.Release()
	if got.Line != nil || got.File != nil || got.Stratum != nil || got.Resolution != nil || got.Instance != nil || got.Host != nil || got.Linked() {
		t.Errorf("a column that was not asked for is there")
	}
	if text := got.SpanText(0); text != nil {
		t.Errorf("the text %q that was not asked for is there", text)
	}
}

func TestHopIndexKeepsItsMeaningAcrossBatches(t *testing.T) {
	b := NewBuilder(checked(t), 0)
	defer b.Release()
	var before *Batch
	for n := range 3 {
		b.Append(&Row{Hop: b.Hop([]byte("a"))})
		b.Append(&Row{Hop: b.Hop(fmt.Append(nil, "new", n))})
		got := b.Batch()
		if got.Hop[0] != 0 || got.Hops[got.Hop[1]].Name != fmt.Sprint("new", n) {
			t.Errorf("batch %d: indices %v of %v", n, got.Hop, got.Hops)
		}
		if before != nil && before.Lineage != got.Lineage {
			t.Errorf("batch %d: another lineage", n)
		}
		before = got
		got.Release()
	}
}

func TestNamesThatDifferInAnyByteStayApart(t *testing.T) {
	b := NewBuilder(checked(t), 0)
	defer b.Release()
	x, y := b.Hop([]byte("caf\xe9")), b.Hop([]byte("caf\xe8"))
	if x == y {
		t.Errorf("two names became one")
	}
	b.Append(&Row{Hop: x})
	got := b.Batch()
	defer got.Release()
	if s := got.Record().Column(0).ValueStr(0); s != "caf\uFFFD" {
		t.Errorf("Arrow string %q is not the name with its bad byte replaced", s)
	}
}

func TestBuilderIsFullAfterBatchRows(t *testing.T) {
	b := NewBuilder(checked(t), everything)
	defer b.Release()
	h := b.Hop([]byte("h"))
	for i := range BatchRows {
		if b.Full(&Row{}) {
			t.Fatalf("full after %d rows", i)
		}
		b.Append(&Row{Hop: h, Duration: int64(i), HasDuration: i%3 > 0, Trace: []byte("id")})
	}
	if !b.Full(&Row{}) {
		t.Fatalf("not full after %d rows", BatchRows)
	}
	got := b.Batch()
	defer got.Release()
	if got.Len() != BatchRows || b.rows != 0 {
		t.Errorf("batch of %d rows, %d left", got.Len(), b.rows)
	}
}

func TestBuilderIsFullBeforeTraceIdsOverflow(t *testing.T) {
	b := NewBuilder(checked(t), Traces)
	defer b.Release()
	long := Row{Trace: make([]byte, maxBlobBytes)}
	if b.Full(&long) {
		t.Errorf("an empty builder takes any id")
	}
	b.Append(&Row{Trace: []byte("x")})
	if !b.Full(&long) || b.Full(&Row{Trace: make([]byte, 100)}) {
		t.Errorf("full is decided by the room that is left")
	}
}

func TestEmptyBuilderHasNoBatch(t *testing.T) {
	b := NewBuilder(checked(t), 0)
	defer b.Release()
	if got := b.Batch(); got != nil {
		t.Errorf("Batch = %v, want nil", got)
	}
}

func TestReleaseFreesRowsThatWait(t *testing.T) {
	b := NewBuilder(checked(t), everything)
	b.Append(&Row{Hop: b.Hop([]byte("h")), Trace: []byte(strings.Repeat("x", 10000))})
	b.Release()
	if b.rows != 0 {
		t.Errorf("rows left after Release")
	}
}

func TestWhatGoesInComesOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := NewBuilder(checked(t), everything)
		defer b.Release()
		var want []Row
		for range rapid.IntRange(1, 50).Draw(rt, "rows") {
			r := Row{
				Hop:     b.Hop([]byte(rapid.SampledFrom([]string{"a", "b", "c\x00"}).Draw(rt, "hop"))),
				Stratum: b.Stratum([]byte(rapid.String().Draw(rt, "stratum"))),
				Outcome: Outcome(rapid.IntRange(0, 3).Draw(rt, "outcome")), CutBy: CutBy(rapid.IntRange(0, 4).Draw(rt, "cut")),
				Failure: Failure(rapid.IntRange(0, 8).Draw(rt, "failure")), Retry: rapid.Bool().Draw(rt, "retry"),
				Marked: rapid.Bool().Draw(rt, "marked"), Line: rapid.Int64().Draw(rt, "line"),
			}
			if r.HasDuration = rapid.Bool().Draw(rt, "has duration"); r.HasDuration {
				r.Duration = rapid.Int64().Draw(rt, "duration")
			}
			if r.HasStart = rapid.Bool().Draw(rt, "has start"); r.HasStart {
				r.Start = rapid.Int64().Draw(rt, "start")
			}
			if id := rapid.SliceOf(rapid.Byte()).Draw(rt, "trace"); len(id) > 0 {
				r.Trace = id
			}
			b.Append(&r)
			want = append(want, r)
		}
		got := b.Batch()
		defer got.Release()
		for i := range want {
			if row := rowOf(got, i); fmt.Sprint(row) != fmt.Sprint(want[i]) {
				rt.Fatalf("row %d\n got %+v\nwant %+v", i, row, want[i])
			}
		}
	})
}

func TestEachHopIsNamedInTheRecord(t *testing.T) {
	b := NewBuilder(checked(t), Links)
	defer b.Release()
	server, client := Hop{"stock GET /", "stock", "GET /", Server}, Hop{"stock GET /", "stock", "GET /", Client}
	made := 0
	for _, h := range []Hop{server, client, server} {
		b.Append(&Row{Hop: b.SpanHop(append([]byte("stock\x00GET /\x00"), byte(h.Kind)), func() Hop { made++; return h })})
	}
	got := b.Batch()
	defer got.Release()
	if made != 2 || got.Hops[got.Hop[1]] != client || got.Hops[got.Hop[2]] != server {
		t.Errorf("described %d times: %v of %+v", made, got.Hop, got.Hops)
	}
	for i := range got.Len() {
		if s := got.Record().Column(0).ValueStr(i); s != "stock GET /" {
			t.Errorf("row %d: the record names the hop %q", i, s)
		}
	}
}

// TestNullsOfEveryPattern: a column has a bitmap only where some rows are null.
func TestNullsOfEveryPattern(t *testing.T) {
	b := NewBuilder(checked(t), Instances)
	defer b.Release()
	const rows = 10
	for pattern := range 1 << rows {
		for i := range rows {
			given := pattern>>i&1 > 0
			r := Row{HasStart: given, HasDuration: !given, Hop: b.Hop([]byte("h")), Start: 7, Duration: 9}
			if given {
				r.Trace, r.Instance = []byte{byte(i + 1)}, b.Instance([]byte("i"))
			}
			b.Append(&r)
		}
		got := b.Batch()
		given := 0
		for i := range rows {
			start, has := got.Start(i)
			if want := pattern>>i&1 > 0; has != want || got.HasDuration(i) == want || (got.Trace(i) != nil) != want || (got.Instance[i] != 0) != want ||
				(start == 7) != want || (got.Duration[i] == 9) == want || want && got.Trace(i)[0] != byte(i+1) {
				t.Fatalf("pattern %b, row %d: start %d %v, duration %d, trace %v", pattern, i, start, has, got.Duration[i], got.Trace(i))
			} else if want {
				given++
			}
		}
		if got.AnyStart() != (given > 0) || (got.AllStarts() != nil) != (given == rows) {
			t.Errorf("pattern %b: any start %v, all %v", pattern, got.AnyStart(), got.AllStarts())
		}
		for name, nulls := range map[string]int{"start": rows - given, "trace": rows - given, "instance": rows - given, "duration_ns": given, "timeout_ns": rows} {
			column := got.Record().Column(got.Record().Schema().FieldIndices(name)[0])
			if column.NullN() != nulls {
				t.Errorf("pattern %b: %d nulls of %s, want %d", pattern, column.NullN(), name, nulls)
			}
			for i := range rows {
				if want := (pattern>>i&1 > 0) == (name == "duration_ns") || name == "timeout_ns"; column.IsNull(i) != want {
					t.Errorf("pattern %b: row %d of %s: null %v", pattern, i, name, !want)
				}
			}
		}
		got.Release()
	}
}

func TestEveryWordIsNamed(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Truncated.String(), "truncated"}, {Outcome(9).String(), "invalid"}, {Below.String(), "below"},
		{CutUnknown.String(), "unknown"}, {ClientError.String(), "client_error"}, {FailureUnknown.String(), "unknown"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	bl := NewBuilder(memory.DefaultAllocator, Resolutions)
	defer bl.Release()
	row := Row{Hop: bl.Hop([]byte("orders")), Duration: 26_162_000, HasDuration: true, Marked: true}
	b.ReportAllocs()
	for b.Loop() {
		if bl.Full(&row) {
			bl.Batch().Release()
		}
		bl.Append(&row)
	}
}
