package ingest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// usualSpan is a span as Jaeger's query service writes it.
func usualSpan(trace, id, parent, tags, more string) string {
	refs := `[]`
	if parent != "" {
		refs = `[{"refType":"CHILD_OF","traceID":"` + trace + `","spanID":"` + parent + `"}]`
	}
	return `{"traceID":"` + trace + `","spanID":"` + id + `","operationName":"GET /a","references":` + refs +
		`,"startTime":1768442400000000,"duration":96019,"tags":[` + tags + `],"logs":[],"processID":"p1","warnings":null` + more + `}`
}

func usualTrace(trace string, spans ...string) string {
	return `{"traceID":"` + trace + `","spans":[` + strings.Join(spans, ",") +
		`],"processes":{"p0":{"serviceName":"a","tags":[]},"p1":{"serviceName":"b","tags":[{"key":"hostname","type":"string","value":"n1"}]}},"warnings":null}`
}

const usualTags = `{"key":"http.request.method","type":"string","value":"GET"},{"key":"http.status_code","type":"int64","value":504},{"key":"error","type":"bool","value":true},{"key":"span.kind","type":"string","value":"client"}`

// usualInput has all that shortcuts look at, more than once, so that what they
// learn from the first span is held against the next.
func usualInput() string {
	const id = "0000000000000000ff4ae39f6bb44fb9"
	one := usualTrace(id, usualSpan(id, "1a3d1e601c115a0b", "", usualTags, ""), usualSpan(id, "1a3d1e601c115a0c", "1a3d1e601c115a0b", usualTags, ""),
		usualSpan(id, "1a3d1e601c115a0d", "1a3d1e601c115a0c", usualTags, `,"flags":1`))
	return `{"data":[` + one + `,` + strings.ReplaceAll(one, "6bb44fb9", "6bb44fba") + `],"total":0,"limit":0,"offset":0,"errors":null}`
}

const otlpUsual = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"gateway"}}]},"scopeSpans":[{"scope":{"name":"example.com"},"spans":[` +
	`{"traceId":"0000000000000000ff4ae39f6bb44fb9","spanId":"1a3d1e601c115a0b","name":"op0","kind":2,"startTimeUnixNano":"1768442400000000000","endTimeUnixNano":"1768442400096019000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.response.status_code","value":{"intValue":"504"}}],"status":{}},` +
	`{"traceId":"0000000000000000ff4ae39f6bb44fb9","spanId":"dd1a8567d1b67dad","parentSpanId":"1a3d1e601c115a0b","name":"op1","kind":3,"startTimeUnixNano":"1768442400000050000","endTimeUnixNano":"1768442400088903000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"x","value":{"boolValue":true}}],"status":{"code":2,"message":"no"}}]}]}]}` + "\n"

// alike fails the test where shortcuts change what an input becomes.
func alike(t *testing.T, in string) {
	t.Helper()
	for _, match := range []bool{false, true} {
		h := traceHow{rules: RuleConfig{MatchMessages: match}, by: "http.request.method"}
		got := readTraces(t, h, in)
		h.general = true
		want := readTraces(t, h, in)
		if !reflect.DeepEqual(got.parts(), want.parts()) {
			t.Fatalf("%s\n%s", in, cmp.Diff(want.parts(), got.parts()))
		}
	}
}

// TestShortcutsChangeNothing puts what is unusual into every place of what is
// usual.
func TestShortcutsChangeNothing(t *testing.T) {
	bare := usualSpan("1", "2", "", usualTags, "")
	alike(t, `{"data":[{"traceID":"1","spans":[`+bare+`],}]}`)
	alike(t, `{"data":[{"traceID":"1","spans":[`+bare+`]},{"traceID":"1","spans":[]}]}`)
	alike(t, strings.ReplaceAll(otlpUsual, "]}]}\n", "],}]}\n"))
	const nameless = `,"processes":{"":{"serviceName":"empty"},"p1":{"serviceName":"one"}}}`
	alike(t, `{"traceID":"1","spans":[`+strings.Replace(bare, `"processID":"p1",`, "", 1)+`]`+nameless)
	alike(t, `{"traceID":"1","spans":[`+strings.Replace(bare, `"processID":"p1"`, `"processID":null,"processID":"p1"`, 1)+`]`+nameless)
	adjusted := `{"key":"` + warningsKey + `","value":{"stringValue":"adjusted by 80us"}}`
	alike(t, `{"data":[`+usualTrace("7", usualSpan("7", "8", "", `{"key":"`+warningsKey+`","type":"string","value":"x"}`, ""))+"]}\n"+
		strings.Replace(otlpUsual, `"attributes":[{"key":"http`, `"attributes":[`+adjusted+`,{"key":"http`, 1))
	for _, usual := range []string{usualInput(), strings.Repeat(otlpUsual, 3)} {
		alike(t, usual)
		alike(t, strings.ReplaceAll(usual, ":", ": "))
		alike(t, strings.ReplaceAll(usual, ",", " ,\t"))
		alike(t, strings.ReplaceAll(usual, "[", "[ "))
		alike(t, strings.ReplaceAll(usual, "{", "{ "))
		for i, c := range usual {
			if strings.ContainsRune("{}[],", c) {
				alike(t, usual[:i]+","+usual[i:])
				alike(t, usual[:i]+usual[i+1:])
			}
		}
		r := rand.New(rand.NewPCG(7, 8))
		pieces := []string{`"`, `\`, `\"`, `\u0041`, "\x01", "\xff", ` `, "\n", `,`, `:`, `{`, `}`, `[`, `]`, `0`, `-1`, `1.5`, `1e3`, `99999999999999999999`, `null`, `true`, `{}`, `[]`, `""`,
			`"value":7`, `"processID":"p0"`, `,"processID":"p0"`, `,"process":{"serviceName":"z"}`, `,"traceId":"7"`, `,"spans":[]`, `"key":"error",`, `p9`, `CHILD_OF`, `FOLLOWS_FROM`}
		for range 500 {
			at := r.IntN(len(usual))
			piece := pieces[r.IntN(len(pieces))]
			left := at + r.IntN(3)*len(piece)/2
			alike(t, usual[:at]+piece+usual[min(left, len(usual)):])
		}
	}
}

// TestShortcutsAreTaken: a shortcut that is never taken changes nothing either.
func TestShortcutsAreTaken(t *testing.T) {
	j := newJaegerReader(&spanReader{})
	fields := traceHow{}.config(t).Fields
	one := newTraceDecoder(fields)
	for _, c := range []struct {
		what string
		in   string
		want bool
	}{
		{"trace id", `"traceID":"ff4ae39f6bb44fb9",` + strings.Repeat(" ", shortest), true},
		{"span id", `"spanID":"1a3d1e601c115a0b",` + strings.Repeat(" ", shortest), true},
		{"operation", `"operationName":"GET /a",` + strings.Repeat(" ", shortest), true},
		{"an escape", `"operationName":"\u0041",` + strings.Repeat(" ", shortest), false},
		{"start", `"startTime":1768442400000000,` + strings.Repeat(" ", shortest), true},
		{"a fraction", `"startTime":17684.5,` + strings.Repeat(" ", shortest), false},
		{"duration", `"duration":5}` + strings.Repeat(" ", shortest), true},
		{"a parent", `"references":[{"refType":"CHILD_OF","traceID":"1","spanID":"2"}],` + strings.Repeat(" ", shortest), true},
		{"a follower", `"references":[{"refType":"FOLLOWS_FROM","traceID":"1","spanID":"2"}],` + strings.Repeat(" ", shortest), false},
		{"no logs", `"logs":[],` + strings.Repeat(" ", shortest), true},
		{"process", `"processID":"p1",` + strings.Repeat(" ", shortest), true},
		{"no warnings", `"warnings":null}` + strings.Repeat(" ", shortest), true},
		{"another key", `"operation":"GET /a",` + strings.Repeat(" ", shortest), false},
	} {
		j.s.at([]byte(c.in))
		if done, err := j.shortcut(); done != c.want || err != nil {
			t.Errorf("%s: %v %v", c.what, done, err)
		}
	}
	var tally Tally
	one.begin(&Chunk{Note: &fragment{}}, &tally, &rowSink{traced: &traced{}, fields: fields, tally: &tally, names: []string{""}})
	_, chunks := traceChunks(t, traceHow{}, usualInput())
	one.where = newCursor(chunks[0])
	if n, ok := one.jaeger.wholeTrace(located{chunks[0].Data, 0}); !ok || n == 0 || tally.Accepted != 3 {
		t.Errorf("a trace: %d bytes, %v, %d spans", n, ok, tally.Accepted)
	}
}

func TestPlainDigitsAreThoseOfStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		b := make([]byte, r.IntN(21))
		for i := range b {
			b[i] = byte('0' + r.IntN(10))
		}
		if len(b) > 0 && r.IntN(3) == 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		want, err := strconv.ParseUint(string(b), 10, 64)
		got, ok := plainDigits(b)
		if digits := err == nil && len(b) <= 19; ok != digits || ok && got != want {
			t.Fatalf("%q: %d %v, want %d %v", b, got, ok, want, err)
		}
	}
}

// TestPlainTimesAreThoseOfTheGeneralReader at the ends of what fits.
func TestPlainTimesAreThoseOfTheGeneralReader(t *testing.T) {
	for _, n := range []uint64{0, 1, 9, 999_999_999, 1e10, 1768442400000000, math.MaxInt64 / 1000, math.MaxInt64/1000 + 1, math.MaxInt64, math.MaxInt64 + 1, 9_999_999_999_999_999_999} {
		for _, unit := range []Unit{Nanoseconds, Microseconds} {
			v := value{raw: strconv.AppendUint(nil, n, 10), kind: number, use: &use{unit: unit}}
			want, err := parseDuration(v.raw, unit)
			got, ok := plainTime(&v)
			if ok != (err == nil) || ok && got != want {
				t.Errorf("%d %v: %+v %v, want %+v %v", n, unit, got, ok, want, err)
			}
		}
	}
}
