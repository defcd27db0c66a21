package ingest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jaegertracing/jaeger-idl/model/v1"

	"github.com/tailscope/tailscope/ingest/format"
)

// What is too long to hold among the values of a document is one reject at its place,
// and what comes after it is read.
func TestValuesTooLongToHoldAreRejectsAtTheirPlace(t *testing.T) {
	long := strings.Repeat("x", 700)
	small := &sizes{room: 64, chunk: 64, large: 0}
	for _, c := range []struct {
		name, in string
		rows     int
		rejects  string
	}{
		{"a key of a container", `{"` + long + `":1,"data":[` + uiTrace + `]}`, 1, "1 line_too_long a key of 702 bytes: see --max-line"},
		{"a key without a value", `{"` + long + `","data":[` + uiTrace + `]}`, 1, "1 line_too_long a key of 702 bytes: see --max-line"},
		{"a key at the end of the input", `{"data":[` + uiTrace + `],"` + long, 1, "952 incomplete the input ends inside the document"},
		{"the name of a service", `[` + strings.Replace(uiTrace, `"svc"`, `"`+long+`"`, 1) + `,` + uiTrace + `]`, 1, "1 line_too_long a record of 937 bytes: see --max-line"},
		{"a resource", `{"resourceSpans":[` + strings.Replace(otlpRes, `"svc"`, `"`+long+`"`, 1) + `,` + otlpRes + `]}`, 1, "18 line_too_long a record of 940 bytes: see --max-line"},
		{"the key of a tag", strings.Replace(uiTrace, uiSpan, uiSpan+`,`+strings.Replace(uiSpan, `"tags":[`, `"tags":[{"key":"`+long+`","value":1}`, 1)+`,`+uiSpan, 1), 2, "172 line_too_long a span of 866 bytes: see --max-line"},
		{"a text between spans", strings.Replace(uiTrace, uiSpan, uiSpan+`,"`+long+`",`+uiSpan, 1), 2, "172 line_too_long a value of 702 bytes: see --max-line"},
		{"a number between spans", strings.Replace(uiTrace, uiSpan, uiSpan+`,`+strings.Repeat("9", 700)+`,`+uiSpan, 1), 2, "172 line_too_long a value of 700 bytes: see --max-line"},
		{"zeros between spans", strings.Replace(uiTrace, uiSpan, uiSpan+strings.Repeat("\x00", 700)+`,`+uiSpan, 1), 2, "171 line_too_long a value of 700 bytes: see --max-line"},
		{"zeros at the end of the input", `{"traceID":"1a","processes":{"p1":{"serviceName":"svc"}},"spans":[` + uiSpan + strings.Repeat("\x00", 700), 1, "212 line_too_long a value of 700 bytes: see --max-line|0 incomplete the input ends inside the record"},
		{"blanks between spans", strings.Replace(uiTrace, uiSpan, uiSpan+`,`+strings.Repeat(" ", 7000)+uiSpan+strings.Repeat(" ", 7000), 1), 2, ""},
		{"blanks between traces", `[` + uiTrace + strings.Repeat("\n", 7000) + `,` + strings.Repeat(" ", 7000) + uiTrace + `]`, 2, ""},
		{"blanks in a trace", strings.Replace(uiTrace, `"processes"`, strings.Repeat(" ", 700)+`"processes"`, 1) + uiTrace, 1, "0 line_too_long a record of 940 bytes: see --max-line"},
	} {
		d := readTraces(t, traceHow{maxLine: 500, sizes: small, format: "jaeger"}, c.in)
		same(t, c.name, strings.Join(pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Offset, " ", r.Reason, " ", r.Detail) }), "|"), c.rejects)
		same(t, c.name, len(d.rows), c.rows)
	}
}

// The errors of an answer are shown by their start, however long they are.
func TestErrorsOfAnAnswerAreNotHeld(t *testing.T) {
	in := `{"data":[` + uiTrace + `],"errors":[{"msg":"` + strings.Repeat("e", 7000) + `"}]}`
	for _, maxLine := range []int{600, 1 << 20} {
		d := readTraces(t, traceHow{maxLine: maxLine, sizes: &sizes{room: 64, chunk: 64}}, in)
		same(t, "rows and rejects", []int{len(d.rows), len(d.rejects)}, []int{1, 0})
		same(t, "warning", d.summary.Warnings[0].Text, `in carries errors of the server that wrote it: [{"msg":"`+strings.Repeat("e", 491)+"…")
	}
}

// A document on a line that is too long to hold is read as any other: the limit is one
// of what is held, not of documents.
func TestLongLineOfADocumentIsTakenApart(t *testing.T) {
	numbered := func(from, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Replace(otlpSpan, `"spanId":"a1"`, fmt.Sprintf(`"spanId":"%x"`, from+i), 1)
		}
		return strings.Replace(otlpDoc, otlpSpan, strings.Join(list, ","), 1) + "\n"
	}
	in := numbered(1, 1) + numbered(2, 1) + numbered(10, 40) + "\n" + numbered(60, 1) + numbered(70, 40)
	want := readTraces(t, traceHow{}, in)
	same(t, "rows", len(want.rows), 83)
	for _, s := range manySizes {
		s.chunk = min(s.chunk, 64)
		got := readTraces(t, traceHow{maxLine: 500, sizes: &s}, in)
		same(t, fmt.Sprint("rows, ", s), got.rows, want.rows)
		same(t, "rejects", len(got.rejects), 0)
	}
}

// A long line that breaks off costs what it lacks, and not the lines after it.
func TestLongLineThatBreaksOffIsNotTheEndOfTheInput(t *testing.T) {
	spans := strings.Repeat(otlpSpan+",", 20)
	short, long := otlpDoc+"\n", strings.Replace(otlpDoc, otlpSpan, spans+otlpSpan, 1)
	cut := long[:strings.LastIndex(long, `"name"`)]
	for in, want := range map[string]string{
		short + short + cut + "\n" + short:     "complete true, 23 rows, malformed the line ends inside the record",
		short + short + cut:                    "complete false, 22 rows, incomplete the input ends inside the record",
		short + short + long[:18] + "\n":       "complete true, 2 rows, malformed the line is no JSON document",
		short + short + long + "]]}\n" + short: "complete true, 24 rows, malformed bytes that are no JSON document",
	} {
		d := readTraces(t, traceHow{maxLine: 500, sizes: &sizes{room: 64, chunk: 64}}, in)
		got := fmt.Sprintf("complete %v, %d rows, %s", d.summary.Files[0].Complete, len(d.rows), strings.Join(pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Reason, " ", r.Detail) }), "|"))
		same(t, in[len(in)-40:], got, want)
	}
}

func TestClippedNamesEndInAHashOfTheWhole(t *testing.T) {
	for _, c := range []struct {
		name string
		kept int // bytes before the ellipsis
	}{
		{strings.Repeat("x", longestName+1), 4077},
		{strings.Repeat("é", longestName), 4076},
		{"x" + strings.Repeat("é", longestName), 4077},
		{strings.Repeat("€", longestName), 4077},
		{"x" + strings.Repeat("€", longestName), 4075},
		{strings.Repeat("😀", longestName), 4076},
		{strings.Repeat("\x80", longestName+1), 4073},
		{strings.Repeat("x", 1<<20), 4077},
	} {
		got := string(clip([]byte(c.name)))
		want := fmt.Sprintf("%s…%x", c.name[:c.kept], sha256.Sum256([]byte(c.name)))[:c.kept+len("…")+16]
		if got != want || len(got) > longestName || utf8.ValidString(c.name) != utf8.ValidString(got) {
			t.Errorf("%.9q: %d bytes, %q; want %d, %q", c.name, len(got), got[max(0, len(got)-40):], len(want), want[len(want)-40:])
		}
	}
}

// Long names are clipped, each of them counted, and stay apart.
func TestLongNamesAreClippedAndCounted(t *testing.T) {
	long := strings.Repeat("n", longestName)
	line := func(hop, trace, pod string) string {
		return fmt.Sprintf(`{"hop":"%s","duration_ms":1,"trace_id":"%s","pod":"%s"}`+"\n", hop, trace, pod)
	}
	d := decodeAnyhow(t, how{}, strings.Repeat(line("a", "t1", "p"), 3)+line(long, "t2", "p")+line(long+"1", "t3", "p")+line(long+"2", "t4", "p")+line(long+"1", long+"5", long+"6"))
	same(t, "hops", d.hops, []int32{0, 0, 0, 1, 2, 3, 2})
	same(t, "names", []string{d.rows[3].Hop, d.rows[4].Hop, d.rows[6].Trace, d.rows[6].Instance},
		[]string{long, string(clip([]byte(long + "1"))), string(clip([]byte(long + "5"))), string(clip([]byte(long + "6")))})
	same(t, "warnings", fmt.Sprint(d.summary.Warnings), "[{names_clipped 5 names or ids are longer than 4 KiB and were clipped: each ends in a hash of the whole, so that two that differ stay apart}]")
}

// Keys that are too long to mean anything are passed over and not remembered.
func TestLongKeysArePassedOver(t *testing.T) {
	key := strings.Repeat("k", 5<<10)
	rowLong := `{"` + key + `":1,"hop":"a","duration_ms":1,"` + key + `2":{"hop":"b"}}` + "\n"
	d := decodeAnyhow(t, how{}, rowA+rowLong+rowLong+rowA)
	same(t, "hops", pick(d.rows, hopOf), []string{"a", "a", "a", "a"})
	tag := func(key string) string {
		return `"tags":[{"key":"` + key + `","value":true},{"key":"error","value":true}`
	}
	spans := strings.Replace(uiSpan, `"tags":[`, tag(key), 1) + "," + strings.Replace(uiSpan, `"tags":[`, tag("x"), 1)
	got := readAnyhow(t, traceHow{}, strings.Replace(uiTrace, uiSpan, spans+","+spans, 1))
	same(t, "ends", pick(got.rows, func(r spanRow) string { return r.End }), []string{"failed unknown", "failed unknown", "failed unknown", "failed unknown"})
}

// A message whose processes come at its end may be of any size: --max-line bounds its
// fields. What a field that is left out takes with it is a reject too.
func TestLargeMessageOfProtobufIsTakenApart(t *testing.T) {
	const maxLine = 600
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		name    string
		change  func(*model.Trace)
		rows    []string
		rejects string
	}{
		{"whole", func(*model.Trace) {}, []string{"gateway", "gateway", "gateway", "mailer"}, ""},
		{"a long span", func(m *model.Trace) { m.Spans[1].OperationName = long }, []string{"gateway", "gateway", "mailer"}, "line_too_long a field of 775 bytes: see --max-line"},
		{"a long process", func(m *model.Trace) { m.ProcessMap[1].Process.ServiceName = long }, []string{"gateway", "gateway", "gateway"},
			"line_too_long a field of 613 bytes: see --max-line|line_too_long the process of the span is among those left out: see --max-line"},
		{"many processes", func(m *model.Trace) {
			for range 40 {
				m.ProcessMap = append(m.ProcessMap, m.ProcessMap[0])
			}
		}, []string{"gateway", "gateway", "gateway", "mailer"}, ""},
	} {
		trace := exampleTrace()
		c.change(trace)
		in := marshalled(t, trace) + marshalled(t, exampleTrace())
		for _, s := range manySizes {
			d := readTraces(t, traceHow{format: "jaeger-proto", maxLine: maxLine, sizes: &s}, in)
			rejects := pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Reason, " ", r.Detail) })
			slices.Sort(rejects)
			same(t, c.name, pick(d.rows, func(r spanRow) string { return r.Service }), append(c.rows, "gateway", "gateway", "gateway", "mailer"))
			same(t, c.name, strings.Join(rejects, "|"), c.rejects)
			for i, r := range d.rows {
				if at := in[r.Offset:]; at[0] != '\x0a' || i > 0 && r.Offset <= d.rows[i-1].Offset {
					t.Errorf("%s: row %d is not at %d", c.name, i, r.Offset)
				}
			}
		}
	}
}
