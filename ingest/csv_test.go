package ingest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// csvRecord is a record as read by either side; bad ones have no fields.
type csvRecord struct {
	line   int64
	fields []string
	bad    bool
}

// cut reads CSV by our own rules.
func cut(in []byte, comma byte, c cutter) (all []csvRecord) {
	line := int64(1)
	for len(in) > 0 {
		raw := in[:c.recordEnd(in, true)]
		in = in[len(raw):]
		if trimmed := trimLineEnd(raw); len(trimmed) > 0 {
			cells, err := splitFields(trimmed, comma, nil)
			r := csvRecord{line: line, bad: err != nil}
			for _, cell := range cells {
				if err == nil {
					r.fields = append(r.fields, string(cell))
				}
			}
			all = append(all, r)
		}
		line += int64(bytes.Count(raw, Newline))
	}
	return all
}

// referenceRecords reads with encoding/csv until its first fault, which is the
// last record; where one starts, the line is that of the record.
func referenceRecords(in []byte, comma byte) (all []csvRecord) {
	r := csv.NewReader(bytes.NewReader(in))
	r.Comma, r.FieldsPerRecord = rune(comma), -1
	for {
		fields, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return all
		case errors.As(err, &bad):
			return append(all, csvRecord{line: int64(bad.StartLine), bad: true})
		}
		line, _ := r.FieldPos(0)
		all = append(all, csvRecord{line: int64(line), fields: fields})
	}
}

// agreesWithEncodingCSV compares record by record up to the first fault.
func agreesWithEncodingCSV(t *testing.T, in []byte) {
	if bytes.Contains(in, ByteOrderMark) || loneReturn(in) {
		return // read otherwise on purpose
	}
	for _, comma := range []byte{',', '\t'} {
		got, want := cut(in, comma, newCutter(comma, maxQuoted)), referenceRecords(in, comma)
		for i, w := range want {
			if i >= len(got) || fmt.Sprint(got[i]) != fmt.Sprint(w) {
				t.Fatalf("%q by %q, record %d\n got %+v\nwant %+v", in, comma, i, got, want)
			}
		}
		if len(got) > len(want) && (len(want) == 0 || !want[len(want)-1].bad) {
			t.Fatalf("%q by %q: too many records: %+v, want %+v", in, comma, got, want)
		}
	}
}

// loneReturn reports a \r that belongs to no line's end; encoding/csv drops it
// in one place and keeps it in another.
func loneReturn(in []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(in, []byte("\r\n"), Newline), []byte{'\r'})
}

var csvInputs = []string{
	"", "\n", "a", "a\n", "a,b\n", "a,b\nc,d", "a,b\r\nc,d\r\n", "\"a\",b\n", "\"a,b\",c\n", "\"a\nb\",c\nd\n", "\"a\r\nb\"\r\nc\r\n", "\"a\"\"b\"\n", "\"\"\n", "\"\"\"\"\n", ",\n", ",,\n",
	"\n\na\n\n", "a,\"b\"\n", "a,\"b\n\",\"c\nd\"\ne\n", "a\"b\n", "\"a\"b\n", "\"a\n", "\"a\nb\nc\n", "a,\"b\nc,d\n\"x,y\n", "\"a\"\n\"b\"", "\"a\"", "\"a", "\"", "\"\"", "\"\"\"", "x,\"\"\"\n", "\"a\n\"\n",
	"\"a\n\"\"\n\"\n", " a , b \n", "a\tb\n\"a\tb\"\tc\n", "\"a\" ,b\n", "x\n\"y\r\n", "a,b\"\n\"c\",d\n", "\r\n", "a\n\r\nb\n",
}

func TestCSVIsReadAsByEncodingCSV(t *testing.T) {
	for _, in := range csvInputs {
		agreesWithEncodingCSV(t, []byte(in))
	}
}

func FuzzCSVAgreesWithEncodingCSV(f *testing.F) {
	for _, in := range csvInputs {
		f.Add([]byte(in))
	}
	f.Fuzz(agreesWithEncodingCSV)
}

// Chunk boundaries are record boundaries, whatever part of the input is seen.
func FuzzCSVBoundaryIsARecordsEnd(f *testing.F) {
	for _, in := range csvInputs {
		f.Add([]byte(in), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		c := cutter{',', int(limit)}
		ends := map[int]bool{0: true}
		for at := 0; at < len(in); {
			at += c.recordEnd(in[at:], true)
			ends[at] = true
		}
		for seen := range len(in) + 1 {
			if n := c.boundary(in[:seen]); !ends[n] {
				t.Fatalf("%q, limit %d: %d bytes seen, cut at %d, records end at %v", in, limit, seen, n, ends)
			}
		}
	})
}

func TestQuotedFieldsMayHoldAnything(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\"hop\",\"duration\n_ms\",duration_ms\r\n\"a,b\",\"\",1\r\n\"a\r\nb\",x,2\r\n\"say \"\"hi\"\"\",,3\r\n\"\"\"\",\"\n\n\",4\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a,b", "a\nb", `say "hi"`, `"`})
	same(t, "lines", pick(d.rows, func(a attempt) string { return fmt.Sprint(a.Line, a.Offset) }), []string{"3 34", "4 46", "6 58", "7 75"})
	same(t, "rejects", len(d.rejects), 0)
}

// A quote that is never closed costs its line, be there quotes after it or not.
func TestUnclosedQuoteCostsOnlyItsLine(t *testing.T) {
	var in strings.Builder
	in.WriteString("hop,note,duration_ms\n")
	for i := range 100 {
		note := []string{"plain", `"quoted"`, `""`, "\"two\nlines\""}[i%4]
		if i == 50 {
			note = `"unclosed`
		}
		fmt.Fprintf(&in, "h%d,%s,%d\n", i, note, i)
	}
	d := decodeAnyhow(t, how{}, in.String())
	same(t, "rejects", pick(d.rejects, func(r Reject) string { return fmt.Sprint(r.Line, r.Reason, r.Detail) }), []string{"64malformeda quote that is never closed"})
	same(t, "accepted", len(d.rows), 99)
}

func TestQuotesEndByTheLimit(t *testing.T) {
	for _, c := range []struct {
		size int // of the record
		rows int
	}{{maxQuoted, 2}, {maxQuoted + 1, 1}} {
		long := fmt.Sprintf("\"%s\n\",1\n", strings.Repeat("x", c.size-6))
		if len(long) != c.size {
			t.Fatal(len(long))
		}
		d := decode(t, how{}, "hop,duration_ms\n"+long+"last,1\n")
		same(t, fmt.Sprint(c.size), len(d.rows), c.rows)
	}
}

// A line of any length is one record, with quotes or without.
func TestLongCSVLinesAreRead(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	d := decode(t, how{}, "hop,note,duration_ms\na,"+long+",1\nb,\""+long+"\",2\nc,\"\",3\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "b", "c"})
	same(t, "rejects", len(d.rejects), 0)
}

func TestHeaderMayComeAfterBlankLinesAndABOM(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\uFEFF\n\r\n\" hop \", x , duration_ms \n\"a\nb\",1,1\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a\nb"})
	same(t, "line", d.rows[0].Line, 4)
	same(t, "offset", d.rows[0].Offset, 32)
}

func TestQuoteAfterABOMOpensAField(t *testing.T) {
	d := decodeAnyhow(t, how{}, "\uFEFF\"h\nop\",duration_ms,service\nx,1,a\n\uFEFF\"y\nz\",2,b\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "b"})
	d = decodeAnyhow(t, how{}, "\uFEFF\"hop\",duration_ms\nx,1\n\uFEFF\"y\nz\",2\n\uFEFF\"hop\",duration_ms\n")
	same(t, "hops", pick(d.rows, hopOf), []string{"x", "y\nz"})
	same(t, "header again", d.rejects[0].Reason, RepeatedHeader)
}

func TestHeaderWithoutRowsIsNoFault(t *testing.T) {
	for _, in := range []string{"hop,duration_ms\n", "hop,duration", "hop\tstart\tend\r\n"} {
		d := decodeAnyhow(t, how{}, in)
		if d.err != nil || d.summary.Records != 0 || !d.summary.Files[0].Complete {
			t.Errorf("%q: %v, %+v", in, d.err, d.summary)
		}
	}
}

func TestBlankLinesOfCSVAreCounted(t *testing.T) {
	d := decodeAnyhow(t, how{}, "hop,duration_ms\n\nx,1\n \n\r\ny,2\n\n")
	same(t, "counts", []int64{d.summary.Records, d.summary.Accepted, d.summary.Blank}, []int64{6, 2, 4})
}
