package ingest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// chunksOf opens an input and cuts it up.
func chunksOf(t testing.TB, c Config, path, in string, size int) (*format.File, []*format.Chunk) {
	t.Helper()
	c.sizes.Chunk = size
	f, err := Open(Source{Path: path, Stdin: strings.NewReader(in)}, c, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	var all []*format.Chunk
	for {
		chunk, err := f.Next()
		if err != nil {
			return f, all
		}
		all = append(all, chunk)
	}
}

// Several decoders, chunks and tallies in any order: the same summary.
func TestSummaryDoesNotDependOnTheOrderOfWork(t *testing.T) {
	c := how{}.config(t)
	var in strings.Builder
	for i := range 300 {
		in.WriteString([]string{rowA, rowB, "bad\n", "\n", "{}\n", `{"service":"c","took_ms":-1}` + "\n", `{"service":"d","took_us":"1.0001"}` + "\n"}[i%7])
	}
	first, second := in.String(), "service,rt_ms\nx,1\ny,\n"
	var want Summary
	for round := range 5 {
		ledger := NewLedger()
		var tallies []*format.Tally
		for i, part := range []string{first, second} {
			f, chunks := chunksOf(t, c, fmt.Sprint("file", i), part, 100)
			rand.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
			for n, chunk := range chunks {
				d := NewDecoder(c, newChecked(t), 0, n%2 == 0)
				tallies = append(tallies, d.Decode(chunk, (*spans.Batch).Release))
				d.Release()
			}
			defer ledger.Done(f)
		}
		rand.Shuffle(len(tallies), func(i, j int) { tallies[i], tallies[j] = tallies[j], tallies[i] })
		for _, tally := range tallies {
			if err := ledger.Add(tally); err != nil {
				t.Fatal(err)
			}
		}
		got := ledger.Summary(false)
		if round == 0 {
			want = got
		}
		same(t, "summary", got, want)
	}
	same(t, "files", pick(want.Files, func(f FileSummary) string {
		return fmt.Sprint(f.Path, f.Format, f.Records, f.Accepted, f.Rejected, f.Blank)
	}),
		[]string{"file0ndjson300 128 129 43", "file1csv2 1 1 0"})
	same(t, "unit", want.Unit, "mixed")
	same(t, "fields", want.Files[0].Fields, map[string]string{"hop": "hop", "duration": "duration_ms"})
}

func TestLedgerFindsALostRecord(t *testing.T) {
	f := &format.File{Path: "x"}
	l := NewLedger()
	err := l.Add(&format.Tally{Chunk: &format.Chunk{File: f, Line: 7}, Records: 5, Accepted: 1, Rejected: 2, Blank: 1})
	if err == nil || err.Error() != "x from line 7: 5 records, but 1 accepted, 2 rejected, 1 blank and 0 filtered: please report this fault" {
		t.Errorf("%v", err)
	}
}

func TestCountsOfOddRecordsAreTold(t *testing.T) {
	d := decodeAnyhow(t, how{}, `{"hop":"a","duration_s":1.0000000001,"duration_s":1.0000000001,"attempt":0,"timeout":"soon","time":"x"}
{"hop":"a","duration_s":1.0000000001,"attempt":"none"}`)
	same(t, "warnings", pick(d.summary.Warnings, func(w note.Warning) string { return w.Code }),
		[]string{"duplicate_keys", "sub_nanosecond_rounded", "unreadable_times", "unused_timeouts", "attempt_below_first"})
	for _, w := range d.summary.Warnings {
		if !strings.HasPrefix(w.Text, "1 ") {
			t.Errorf("a rejected record is counted: %s", w.Text)
		}
	}
}

func TestFileIndexStandsInTheRows(t *testing.T) {
	c := how{}.config(t)
	f, chunks := chunksOf(t, c, "in", rowA, 100)
	f.Index = 7
	d := NewDecoder(c, newChecked(t), spans.Positions, false)
	defer d.Release()
	for _, chunk := range chunks {
		d.Decode(chunk, nil)
	}
	d.Flush(func(b *spans.Batch) {
		same(t, "file", b.File[0], 7)
		b.Release()
	})
}

func TestFullBatchesAreHandedOut(t *testing.T) {
	d := decode(t, how{}, strings.Repeat(rowA, spans.BatchRows+1))
	same(t, "rows", len(d.rows), spans.BatchRows+1)
}

// drawLine draws a line of a hop log, often a bad one.
func drawLine(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`{"hop":"a","duration_ms":1}`, `{"hop":"b","duration_ms":2.5,"error":"timeout"}`, `{"hop":"c","took":"5ms","attempt":2}`, `{"hop":"a"}`, `{"service":"","rt_ms":1}`,
		"", " ", "bad", "null", `{"hop":"d","duration_ms":-1}`, `{"hop":"e","duration_ms":1,"x":{"y":[1,"2"]}}`, "\uFEFF" + `{"hop":"f","duration_us":7}`, `{"hop":"g","duration_ms":1`,
	}).Draw(t, "line")
}

func multiset(rows []attempt) []string {
	all := pick(rows, func(a attempt) string { a.Line, a.Offset = 0, 0; return fmt.Sprintf("%+v", a) })
	slices.Sort(all)
	return all
}

// A file split at any line into two, read in either order, gives the same rows
// and as many rejects of each kind.
func TestSplitFilesGiveTheSameRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(drawLine), 1, 12).Draw(rt, "lines")
		at := rapid.IntRange(0, len(lines)).Draw(rt, "at")
		h := how{format: "ndjson", chunk: rapid.IntRange(1, 80).Draw(rt, "chunk")}
		join := func(l []string) string { return strings.Join(append(slices.Clone(l), ""), "\n") }
		whole := decode(t, h, join(lines))
		head, tail := decode(t, h, join(lines[:at])), decode(t, h, join(lines[at:]))
		if diff := cmp.Diff(multiset(whole.rows), multiset(append(tail.rows, head.rows...))); diff != "" {
			rt.Fatal(diff)
		}
		reasons := func(all ...format.Reject) []format.Reason {
			r := pick(all, func(r format.Reject) format.Reason { return r.Reason })
			slices.Sort(r)
			return r
		}
		if diff := cmp.Diff(reasons(whole.rejects...), reasons(append(tail.rejects, head.rejects...)...)); diff != "" {
			rt.Fatal(diff)
		}
		same(t, "lines", whole.summary.Records, int64(len(lines)))
	})
}

// checkAny checks what holds for any input whatever.
func checkAny(t *testing.T, h how, in []byte) {
	d := decode(t, h, string(in))
	if d.err != nil {
		return
	}
	f := d.summary.Files[0]
	if f.Compression == "none" && (f.Format == "ndjson" || f.Format == "" && len(in) > 0) {
		lines := int64(strings.Count(string(in), "\n"))
		if in[len(in)-1] != '\n' {
			lines++
		}
		if f.Records != lines {
			t.Errorf("%d records of %d lines", f.Records, lines)
		}
	}
	for _, a := range d.rows {
		if a.Hop == "" || a.Duration < 0 || a.Timeout < 0 || a.Line < 1 || a.Offset < 0 || strings.HasPrefix(a.End, "truncated") && a.End == "truncated" {
			t.Errorf("an invalid row: %+v", a)
		}
	}
	for _, r := range d.rejects {
		if !slices.Contains(format.Reasons[:], r.Reason) || r.Line < 1 || r.Detail == "" {
			t.Errorf("an invalid reject: %+v", r)
		}
	}
	if d.damage != nil && f.Complete {
		t.Errorf("complete in spite of %v", d.damage)
	}
}

func addFixtures(f *testing.F, compress bool) {
	for _, in := range realSeeds(f, ".ndjson", ".ndjson.gz", ".csv.gz", ".tsv") {
		if compress {
			f.Add([]byte(gzipped(f, in)), uint8(9))
			continue
		}
		f.Add([]byte(in), uint8(0))
	}
	for _, name := range []string{"ndjson/good.ndjson", "ndjson/bad.ndjson", "csv/good.csv", "csv/bad.csv", "tsv/good.tsv", "tsv/bad.tsv", "loggers/slog.ndjson", "loggers/zap.ndjson"} {
		in := fixture(f, name)
		if compress {
			f.Add([]byte(gzipped(f, in[:50], in[50:])), uint8(9))
			f.Add([]byte(zstandard(f, in)), uint8(9))
			continue
		}
		for format := range uint8(4) {
			f.Add([]byte(in), format)
			f.Add([]byte(in[:len(in)-9]), 60+format)
		}
	}
}

func FuzzAnyInputIsAccountedFor(f *testing.F) {
	addFixtures(f, false)
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		format := []string{"", "ndjson", "csv", "tsv"}[chunk%4]
		h := how{format: format, unit: "ms", maxLine: 40 + int(chunk), columns: new(spans.Positions)}
		checkAny(t, h, in)
		want := decode(t, h, string(in))
		h.chunk = 1 + int(chunk)/4
		got := decode(t, h, string(in))
		got.chunks = want.chunks
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s in chunks of %d: %s", format, h.chunk, cmp.Diff(want.parts(), got.parts()))
		}
	})
}

func FuzzAnyCompressedInputIsAccountedFor(f *testing.F) {
	addFixtures(f, true)
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		checkAny(t, how{unit: "ms", chunk: 1 + int(chunk), columns: new(spans.Positions)}, in)
	})
}
