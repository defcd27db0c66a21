package hoplog

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
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
		line += int64(bytes.Count(raw, format.Newline))
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
	if bytes.Contains(in, format.ByteOrderMark) || loneReturn(in) {
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
	return bytes.Contains(bytes.ReplaceAll(in, []byte("\r\n"), format.Newline), []byte{'\r'})
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
