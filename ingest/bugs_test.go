package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/ingest/format"
)

// TestTraceFaultsOfOtherTools: faults that users of other tools reported, each
// with the right answer. The numbers are those of the project's list.
func TestTraceFaultsOfOtherTools(t *testing.T) {
	type answer struct {
		rows    int
		rejects string // reasons
		refused string
	}
	for id, c := range map[string]struct {
		in   string
		want answer
		also func(t *testing.T, d traced)
	}{
		"B10 two spans of one id are both kept": {
			`{"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"0e7d931cac953d54","operationName":"x","startTime":1,"duration":5,"processID":"p1"},{"traceID":"a","spanID":"0e7d931cac953d54","operationName":"x","startTime":1,"duration":5,"processID":"p2"}],"processes":{"p1":{"serviceName":"envoy-proxy-front"},"p2":{"serviceName":"envoy-1"}}}]}`,
			answer{rows: 2}, func(t *testing.T, d traced) { same(t, "digests differ", d.digests[0] != d.digests[1], true) }},
		"B12 exact duplicates have one digest": {
			uiTrace + "\n" + uiTrace + "\n" + uiTrace, answer{rows: 3},
			func(t *testing.T, d traced) {
				same(t, "digests", d.digests[0] == d.digests[1] && d.digests[1] == d.digests[2], true)
			}},
		"B14 document ids are no identity": {
			`{"_index":"a","_id":"1","_source":` + uiLone + "}\n" + `{"_index":"a","_id":"2","_source":` + uiLone + "}", answer{refused: "a dump of Elasticsearch"}, nil},
		"B15 leading zeros": {
			strings.ReplaceAll(uiTrace, `"1a"`, `"0123456789abcdef"`) + "\n" + strings.ReplaceAll(uiTrace, `"1a"`, `"123456789abcdef"`), answer{rows: 2},
			func(t *testing.T, d traced) { same(t, "one trace", d.rows[0].Trace, d.rows[1].Trace) }},
		"B16 padding to 32 digits": {
			strings.ReplaceAll(otlpDoc, `"1a"`, `"a7890b687652000e"`) + "\n" + strings.ReplaceAll(otlpDoc, `"1a"`, `"0000000000000000a7890b687652000e"`), answer{rows: 2},
			func(t *testing.T, d traced) { same(t, "one trace", d.rows[0].Trace, d.rows[1].Trace) }},
		"B17 padding on the right is another id": {
			strings.ReplaceAll(otlpDoc, `"1a"`, `"d6e9329d67b6146b"`) + "\n" + strings.ReplaceAll(otlpDoc, `"1a"`, `"d6e9329d67b6146b0000000000000000"`), answer{rows: 2},
			func(t *testing.T, d traced) { same(t, "two traces", d.rows[0].Trace != d.rows[1].Trace, true) }},
		"B18 Thrift as JSON": {`{"process":{"serviceName":"x"},"spans":[{"traceIdLow":-2333,"traceIdHigh":1043}]}`, answer{refused: "Jaeger's Thrift written as JSON"}, nil},
		"B20 Tempo's answer": {`{"batches":[{"scopeSpans":[{"spans":[{"traceId":"AAAAAAAAAABiDwOiJTxeNw==","spanId":"JP0sEuuWMZA="}]}]}]}`, answer{refused: "a trace of Tempo"}, nil},
		"B20 ids in base64": {strings.NewReplacer(`"1a"`, `"AAAAAAAAAABiDwOiJTxeNw=="`, `"a1"`, `"JP0sEuuWMZA="`).Replace(otlpDoc), answer{rows: 1},
			func(t *testing.T, d traced) {
				same(t, "ids", d.rows[0].Trace+" "+d.rows[0].Span, "0000000000000000620f03a2253c5e37 24fd2c12eb963190")
			}},
		"B21 ids encoded twice": {strings.Replace(otlpDoc, `"1a"`, `"OWUyYTNkYzA2MDc0YjE3NTQwZDU0ZGU0ZTUxZTczNWY="`, 1), answer{rows: 1},
			func(t *testing.T, d traced) { same(t, "id", d.rows[0].Trace, "9e2a3dc06074b17540d54de4e51e735f") }},
		"B23 Python's console": {`{"name":"x","context":{"trace_id":"0x01944b70b37abc48df7d103455bc404f","span_id":"0xf875ae17bca0f574"},"parent_id":null,"start_time":"2025-01-09T14:21:04.800962Z","end_time":"2025-01-09T14:21:04.802617Z"}`,
			answer{refused: "spans printed by OpenTelemetry's Python SDK"}, nil},
		"B25 all digits count": {strings.NewReplacer(`"1700000000000000000"`, `1544712660000000123`, `"1700000000000005000"`, `1544712660000000124`).Replace(otlpDoc), answer{rows: 1},
			func(t *testing.T, d traced) { same(t, "duration", d.rows[0].Duration, time.Duration(1)) }},
		"B26 a time in halves": {otlpField(`"startTimeUnixNano":{"low":1948385984,"high":395403571}`), answer{rejects: "bad_time"},
			func(t *testing.T, d traced) {
				same(t, "place", []any{d.rejects[0].Detail, d.rejects[0].Offset}, []any{`startTimeUnixNano {"low":1948385984,"high":395403571}: not a number`, int64(strings.Index(otlpDoc, otlpSpan))})
			}},
		"B27 times as text":      {otlpField(`"startTimeUnixNano":1699999999999999000`), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "duration", d.rows[0].Duration, time.Duration(6000)) }},
		"B29 a wrapped duration": {withField(`"duration":18446744073709550616`), answer{rejects: "negative_duration"}, nil},
		"B31 an end of 0":        {otlpField(`"endTimeUnixNano":"0"`), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "end", d.rows[0].End, "unfinished") }},
		"B32 a status as text":   {withField(`"tags":[{"key":"identifier","value":"000045"},{"key":"http.status_code","value":" 504 "}]`), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "end", d.rows[0].End, "truncated below") }},
		"B35 no process":         {strings.Replace(uiTrace, `"processID":"p1"`, `"processID":"p9"`, 1), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "hop", d.rows[0].Hop, "unknown-service op") }},
		"B36 no data":            {`{"data":[],"total":0,"limit":0,"offset":0,"errors":null}`, answer{}, nil},
		"B36 no data, but errors": {`{"data":null,"errors":[{"code":404,"msg":"trace not found"}]}`, answer{}, func(t *testing.T, d traced) {
			same(t, "told", strings.Contains(d.warned("errors_in_answer"), "trace not found"), true)
		}},
		"B37 lines with empty ids": {otlpDoc + "\n" + otlpField(`"traceId":""`) + "\n" + otlpField(`"spanId":""`) + "\n", answer{rows: 1, rejects: "no_id no_id"}, nil},
		"B39 a byte order mark":    {"\uFEFF" + otlpDoc + "\n" + otlpDoc, answer{rows: 2}, nil},
		"B40 bad UTF-8": {strings.Replace(uiTrace, `"op"`, "\"caf\xe9\"", 1) + "\n" + strings.Replace(uiTrace, `"op"`, "\"caf\xe8\"", 1), answer{rows: 2},
			func(t *testing.T, d traced) { same(t, "two hops", d.rows[0].Hop != d.rows[1].Hop, true) }},
		"B43 a long line":      {strings.Replace(otlpDoc, `"kind"`, `"x":"`+strings.Repeat("y", 3<<20)+`","kind"`, 1) + "\n" + otlpDoc + "\n", answer{rows: 2}, nil},
		"B44 a line cut short": {otlpDoc + "\n" + otlpDoc[:50] + "\n" + otlpDoc + "\n", answer{rows: 2, rejects: "malformed"}, func(t *testing.T, d traced) { same(t, "line", d.rejects[0].Line, int64(2)) }},
		"B47 a key twice":      {strings.Replace(uiTrace, `"duration":5`, `"duration":9,"duration":5`, 1), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "the last", d.rows[0].Duration, time.Duration(5000)) }},
		"B49 no number":        {withField(`"duration":NaN`), answer{rejects: "malformed"}, nil},
		"B49 a word":           {withField(`"duration":"+Inf"`), answer{rejects: "bad_duration"}, nil},
		"B50 a flag beside 200": {withField(`"tags":[{"key":"http.status_code","value":"200"},{"key":"response_flags","value":"UT"},{"key":"response_code_details","value":"upstream_response_timeout"}]`), answer{rows: 1},
			func(t *testing.T, d traced) { same(t, "end", d.rows[0].End, "truncated own") }},
		"B54 the server's cancelled": {withField(`"tags":[{"key":"span.kind","value":"server"},{"key":"rpc.grpc.status_code","value":1}]`) + "\n" + withField(`"tags":[{"key":"span.kind","value":"client"},{"key":"rpc.grpc.status_code","value":4}]`), answer{rows: 2},
			func(t *testing.T, d traced) {
				same(t, "ends", d.rows[0].End+", "+d.rows[1].End, "truncated caller, truncated own")
			}},
		"B01 moved spans are moved back": {`{"data":[{"traceID":"a1","processes":{"p2":{"serviceName":"inv"}},"spans":[{"traceID":"a1","spanID":"2","operationName":"q","references":[{"refType":"CHILD_OF","traceID":"a1","spanID":"1"}],"startTime":1020000,"duration":60000,"processID":"p2","warnings":["This span's timestamps were adjusted by -60ms"]}]}]}`,
			answer{rows: 1}, func(t *testing.T, d traced) { same(t, "start", d.rows[0].Start, int64(1080e6)) }},
		"B02 FOLLOWS_FROM is asynchronous": {withField(`"references":[{"refType":"FOLLOWS_FROM","traceID":"1a","spanID":"b"}]`), answer{rows: 1}, func(t *testing.T, d traced) { same(t, "tie", d.rows[0].Ties, "async") }},
	} {
		t.Run(id, func(t *testing.T) {
			d := readTraces(t, traceHow{}, c.in)
			reasons := strings.Join(pick(d.rejects, func(r format.Reject) string { return string(r.Reason) }), " ")
			same(t, "answer", fmt.Sprint(answer{len(d.rows), reasons, d.refused()}), fmt.Sprint(c.want))
			if d.err != nil && d.refused() == "" {
				t.Fatal(d.err)
			}
			if c.also != nil && len(d.rows) == c.want.rows {
				c.also(t, d)
			}
		})
	}
}

// B41: several gzip members are one input.
func TestMembersOfGzipAreOneInputOfTraces(t *testing.T) {
	d := readTraces(t, traceHow{}, gzipped(t, "\uFEFF"+otlpDoc+"\n", "\uFEFF"+otlpDoc+"\n", otlpDoc+"\n"))
	same(t, "rows", placeless(d.rows), []spanRow{plainRow, plainRow, plainRow})
	d = readTraces(t, traceHow{}, zstandard(t, `{"data":[`+uiTrace, `,`+uiTrace+`]}`))
	same(t, "rows", placeless(d.rows), []spanRow{plainRow, plainRow})
}
