package ingest

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/outcome"
)

// writtenSpan is a span as Jaeger's query service writes it.
func writtenSpan(trace, id, parent, tags, more string) string {
	refs := `[]`
	if parent != "" {
		refs = `[{"refType":"CHILD_OF","traceID":"` + trace + `","spanID":"` + parent + `"}]`
	}
	return `{"traceID":"` + trace + `","spanID":"` + id + `","operationName":"GET /a","references":` + refs +
		`,"startTime":1768442400000000,"duration":96019,"tags":[` + tags + `],"logs":[],"processID":"p1","warnings":null` + more + `}`
}

func writtenTrace(trace string, spans ...string) string {
	return `{"traceID":"` + trace + `","spans":[` + strings.Join(spans, ",") +
		`],"processes":{"p0":{"serviceName":"a","tags":[]},"p1":{"serviceName":"b","tags":[{"key":"hostname","type":"string","value":"n1"}]}},"warnings":null}`
}

const usualTags = `{"key":"http.request.method","type":"string","value":"GET"},{"key":"http.status_code","type":"int64","value":504},{"key":"error","type":"bool","value":true},{"key":"span.kind","type":"string","value":"client"}`

// writtenInput has all that fast paths look at, more than once, so that what they
// learn from the first span is held against the next.
func writtenInput() string {
	const id = "0000000000000000ff4ae39f6bb44fb9"
	one := writtenTrace(id, writtenSpan(id, "1a3d1e601c115a0b", "", usualTags, ""), writtenSpan(id, "1a3d1e601c115a0c", "1a3d1e601c115a0b", usualTags, ""),
		writtenSpan(id, "1a3d1e601c115a0d", "1a3d1e601c115a0c", usualTags, `,"flags":1`))
	return `{"data":[` + one + `,` + strings.ReplaceAll(one, "6bb44fb9", "6bb44fba") + `],"total":0,"limit":0,"offset":0,"errors":null}`
}

const otlpUsual = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"gateway"}}]},"scopeSpans":[{"scope":{"name":"example.com"},"spans":[` +
	`{"traceId":"0000000000000000ff4ae39f6bb44fb9","spanId":"1a3d1e601c115a0b","name":"op0","kind":2,"startTimeUnixNano":"1768442400000000000","endTimeUnixNano":"1768442400096019000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.response.status_code","value":{"intValue":"504"}}],"status":{}},` +
	`{"traceId":"0000000000000000ff4ae39f6bb44fb9","spanId":"dd1a8567d1b67dad","parentSpanId":"1a3d1e601c115a0b","name":"op1","kind":3,"startTimeUnixNano":"1768442400000050000","endTimeUnixNano":"1768442400088903000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"x","value":{"boolValue":true}}],"status":{"code":2,"message":"no"}}]}]}]}` + "\n"

// alike fails the test where fast paths change what an input becomes.
func alike(t *testing.T, in string) {
	t.Helper()
	for _, match := range []bool{false, true} {
		h := traceHow{rules: outcome.Config{MatchMessages: match}, by: "http.request.method"}
		got := readTraces(t, h, in)
		h.general = true
		want := readTraces(t, h, in)
		if !reflect.DeepEqual(got.parts(), want.parts()) {
			t.Fatalf("%s\n%s", in, cmp.Diff(want.parts(), got.parts()))
		}
	}
}

// TestFastPathsChangeNothing puts what no writer writes into every place of what
// one does.
func TestFastPathsChangeNothing(t *testing.T) {
	t.Parallel()
	bare := writtenSpan("1", "2", "", usualTags, "")
	alike(t, `{"data":[{"traceID":"1","spans":[`+bare+`],}]}`)
	alike(t, `{"data":[{"traceID":"1","spans":[`+bare+`]},{"traceID":"1","spans":[]}]}`)
	alike(t, strings.ReplaceAll(otlpUsual, "]}]}\n", "],}]}\n"))
	const nameless = `,"processes":{"":{"serviceName":"empty"},"p1":{"serviceName":"one"}}}`
	alike(t, `{"traceID":"1","spans":[`+strings.Replace(bare, `"processID":"p1",`, "", 1)+`]`+nameless)
	alike(t, `{"traceID":"1","spans":[`+strings.Replace(bare, `"processID":"p1"`, `"processID":null,"processID":"p1"`, 1)+`]`+nameless)
	adjusted := `{"key":"@jaeger@warnings","value":{"stringValue":"adjusted by 80us"}}`
	alike(t, `{"data":[`+writtenTrace("7", writtenSpan("7", "8", "", `{"key":"@jaeger@warnings","type":"string","value":"x"}`, ""))+"]}\n"+
		strings.Replace(otlpUsual, `"attributes":[{"key":"http`, `"attributes":[`+adjusted+`,{"key":"http`, 1))
	for _, usual := range []string{writtenInput(), strings.Repeat(otlpUsual, 3)} {
		alike(t, usual)
		alike(t, strings.ReplaceAll(usual, ":", ": "))
		alike(t, strings.ReplaceAll(usual, ",", " ,\t"))
		alike(t, strings.ReplaceAll(usual, "[", "[ "))
		alike(t, strings.ReplaceAll(usual, "{", "{ "))
		for i, c := range usual {
			if i%every(3) == 0 && strings.ContainsRune("{}[],", c) {
				alike(t, usual[:i]+","+usual[i:])
				alike(t, usual[:i]+usual[i+1:])
			}
		}
		r := rand.New(rand.NewPCG(7, 8))
		pieces := []string{`"`, `\`, `\"`, `\u0041`, "\x01", "\xff", ` `, "\n", `,`, `:`, `{`, `}`, `[`, `]`, `0`, `-1`, `1.5`, `1e3`, `99999999999999999999`, `null`, `true`, `{}`, `[]`, `""`,
			`"value":7`, `"processID":"p0"`, `,"processID":"p0"`, `,"process":{"serviceName":"z"}`, `,"traceId":"7"`, `,"spans":[]`, `"key":"error",`, `p9`, `CHILD_OF`, `FOLLOWS_FROM`}
		for range 500 / every(5) {
			at := r.IntN(len(usual))
			piece := pieces[r.IntN(len(pieces))]
			left := at + r.IntN(3)*len(piece)/2
			alike(t, usual[:at]+piece+usual[min(left, len(usual)):])
		}
	}
}
