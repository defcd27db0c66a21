package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/ingest/format"
)

const (
	uiSpan   = `{"traceID":"1a","spanID":"a1","operationName":"op","references":[],"startTime":1700000000000000,"duration":5,"tags":[],"logs":[],"processID":"p1"}`
	uiLone   = `{"traceID":"1a","spanID":"a1","operationName":"op","references":[],"startTime":1700000000000000,"duration":5,"process":{"serviceName":"svc","tags":[]}}`
	uiTrace  = `{"traceID":"1a","spans":[` + uiSpan + `],"processes":{"p1":{"serviceName":"svc","tags":[]}},"warnings":null}`
	otlpSpan = `{"traceId":"1a","spanId":"a1","name":"op","kind":1,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000005000"}`
	otlpRes  = `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"svc"}}]},"scopeSpans":[{"spans":[` + otlpSpan + `]}]}`
	otlpDoc  = `{"resourceSpans":[` + otlpRes + `]}`
)

// plainRow is the row of all of the above.
var plainRow = spanRow{Hop: "svc op", Service: "svc", Operation: "op", Kind: "internal", Trace: "0000000000000000000000000000001a", Span: "00000000000000a1", Start: 17e17, Duration: 5000}

// TestVariantsOfTracesAreRead: the same span in every form in which it is found.
func TestVariantsOfTracesAreRead(t *testing.T) {
	snake := strings.NewReplacer("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "traceId", "trace_id", "spanId", "span_id",
		"startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano", "stringValue", "string_value").Replace
	embedded := strings.Replace(uiSpan, `"references":[]`, `"depth":0,"hasChildren":true,"childSpanIds":["x"],"process":{"serviceName":"svc","tags":[]},
		"references":[{"refType":"CHILD_OF","traceID":"1a","spanID":"b2","span":`+strings.Replace(uiLone, "a1", "b2", 1)+`}]`, 1)
	for _, c := range []struct {
		name, in string
		n        int // rows, 0 for one
		Format   string
	}{
		{name: "document", in: `{"data":[` + uiTrace + `],"total":0,"limit":0,"offset":0,"errors":null}`},
		{name: "document, data last", in: `{"total":1,"errors":[],"x":{"data":[]},"data":[` + uiTrace + `]}`},
		{name: "only data", in: `{"data":[` + uiTrace + `]}`},
		{name: "two documents", in: `{"data":[` + uiTrace + `]}{"data":[` + uiTrace + `]}`, n: 2},
		{name: "bare trace", in: uiTrace},
		{name: "bare trace, processes first", in: `{"processes":{"p1":{"serviceName":"svc"}},"spans":[` + uiSpan + `]}`},
		{name: "array of traces", in: `[` + uiTrace + `,` + uiTrace + `]`, n: 2},
		{name: "array of documents", in: `[{"data":[` + uiTrace + `]},` + uiTrace + `,{"data":[]},{"data":[` + uiTrace + `]}]`, n: 3},
		{name: "array of arrays", in: `[[` + uiTrace + `],[[` + uiLone + `]],[]]`, n: 2},
		{name: "lines of documents", in: `{"data":[` + uiTrace + `]}` + "\n\n" + `{"data":[` + uiTrace + `]}` + "\n", n: 2},
		{name: "lines of traces", in: uiTrace + "\r\n" + uiTrace, n: 2},
		{name: "lines of spans", in: uiLone + "\n" + uiLone + "\n", n: 2},
		{name: "store dump", in: `{"data":` + uiTrace + `,"id":"1a","state":"FETCH_DONE"}`},
		{name: "old download", in: `{"data":[{"traceID":"1a","spans":[` + embedded + `],"processes":{"p1":{"serviceName":"other"}}}]}`},
		{name: "array of spans", in: `[` + uiLone + `,` + uiLone + `]`, n: 2},
		{name: "bare span", in: uiLone},
		{name: "trace id of the trace", in: strings.Replace(uiTrace, `[{"traceID":"1a",`, `[{`, 1)},
		{name: "process after spans of a large id", in: strings.ReplaceAll(uiTrace, "p1", `pröcess \"1\"`)},
		{name: "byte order mark", in: "\uFEFF{\"data\":[" + uiTrace + "]}"},
		{name: "pretty", in: strings.NewReplacer("{", "{\n  ", ",", ",\n\t", "[", "[\r\n", "]", "\n]", ":", " : ").Replace(`{"data":[`+uiTrace+`]}`) + "\n\n"},
		{name: "null parts", in: strings.NewReplacer(`"references":[]`, `"references":null`, `"tags":[]`, `"tags":null`, `"logs":[]`, `"logs":null`).Replace(uiTrace)},
		{name: "everything of text", in: strings.NewReplacer(`1700000000000000`, `"1700000000000000"`, `"duration":5`, `"duration":"5"`).Replace(uiTrace)},
		{name: "numbers with an exponent", in: strings.NewReplacer(`1700000000000000`, `1.7e15`, `"duration":5`, `"duration":5.0`).Replace(uiTrace)},
		{name: "duplicate keys: the last", in: strings.NewReplacer(`"operationName"`, `"operationName":"no","operationName"`, `"duration"`, `"duration":9,"duration"`, `{"serviceName"`, `{"serviceName":"no","serviceName"`).Replace(uiTrace)},
		{name: "escapes", in: strings.NewReplacer(`"op"`, `"\u006f\u0070"`, `"operationName"`, `"operation\u004eame"`, `"spans"`, `"sp\u0061ns"`, `"svc"`, `"s\u0076c"`, `"p1"`, `"\u00701"`).Replace(`{"d\u0061ta":[` + uiTrace + `]}`), Format: "jaeger"},

		{name: "otlp", in: otlpDoc},
		{name: "otlp, lines", in: otlpDoc + "\n" + otlpDoc + "\n", n: 2},
		{name: "otlp, array", in: `[` + otlpDoc + `,` + otlpDoc + `]`, n: 2},
		{name: "otlp, elements", in: `{"resourceSpans":[` + otlpRes + `,` + otlpRes + `,` + otlpRes + `]}`, n: 3},
		{name: "otlp, snake case", in: snake(otlpDoc)},
		{name: "otlp, mixed case", in: strings.Replace(otlpDoc, "scopeSpans", "scope_spans", 1)},
		{name: "otlp, old", in: strings.Replace(otlpDoc, "scopeSpans", "instrumentationLibrarySpans", 1)},
		{name: "otlp, numbers", in: strings.NewReplacer(`"1700000000000000000"`, `1700000000000000000`, `"1700000000000005000"`, `1700000000000005000`).Replace(otlpDoc)},
		{name: "otlp, resource last", in: `{"resourceSpans":[{"scopeSpans":[{"spans":[` + otlpSpan + `]}],"resource":{"attributes":[{"value":{"stringValue":"svc"},"key":"service.name"}]}}]}`},
		{name: "api_v3", in: `{"result":` + otlpDoc + `}`},
		{name: "api_v3, several", in: `{"result":` + otlpDoc + "}\n{\"result\":" + otlpDoc + "}\n", n: 2},
		{name: "api_v3, null", in: `{"result":` + otlpDoc + "}\n{\"result\":null}\n"},
		{name: "otlp in base64", in: strings.NewReplacer(`"traceId":"1a"`, `"traceId":"AAAAAAAAAAAAAAAAAAAAGg=="`, `"spanId":"a1"`, `"spanId":"AAAAAAAAAKE="`).Replace(otlpDoc)},
		{name: "otlp, parent of zeros", in: strings.Replace(otlpDoc, `"kind"`, `"parentSpanId":"0000000000000000","kind"`, 1)},
		{name: "otlp, empty and names", in: strings.Replace(otlpDoc, `"kind":1`, `"parentSpanId":"","kind":"SPAN_KIND_INTERNAL","status":{},"attributes":[],"events":[],"links":[],"droppedAttributesCount":0`, 1)},
	} {
		d := readAnyhow(t, traceHow{format: c.Format}, c.in)
		if d.err != nil || len(d.rejects) > 0 || d.damage != nil || !d.summary.Files[0].Complete {
			t.Errorf("%s: %v, %v, rejects %v", c.name, d.err, d.damage, d.rejects)
		}
		want := slices.Repeat([]spanRow{plainRow}, max(1, c.n))
		if c.name == "old download" {
			want[0].Parent = "00000000000000b2"
		}
		same(t, c.name, placeless(d.rows), want)
	}
}

// The place of a span is that of its first byte.
func TestSpansHaveTheirPlace(t *testing.T) {
	for name, in := range map[string]string{
		"jaeger": "\uFEFF{\n\"data\": [\r\n{\"spans\":[\n\n " + uiSpan + ",\n" + uiSpan + "],\"processes\":{\"p1\":{\"serviceName\":\"svc\"}}},\n" + uiTrace + "]}",
		"otlp":   "{\"resourceSpans\":[\n" + strings.Replace(otlpRes, otlpSpan, "\n"+otlpSpan+"\n,\n"+otlpSpan, 1) + ",\n" + otlpRes + "\n]}",
		"lines":  otlpDoc + "\n\n  " + otlpDoc + "\n" + otlpDoc,
	} {
		d := readAnyhow(t, traceHow{}, in)
		if len(d.rows) != 3 {
			t.Fatalf("%s: %+v %v", name, d.rows, d.rejects)
		}
		for _, r := range d.rows {
			if rest := in[r.Offset:]; !strings.HasPrefix(rest, uiSpan) && !strings.HasPrefix(rest, otlpSpan) {
				t.Errorf("%s: offset %d", name, r.Offset)
			}
			same(t, name+": line", r.Line, int64(1+strings.Count(in[:r.Offset], "\n")))
		}
	}
}

// field puts a field into the span of uiTrace, or replaces it.
func withField(f string) string {
	key, _, _ := strings.Cut(f, ":")
	at := strings.Index(uiSpan, key+":")
	if at < 0 {
		return strings.Replace(uiTrace, `{"traceID":"1a","spanID"`, `{`+f+`,"traceID":"1a","spanID"`, 1)
	}
	old := uiSpan[at:]
	old = old[:strings.Index(old, `,"`)]
	return strings.Replace(uiTrace, uiSpan, strings.Replace(uiSpan, old, f, 1), 1)
}

func otlpField(f string) string {
	key, _, _ := strings.Cut(f, ":")
	at := strings.Index(otlpSpan, key+":")
	if at < 0 {
		return strings.Replace(otlpDoc, `{"traceId"`, `{`+f+`,"traceId"`, 1)
	}
	old := otlpSpan[at:]
	if end := strings.Index(old, `,"`); end > 0 {
		old = old[:end]
	} else {
		old = strings.TrimSuffix(old, "}")
	}
	return strings.Replace(otlpDoc, old, f, 1)
}

func TestIdsInAllSpellings(t *testing.T) {
	const t128, s64 = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
	for _, c := range []struct{ trace, span, wantTrace, wantSpan string }{
		{"5B8EFFF798038103D269B633813FC60C", "EEE19B7EC3C1B174", t128, s64},
		{"0x5b8efff798038103d269b633813fc60c", "0xeee19b7ec3c1b174", t128, s64},
		{"W47/95gDgQPSabYzgT/GDA==", "7uGbfsPBsXQ=", t128, s64},
		{"OWUyYTNkYzA2MDc0YjE3NTQwZDU0ZGU0ZTUxZTczNWY=", "MDBmMDY3YWEwYmE5MDJiNw==", "9e2a3dc06074b17540d54de4e51e735f", "00f067aa0ba902b7"},
		{"123456789abcdef", "1", "00000000000000000123456789abcdef", "0000000000000001"},
		{"0123456789abcdef", "0000000000000001", "00000000000000000123456789abcdef", "0000000000000001"},
		{"trace-123", "span-1", "trace-123", "span-1"},
		{"A", "a_1", "0000000000000000000000000000000a", "a_1"},
		{"d6e9329d67b6146b0000000000000000", "b", "d6e9329d67b6146b0000000000000000", "000000000000000b"},
	} {
		for _, in := range []string{
			strings.NewReplacer(`"1a"`, `"`+c.trace+`"`, `"a1"`, `"`+c.span+`"`).Replace(uiTrace),
			strings.NewReplacer(`"1a"`, `"`+c.trace+`"`, `"a1"`, `"`+c.span+`"`).Replace(otlpDoc),
		} {
			r := oneSpan(t, traceHow{}, in)
			same(t, c.trace, r.Trace, c.wantTrace)
			same(t, c.span, r.Span, c.wantSpan)
		}
	}
}

func TestParentIsChosenFromTheReferences(t *testing.T) {
	ref := func(kind, trace, span string) string {
		return fmt.Sprintf(`{"refType":%q,"traceID":%q,"spanID":%q}`, kind, trace, span)
	}
	for _, c := range []struct{ refs, parent, ties string }{
		{ref("CHILD_OF", "1a", "b"), "b", ""},
		{ref("CHILD_OF", "0000000000000000000000000000001A", "b"), "b", ""},
		{ref("CHILD_OF", "", "b"), "b", ""},
		{ref("CHILD_OF", "ff", "b") + "," + ref("CHILD_OF", "1a", "c"), "c", ""},
		{ref("FOLLOWS_FROM", "1a", "b") + "," + ref("CHILD_OF", "1a", "c"), "c", ""},
		{ref("FOLLOWS_FROM", "1a", "b") + "," + ref("CHILD_OF", "ff", "c"), "b", "async"},
		{ref("CHILD_OF", "1a", "b") + "," + ref("CHILD_OF", "1a", "c"), "b", ""},
		{ref("CHILD_OF", "1a", "") + "," + ref("FOLLOWS_FROM", "1a", "c"), "c", "async"},
		{ref("CHILD_OF", "ff", "b"), "", ""},
		{ref("CHILD_OF", "1a", "0000000000000000"), "", ""},
		{`null,7,"x",{}`, "", ""},
	} {
		r := oneSpan(t, traceHow{}, withField(`"references":[`+c.refs+`]`))
		want := ""
		if c.parent != "" {
			want = "000000000000000" + c.parent
		}
		same(t, c.refs, r.Parent, want)
		same(t, c.refs, r.Ties, c.ties)
	}
	same(t, "before the trace id", oneSpan(t, traceHow{}, strings.Replace(uiTrace, `{"traceID":"1a","spanID"`, `{"references":[`+ref("CHILD_OF", "001a", "b")+`],"traceID":"1a","spanID"`, 1)).Parent, "000000000000000b")
	same(t, "parentSpanID", oneSpan(t, traceHow{}, withField(`"parentSpanID":"b"`)).Parent, "000000000000000b")
	same(t, "otlp", oneSpan(t, traceHow{}, otlpField(`"parentSpanId":"B"`)).Parent, "000000000000000b")
	same(t, "opaque", oneSpan(t, traceHow{}, withField(`"references":[`+ref("CHILD_OF", "1a", "span-0")+`]`)).Parent != "", true)
}

func TestTimesOfSpans(t *testing.T) {
	adjusted := `"warnings":["This span's timestamps were adjusted by `
	for _, c := range []struct {
		in       string
		start    int64
		duration time.Duration
		end      string
		shift    time.Duration
	}{
		{withField(`"duration":0`), 17e17, 0, "", 0},
		{withField(`"duration":null`), 17e17, 0, "unfinished", 0},
		{strings.Replace(uiTrace, `"duration":5,`, ``, 1), 17e17, 0, "unfinished", 0},
		{withField(`"startTime":0`), 0, 5000, "", 0},
		{withField(`"duration":0.5`), 17e17, 500, "", 0},
		{withField(adjusted + `-60ms"]`), 17e17 + 60e6, 5000, "", -60e6},
		{withField(adjusted + `12.5ms","other"]`), 17e17 - 125e5, 5000, "", 125e5},
		{withField(adjusted + `1m0.5s","This span's timestamps were adjusted by -500ms"]`), 17e17 - 60e9, 5000, "", 60e9},
		{withField(adjusted + `soon"]`), 17e17, 5000, "", 0},
		{withField(`"warnings":["clock skew adjustment disabled; not applying calculated delta of 20ms"]`), 17e17, 5000, "", 0},
		{withField(`"warnings":["max clock skew adjustment delta of 1s exceeded; not applying calculated delta of 20ms"]`), 17e17, 5000, "", 0},
		{withField(`"warnings":["duplicate span IDs; skipping clock skew adjustment",null,5,{"a":[]}]`), 17e17, 5000, "", 0},
		{withField(`"warnings":["parent span ID=b is not in the trace; skipping clock skew adjustment"]`), 17e17, 5000, "", 0},
		{withField(`"warnings":null`), 17e17, 5000, "", 0},
		{otlpField(`"endTimeUnixNano":"0"`), 17e17, 0, "unfinished", 0},
		{strings.Replace(otlpDoc, `,"endTimeUnixNano":"1700000000000005000"`, ``, 1), 17e17, 0, "unfinished", 0},
		{otlpField(`"endTimeUnixNano":1700000000000000000`), 17e17, 0, "", 0},
		{otlpField(`"endTimeUnixNano":1700000000000000123`), 17e17, 123, "", 0},
		{strings.Replace(otlpField(`"startTimeUnixNano":"0"`), `"1700000000000005000"`, `"700"`, 1), 0, 700, "", 0},
		{otlpField(`"attributes":[{"key":"@jaeger@warnings","value":{"arrayValue":{"values":[{"stringValue":"x"},{"stringValue":"This span's timestamps were adjusted by 2ms"}]}}}]`), 17e17 - 2e6, 5000, "", 2e6},
	} {
		r := oneSpan(t, traceHow{}, c.in)
		same(t, c.in, []any{r.Start, r.Duration, r.End}, []any{c.start, c.duration, c.end})
		same(t, "shifted", r.Ties == "shifted", c.shift != 0)
	}
}

func TestTagThatOnlySoundsLikeAMarkIsNone(t *testing.T) {
	in := strings.Replace(uiTrace, uiSpan, `{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":5,"tags":[{"key":"truncated","value":"body"},{"key":"http.status_code","value":504}]}`, 1)
	d := readAnyhow(t, traceHow{}, in)
	same(t, "rejects", len(d.rejects), 0)
	same(t, "end", d.rows[0].End, "truncated below")
	same(t, "warning", d.warned("unreadable_marks"), "1 span has a tag timed_out, is_timeout or truncated that is neither yes nor no: it was read as no mark")
}

// TestBadSpansAreOneRejectEach: the reason, the text and the place of each; the
// spans beside it are read.
func TestBadSpansAreOneRejectEach(t *testing.T) {
	for _, c := range []struct {
		span   string
		reason format.Reason
		detail string
	}{
		{`{"traceID":"1a","operationName":"op","startTime":1,"duration":5}`, format.NoID, "the span has no trace id or no span id"},
		{`{"traceID":"","spanID":"a","operationName":"op","startTime":1,"duration":5}`, format.NoID, "the span has no trace id or no span id"},
		{`{"traceID":"00","spanID":"a","operationName":"op","startTime":1,"duration":5}`, format.NoID, "the trace id or the span id is all zeros"},
		{`{"traceID":"1a","spanID":"0","operationName":"op","startTime":1,"duration":5}`, format.NoID, "the trace id or the span id is all zeros"},
		{`{"traceID":"1a","spanID":"a","startTime":1,"duration":5}`, format.NoHop, "the span has no operation name"},
		{`{"traceID":"1a","spanID":"a","operationName":7,"startTime":1,"duration":5}`, format.NoHop, "the span has no operation name"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":-5}`, format.NegativeDuration, "duration -5: negative"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":18446744073709550616}`, format.NegativeDuration, "duration 18446744073709550616: negative, written without its sign"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":"NaN"}`, format.BadDuration, "duration NaN: not a finite number"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":true}`, format.BadDuration, "duration true: not a number"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":{"us":5}}`, format.BadDuration, `duration {"us":5}: not a number`},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":99999999999999999}`, format.BadDuration, "duration 99999999999999999: larger than 292 years"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":"soon","duration":5}`, format.BadTime, "startTime soon: not a number"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":-1,"duration":5}`, format.BadTime, "startTime -1: negative"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":17x,"duration":5}`, format.Malformed, "expected , or } at byte 65"},
		{`{"traceID":"1a","spanID":"a","operationName":"op","startTime":1,"duration":5,}`, format.Malformed, "expected a key at byte 78"},
		{`[]`, format.Malformed, "expected an object at byte 1"},
		{`7`, format.NotARecord, "neither an object nor an array"},
		{`"spans{"`, format.NotARecord, "neither an object nor an array"},
		{`null`, format.NotARecord, "neither an object nor an array"},
		{`{"traceId":"1a","spanId":"a1","name":"op"}`, format.Malformed, "bad Duration"},
	} {
		in := strings.Replace(uiTrace, uiSpan, uiSpan+",\n "+c.span+"\n,"+uiSpan, 1)
		d := readAnyhow(t, traceHow{}, in)
		if len(d.rejects) == 1 && c.detail == "bad Duration" {
			c.detail = d.rejects[0].Detail // the library's words
		}
		same(t, c.span, d.rejects, []format.Reject{{File: "in", Line: 2, Offset: int64(strings.Index(in, "\n ") + 2), Reason: c.reason, Detail: c.detail}})
		same(t, c.span, placeless(d.rows), []spanRow{plainRow, plainRow})
	}
	for _, c := range []struct {
		span   string
		reason format.Reason
		detail string
	}{
		{`{"traceId":"","spanId":"a1","name":"op"}`, format.NoID, "the span has no trace id or no span id"},
		{`{"traceId":"1a","spanId":"a","startTimeUnixNano":"5","endTimeUnixNano":"4"}`, format.NegativeDuration, "endTimeUnixNano 4 is before the start"},
		{`{"traceId":"1a","spanId":"a","endTimeUnixNano":"1700000000000005000"}`, format.BadTime, "endTimeUnixNano 1700000000000005000: an end without a start"},
		{`{"traceId":"1a","spanId":"a","startTimeUnixNano":{"low":1948385984,"high":395403571},"endTimeUnixNano":"5"}`, format.BadTime, `startTimeUnixNano {"low":1948385984,"high":395403571}: not a number`},
		{`{"traceId":"1a","spanId":"a","startTimeUnixNano":"5","endTimeUnixNano":[7]}`, format.BadTime, `endTimeUnixNano [7]: not a number`},
		{`{"traceId":"1a","spanId":"a","startTimeUnixNano":18446744073709551615,"endTimeUnixNano":"5"}`, format.BadTime, `startTimeUnixNano 18446744073709551615: not in the years 1678 to 2261`},
		{`{"traceId":"1a","spanId":"a","attributes":[{"key":"a","value":{"stringValue":"b}]}`, format.Malformed, "string without an end at byte 83"},
		{`true`, format.NotARecord, "neither an object nor an array"},
	} {
		in := strings.Replace(otlpDoc, otlpSpan, otlpSpan+",\n "+c.span+"\n,"+otlpSpan, 1)
		if c.reason == format.Malformed {
			continue // an open string hides all that follows
		}
		d := readAnyhow(t, traceHow{}, in)
		same(t, c.span, d.rejects, []format.Reject{{File: "in", Line: 2, Offset: int64(strings.Index(in, "\n ") + 2), Reason: c.reason, Detail: c.detail}})
		same(t, c.span, placeless(d.rows), []spanRow{plainRow, plainRow})
	}
}

// A table of many processes is read as one of few is, and the last of two with
// one id counts.
func TestManyProcessesAreTold(t *testing.T) {
	for _, n := range []int{2, 16, 17, 48} {
		var table, list []string
		for i := range n {
			table = append(table, fmt.Sprintf(`"p%d":{"serviceName":"no"},"p%d":{"serviceName":"s%d"}`, i, i, i))
			list = append(list, strings.Replace(uiSpan, "p1", fmt.Sprint("p", i), 1))
		}
		list = append(list, strings.Replace(uiSpan, "p1", "other", 1))
		in := `{"spans":[` + strings.Join(list, ",") + `],"processes":{` + strings.Join(table, ",") + `}}`
		d := readTraces(t, traceHow{}, in+in)
		if len(d.rows) != 2*n+2 {
			t.Fatalf("%d rows", len(d.rows))
		}
		for i, r := range d.rows {
			want := fmt.Sprint("s", i%(n+1))
			if i%(n+1) == n {
				want = "unknown-service"
			}
			same(t, "service", r.Service, want)
		}
	}
}

// Where the part that names the process is broken, its spans are rejects and not
// those of an unknown service. Spans that name theirs themselves are read.
func TestSpansWithoutTheirProcessAreRejects(t *testing.T) {
	lone := strings.Replace(uiLone, `"a1"`, `"a2"`, 1)
	for _, c := range []struct {
		in, details string
		rows        int
	}{
		{`{"spans":[` + uiSpan + `,` + lone + `],"processes":{"p0":{"serviceName":"x"},"p1":{"serviceName":tru}}}`, "processes: expected a value at byte 47", 1},
		{`{"spans":[` + strings.Replace(uiSpan, "p1", "p0", 1) + `],"processes":{"p0":{"serviceName":"svc"},"p1":{,}}}`, "", 1},
		{`{"spans":[` + uiSpan + `,` + lone + `],"processes":{"p1":{"serviceName":"svc"}},x}`, "expected a key at byte 352", 2},
		{`{"spans":[` + uiSpan + `,` + lone + `],x,"processes":{"p1":{"serviceName":"svc"}}}`, "expected a key at byte 311|expected a key at byte 311", 1},
		{`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"svc",}}]},"scopeSpans":[{"spans":[` + otlpSpan + `]}]}]}`, "resource: expected a key at byte 67", 0},
		{`{"resourceSpans":[{"resource":null,"scopeSpans":[7,{"spans":[` + otlpSpan + `,null]},{"spans":5},{x}]}]}`, "neither an object nor an array|neither an object nor an array|expected a key at byte 2", 1},
		{`{"resourceSpans":[7,{"scopeSpans":{}},{"scopeSpans":[{"spans":[` + otlpSpan + `]}],"resource":{"attributes":{}},x}]}`, "bytes between the records that are no record|expected a key at byte 192|expected a key at byte 192", 0},
	} {
		d := readAnyhow(t, traceHow{}, c.in)
		details := strings.Join(pick(d.rejects, func(r format.Reject) string { return r.Detail }), "|")
		same(t, c.in, details, c.details)
		same(t, c.in, len(d.rows), c.rows)
	}
}

// What is too large to hold is one reject, and what comes after it is read.
func TestWhatIsTooLargeIsOneReject(t *testing.T) {
	pad := strings.Repeat("x", 700)
	small := &sizes{room: 64, chunk: 64, large: 0}
	for _, c := range []struct {
		name, in string
		rows     int
		reject   string
	}{
		{"the rest of a trace", `[{"traceID":"1a","pad":["` + pad + `"],"spans":[` + uiSpan + `],"processes":{}},` + uiTrace + `]`, 1, "1 line_too_long a record of 899 bytes: see --max-line"},
		{"a span", strings.Replace(uiTrace, uiSpan, uiSpan+`,{"pad":"`+pad+`"},`+uiSpan, 1), 2, "172 line_too_long a span of 710 bytes: see --max-line"},
		{"the end is missing", `[{"traceID":"1a","spans":[],"pad":["` + pad + `",{"a":`, 0, "1 line_too_long a record of 742 bytes: see --max-line"},
	} {
		d := readTraces(t, traceHow{maxLine: 500, sizes: small, format: "jaeger"}, c.in)
		same(t, c.name, strings.Join(pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Offset, " ", r.Reason, " ", r.Detail) }), "|"), c.reject)
		same(t, c.name, len(d.rows), c.rows)
	}
}
