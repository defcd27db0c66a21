package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/ingest/format"
)

// Lines longer than --max-line are rejected, whatever part of them a chunk
// holds, and nothing else is.
func TestOverlongLinesAreRejected(t *testing.T) {
	row := func(hop string, length int) string {
		s := fmt.Sprintf(`{"hop":%q,"duration_ms":1,"pad":""}`, hop)
		return strings.Replace(s, `""`, `"`+strings.Repeat("x", length-len(s))+`"`, 1)
	}
	cell := func(hop string, length int) string { return hop + "," + strings.Repeat("0", length-len(hop)-2) + "1" }
	for _, c := range []struct {
		name string
		row  func(string, int) string
		head string
	}{{"ndjson", row, ""}, {"csv", cell, "hop,duration_ms\n"}} {
		for _, last := range []string{"\n", ""} {
			in := c.head + strings.Join([]string{c.row("a", 60), c.row("b", 61), c.row("c", 300), "", c.row("d", 59), c.row("e", 60), c.row("f", 500)}, "\n") + last
			d := decodeAnyhow(t, how{maxLine: 60}, in)
			same(t, c.name+" hops", pick(d.rows, hopOf), []string{"a", "d", "e"})
			at := int64(1 + strings.Count(c.head, "\n"))
			same(t, c.name+" rejects", pick(d.rejects, func(r format.Reject) string {
				return fmt.Sprint(r.Line-at, " ", r.Offset-int64(len(c.head)), " ", r.Reason, " ", r.Detail)
			}), []string{
				"1 61 line_too_long a line of 61 bytes: see --max-line",
				"2 123 line_too_long a line of 300 bytes: see --max-line",
				"6 546 line_too_long a line of 500 bytes: see --max-line",
			})
			same(t, c.name+" complete", d.summary.Files[0].Complete, true)
		}
	}
}

// The lines of a small file are short, however many there are.
func TestMaxLineIsNotMaxFile(t *testing.T) {
	d := decodeAnyhow(t, how{maxLine: 30}, strings.Repeat(rowA, 20))
	same(t, "rows", len(d.rows), 20)
}

func TestQuotedNewlinesWithinMaxLineAreRead(t *testing.T) {
	d := decodeAnyhow(t, how{maxLine: 30}, "hop,duration_ms\n\"a\nb\",1\n\""+strings.Repeat("c\n", 20)+"\",1\nlast,1\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a\nb", "last"})
}

// 70 KB, 16 MB and 20 MB lines, each followed by a short one (B43): without a flag,
// lines of more than 16 MiB are left out.
func TestLongLinesAreRead(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	sizes := []int{70_000, 16 << 20, 20 << 20}
	for i, size := range sizes {
		fmt.Fprintf(&in, `{"hop":"long%d","pad":"%s","duration_ms":1}`+"\n"+`{"hop":"short","duration_ms":2}`+"\n", i, strings.Repeat("x", size))
	}
	d := decode(t, how{}, in.String())
	same(t, "hops without a flag", pick(d.rows, hopOf), []string{"long0", "short", "short", "short"})
	same(t, "rejects", pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, " ", r.Reason, " ", r.Detail) }),
		[]string{"3 line_too_long a line of 16777256 bytes: see --max-line", "5 line_too_long a line of 20971560 bytes: see --max-line"})
	d = decode(t, how{maxLine: 32 << 20}, in.String())
	same(t, "hops", pick(d.rows, hopOf), []string{"long0", "short", "long1", "short", "long2", "short"})
	same(t, "last offset", d.rows[5].Offset, int64(in.Len()-len(`{"hop":"short","duration_ms":2}`)-1))
	same(t, "last line", d.rows[5].Line, int64(6))
}

// A line cut in the middle with the next one glued on costs one record (B44).
func TestBrokenLineDoesNotHideTheNext(t *testing.T) {
	d := decodeAnyhow(t, how{fields: []string{"trace=trace", "hop=hop", "duration=ms"}, unit: "ms"}, "{\"trace\":\"a\",\"hop\":\"x\",\"ms\n{\"trace\":\"b\",\"hop\":\"y\",\"ms\":2}")
	same(t, "hops", pick(d.rows, hopOf), []string{"y"})
	same(t, "reject", []any{d.rejects[0].Line, d.rejects[0].Reason}, []any{int64(1), format.Malformed})
}

// An input that ends at any byte of its last record has all records before it,
// and is complete only where that one is whole.
func TestInputThatEndsInsideARecord(t *testing.T) {
	for _, c := range []struct {
		head, last string
		whole      int // bytes of last that make a whole record
	}{
		{rowA, strings.TrimSuffix(rowB, "\n"), len(rowB) - 1},
		{"hop,duration_ms,note\na,1,\n", "b,2,\"x y\"", len("b,2,")},
	} {
		for cut := 1; cut <= len(c.last); cut++ {
			d := decodeAnyhow(t, how{}, c.head+c.last[:cut])
			f := d.summary.Files[0]
			broken := cut < c.whole || c.last[0] == 'b' && strings.Count(c.last[:cut], `"`) == 1
			if f.Complete == broken || len(d.rows) != 2-len(d.rejects) || d.rows[0].Hop != "a" {
				t.Errorf("%q: complete %v, %d rows, rejects %v", c.last[:cut], f.Complete, len(d.rows), d.rejects)
			}
			if broken && (len(d.rejects) != 1 || d.rejects[0].Reason != format.Incomplete) {
				t.Errorf("%q: %v", c.last[:cut], d.rejects)
			}
		}
	}
}

func TestLineEndsOfAllKindsAreRead(t *testing.T) {
	for _, in := range []string{rowA + rowB, strings.ReplaceAll(rowA+rowB, "\n", "\r\n"), strings.TrimSuffix(rowA+rowB, "\n"), "\uFEFF" + rowA + rowB, rowA + "\uFEFF" + rowB, " " + rowA + "\t" + rowB} {
		d := decodeAnyhow(t, how{}, in)
		same(t, in, pick(d.rows, func(a attempt) string { return a.Hop + fmt.Sprint(a.Line) }), []string{"a1", "b2"})
		same(t, in, len(d.rejects), 0)
	}
}

// BOM at the start of each rotated file (B39), the NaNs of loggers (B49).
func TestReportedFaultsOfOtherTools(t *testing.T) {
	h := how{fields: []string{"trace=trace", "hop=hop", "duration=ms"}, unit: "ms"}
	same(t, "B39", one(t, h, "\xEF\xBB\xBF{\"trace\":\"a\",\"hop\":\"x\",\"ms\":1}").Duration, time.Millisecond)
	d := decodeAnyhow(t, h, "{\"trace\":\"a\",\"hop\":\"x\",\"ms\":NaN}\n{\"trace\":\"a\",\"hop\":\"x\",\"ms\":\"+Inf\"}\n{\"trace\":\"a\",\"hop\":\"x\",\"ms\":3}")
	same(t, "B49", pick(d.rejects, func(r format.Reject) format.Reason { return r.Reason }), []format.Reason{format.Malformed, format.BadDuration})
	same(t, "B49 rows", len(d.rows), 1)
}

func TestChunksAreWholeRecordsInOrder(t *testing.T) {
	in := strings.Repeat(rowA+rowB, 100)
	whole, pieces := decode(t, how{}, in), decode(t, how{chunk: 64}, in)
	same(t, "chunks", whole.chunks, 1)
	if pieces.chunks < 80 {
		t.Errorf("%d chunks", pieces.chunks)
	}
	same(t, "rows", pieces.rows, whole.rows)
}
