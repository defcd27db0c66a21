package ingest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// TestFaultsBetweenValuesAreRejects: what is wrong around traces is counted with
// its place, and the traces are read.
func TestFaultsBetweenValuesAreRejects(t *testing.T) {
	const strayBytes, noKey, alone = "bytes between the records that are no record", "bytes where a key is expected", "a key without a value"
	for _, c := range []struct {
		in      string // @ stands for a trace, ¦ marks the places of the rejects
		details string
		rows    int
	}{
		{`{"data":[@]} ¦trailing`, "bytes that are no JSON document", 1},
		{`{"data":[@]}¦}`, "bytes that are no JSON document", 1},
		{"{\"data\":[@]}\n¦]]\n{\"data\":[@]}", "bytes that are no JSON document", 2},
		{`{"data":[@]}¦` + "\x00\x00", "bytes that are no JSON document", 1},
		{`{"data":[@¦@]}`, "a comma is missing", 2},
		{`{"data":[@,¦,@]}`, "a comma too many", 2},
		{`{"data":[¦,@]}`, "a comma too many", 1},
		{`{"data":[@,¦]}`, "a comma too many", 1},
		{`{"data":[@],¦}`, "a comma too many", 1},
		{`{"data":[¦null,@,¦"x{",¦7 ,@]}`, strayBytes + "|" + strayBytes + "|" + strayBytes, 2},
		{`{"data":[@,¦nul¦{"x":1}]}`, strayBytes + "|a comma is missing|neither a trace nor a span", 1},
		{`{¦"total","data":[@]}`, alone, 1},
		{`{¦"total":,"data":[@]}`, alone, 1},
		{`{"total":0¦"data":[@]}`, "a comma is missing", 1},
		{`{"total":0,¦7,"data":[@]}`, noKey, 1},
		{`{"total":0,¦:,"data":[@]}`, noKey, 1},
		{`{"total":0,¦[{"x":[]}],"data":[@]}`, noKey, 1},
		{`{"data":[@],"x":{"a":[{}],}}`, "", 1},
		{`[@,¦{"a":1},¦{"traceId":"1"},@]`, "neither a trace nor a span|neither a trace nor a span", 2},
		{`{"data":[@,{"spans":[]},{},{"errors":[]}]}`, "", 1},
		{`{"data":null}`, "", 0},
		{`{"data":{"traceID":"1a","spans":null}}`, "", 0},
	} {
		in := strings.ReplaceAll(strings.ReplaceAll(c.in, "@", uiTrace), "¦", "")
		d := readAnyhow(t, traceHow{format: "jaeger"}, in)
		details := strings.Join(pick(d.rejects, func(r format.Reject) string { return r.Detail }), "|")
		same(t, c.in, details, c.details)
		same(t, c.in+": rows", len(d.rows), c.rows)
		var places []int64
		for at, rest := int64(0), strings.ReplaceAll(c.in, "@", uiTrace); strings.Contains(rest, "¦"); {
			before, after, _ := strings.Cut(rest, "¦")
			at += int64(len(before))
			places, rest = append(places, at), after
		}
		got := pick(d.rejects, func(r format.Reject) int64 { return r.Offset })
		if strings.Contains(c.in, "nul¦") {
			got = got[:2] // two are at one place
		}
		same(t, c.in+": places", got, places)
		for _, r := range d.rejects {
			same(t, "line", r.Line, int64(1+strings.Count(in[:r.Offset], "\n")))
		}
	}
}

// twoTraces is a small document of every part that the splitter knows.
var twoTraces = strings.NewReplacer("@1", uiTrace, "@2", strings.NewReplacer(`"1a"`, `"2b"`, `{"traceID":"1a","spans"`, `{"processes":{"p1":{"serviceName":"svc"}},"traceID":"2b","spans"`).Replace(
	strings.Replace(uiTrace, uiSpan, uiSpan+",\n"+uiSpan, 1))).Replace(`{"total":2,"data":[@1, @2],"errors":null}`)

// TestCutDocumentsKeepTheirWholeSpans cuts documents at every byte.
func TestCutDocumentsKeepTheirWholeSpans(t *testing.T) {
	t.Parallel()
	first := strings.Replace(twoTraces, `"processes":{"p1":{"serviceName":"svc","tags":[]}},"warnings":null`, `"warnings":null`, 1)
	first = strings.Replace(first, `{"traceID":"1a","spans"`, `{"processes":{"p1":{"serviceName":"svc"}},"traceID":"1a","spans"`, 1)
	for name, in := range map[string]string{
		"processes last and first": twoTraces, "processes first": first, "otlp": `{"resourceSpans":[` + otlpRes + "," + strings.Replace(otlpRes, otlpSpan, otlpSpan+","+otlpSpan, 1) + `]}`,
		"array": "[" + uiTrace + "," + uiTrace + "]", "lines": otlpDoc + "\n" + otlpDoc + "\n" + otlpDoc,
		"otlp, resource last": `{"resourceSpans":[{"scopeSpans":[{"spans":[` + otlpSpan + `]}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"svc"}}]}}]}`,
	} {
		whole := readTraces(t, traceHow{}, in)
		for n := len(`{"data":[{"traceID":"1a","spans":[{"spanID":"`); n < len(in); n += every(3) {
			d := cutAt(t, in, n)
			if d.err != nil {
				continue // too little of it to recognise
			}
			rows := placeless(d.rows)
			for i, r := range rows {
				if len(whole.rows) <= i || r.Service != "svc" || r != placeless(whole.rows)[i] {
					t.Fatalf("%s cut at %d: %+v", name, n, r)
				}
			}
			if complete := d.summary.Files[0].Complete; complete && (name != "lines" || !strings.HasPrefix(in[n:], "\n") && in[n-1] != '\n') {
				t.Fatalf("%s cut at %d is complete: %v", name, n, d.rejects)
			}
			checkWholeSpans(t, name, in, n, d)
		}
	}
}

// cutAt reads the first n bytes in two ways: held whole and taken apart.
func cutAt(t *testing.T, in string, n int) traced {
	t.Helper()
	d := readTraces(t, traceHow{}, in[:n])
	apart := readTraces(t, traceHow{sizes: &sizes{room: 64, chunk: 50, large: 0}}, in[:n])
	if d.err == nil {
		same(t, fmt.Sprintf("taken apart, cut at %d of %s", n, in), apart.parts(), d.parts())
	}
	return d
}

// checkWholeSpans checks that a span whose process stands before it is kept.
func checkWholeSpans(t *testing.T, name, in string, n int, d traced) {
	if name != "processes first" && name != "otlp" {
		return
	}
	all := strings.Count(in[:n], `"processID":"p1"}`) + strings.Count(in[:n], otlpSpan)
	if len(d.rows) != all {
		t.Fatalf("%s cut at %d: %d rows of %d spans; %v", name, n, len(d.rows), all, d.rejects)
	}
}

// A stream that breaks is incomplete, and what came before counts.
func TestBrokenStreamOfTraces(t *testing.T) {
	for name, start := range map[string]string{"inside a trace": `{"data":[` + uiTrace + `,{"traceID":"2b","spa`, "between": `{"data":[` + uiTrace + `,`} {
		in := io.MultiReader(strings.NewReader(start+strings.Repeat(" ", format.HeadSize)), iotest.ErrReader(errors.New("no disk")))
		d := decodeSource(t, how{}, Source{Path: "in", Stdin: in})
		if d.err != nil || len(d.rows) != 1 || d.damage == nil || d.summary.Files[0].Complete || len(d.rejects) != 1 || d.rejects[0].Reason != format.Incomplete {
			t.Errorf("%s: %v %v, %d rows, %v", name, d.err, d.damage, len(d.rows), d.rejects)
		}
	}
}

// TestOtherSignalsAreSkippedAndCounted among the traces.
func TestOtherSignalsAreSkippedAndCounted(t *testing.T) {
	metrics, logs := `{"resourceMetrics":[{"scopeMetrics":[]}]}`, `{"resource_logs":[{"x":1}]}`
	for name, in := range map[string]string{
		"lines":     strings.Join([]string{metrics, otlpDoc, logs, metrics}, "\n"),
		"one value": metrics + otlpDoc + " " + logs + metrics,
		"array":     "[" + strings.Join([]string{metrics, otlpDoc, logs, metrics}, ",") + "]",
	} {
		d := readAnyhow(t, traceHow{}, in)
		same(t, name, []int64{d.summary.Accepted, d.summary.Rejected, d.summary.Blank}, []int64{1, 0, 3})
		same(t, name, d.warned("other_signals"), "3 lines of metrics or logs among the traces were passed over")
	}
}

// TestErrorsInAnswersAreTold once a file.
func TestErrorsInAnswersAreTold(t *testing.T) {
	for in, want := range map[string]string{
		`{"data":[` + uiTrace + `],"errors":[{"code":500,"msg":"shard 3  is\ndown"}]}`:           `[{"code":500,"msg":"shard 3 is\ndown"}]`,
		`{"data":null,"total":0,"limit":0,"offset":0,"errors":[{"code":404,"msg":"not found"}]}`: `[{"code":404,"msg":"not found"}]`,
		`{"data":[],"errors":[ ]}`:                                 "",
		`{"data":[],"total":0,"limit":0,"offset":0,"errors":null}`: "",
		"{\"result\":" + otlpDoc + "}\n{\"error\":{\"message\":\"late\"}}\n{\"error\":{\"message\":\"other\"}}": `{"message":"late"}`,
		`{"errors":[{"msg":"` + strings.Repeat("x", 600) + `"}],"data":[]}`:                                     `[{"msg":"` + strings.Repeat("x", 491) + "…",
		`{"errors":[1],"data":[]}{"errors":[2],"data":[]}`:                                                      `[1]`,
	} {
		d := readAnyhow(t, traceHow{}, in)
		if want != "" {
			want = "in carries errors of the server that wrote it: " + want
		}
		if d.err != nil || len(d.rejects) > 0 {
			t.Errorf("%s: %v %v", in, d.err, d.rejects)
		}
		same(t, in, d.warned("errors_in_answer"), want)
	}
}

// TestLargeElementsAreTakenApart: more than is held whole, with all that can be
// wrong, in bounded memory and without a file left.
func TestLargeElementsAreTakenApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 3000
	in := `{"data":[{"x":[{"spans":7},"spans"],"spans":[` + strings.Repeat(uiSpan+" ,\n", n) + `7,` + uiSpan + `],"traceID":"1a","processes":{"p1":{"serviceName":"svc"}}},` + uiTrace + `]}`
	c := traceHow{}.config(t)
	c.TempDir, c.sizes = dir, format.Sizes{Window: 1000, Chunk: 1000, Element: 5000}
	f, err := Open(Source{Path: "in", Stdin: strings.NewReader(in)}, c, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(c, newChecked(t), 0, true)
	defer d.Release()
	accepted, rejected := int64(0), int64(0)
	for chunk, err := f.Next(); err == nil; chunk, err = f.Next() {
		if len(chunk.Data) > 6000 {
			t.Fatalf("a chunk of %d bytes", len(chunk.Data))
		}
		tally := d.Decode(chunk, (*spans.Batch).Release)
		accepted, rejected = accepted+tally.Accepted, rejected+tally.Rejected
	}
	same(t, "spans", []int64{accepted, rejected}, []int64{int64(n) + 2, 1})
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What cannot be put aside ends the input; it is told, not lost.
func TestTemporaryFileThatCannotBeMade(t *testing.T) {
	c := traceHow{}.config(t)
	c.TempDir, c.sizes = c.TempDir+"/nowhere", format.Sizes{Window: 64, Chunk: 1, Element: 1}
	f, err := Open(Source{Path: "in", Stdin: strings.NewReader(twoTraces)}, c, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk, err := f.Next(); err != io.EOF; chunk, err = f.Next() {
		if chunk == nil || err != nil {
			t.Fatalf("%v, %v", chunk, err)
		}
	}
	if f.Damage() == nil {
		t.Error("no damage")
	}
}

// TestLinesAndDocumentsAreRead: in JSON lines a broken line is only its own fault.
func TestLinesAndDocumentsAreRead(t *testing.T) {
	broken := otlpDoc[:len(otlpDoc)-30]
	for _, c := range []struct {
		name, in string
		lines    bool
		rows     int
		rejects  string
	}{
		{"broken in the middle", otlpDoc + "\n" + broken + "\n" + otlpDoc + "\n", true, 2, "2 malformed"},
		{"broken first", broken + "\n" + otlpDoc + "\n" + otlpDoc, true, 2, "1 malformed"},
		{"first begins inside a line", otlpDoc[40:] + "\n" + otlpDoc + "\n" + otlpDoc, true, 2, "1 malformed"},
		{"broken last, inside a span", otlpDoc + "\n" + broken, true, 1, "2 incomplete"},
		{"broken last", otlpDoc + "\n" + otlpDoc[:len(otlpDoc)-3], true, 2, "2 incomplete"},
		{"two on a line", otlpDoc + "\n" + otlpDoc + otlpDoc + "\n" + otlpDoc, true, 2, "2 malformed"},
		{"other lines", otlpDoc + "\n{}\n7\n\"x\"\nnull\n[]\n[" + otlpDoc + "]\n{\"a\":1}\n", true, 2, "3 malformed,4 malformed,5 malformed,8 not_a_record"},
		{"one document", "{\"data\":[\n" + uiTrace + "\n]}\n", false, 1, ""},
		{"one document, a trace a line", "{\"data\":[\n" + uiTrace + ",\n" + uiTrace + "\n]}\n", false, 2, ""},
		{"pretty", "{\n\"data\":\n[" + uiTrace + "]\n}\n", false, 1, ""},
		{"array", "[\n" + uiTrace + "\n]\n", false, 1, ""},
	} {
		h := traceHow{format: "otlp"}
		d := readAnyhow(t, h, c.in)
		same(t, c.name+": rows", len(d.rows), c.rows)
		same(t, c.name+": rejects", strings.Join(pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, " ", r.Reason) }), ","), c.rejects)
	}
}
