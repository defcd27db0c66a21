package ingest

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

// TestRecognisedInputsThatAreOfNoUseAreRefusedByName, in an array, in lines and
// alone.
func TestRecognisedInputsThatAreOfNoUseAreRefusedByName(t *testing.T) {
	for in, want := range map[string]string{
		`{"summaries":[{"rootServiceName":"a","traceId":"1"}]}`:                                                     "a list of trace summaries",
		`{"traces":[{"traceID":"1","rootTraceName":"x","spanSet":{"spans":[]}}]}`:                                   "a search result of Tempo",
		`{"batches":[{"scopeSpans":[{"spans":[{"traceId":"AAAAAAAAAABiDwOiJTxeNw==","spanId":"JP0sEuuWMZA="}]}]}]}`: "a trace of Tempo",
		`{"batches":[{"resource":{}}]}`:                                                                             "a trace of Tempo",
		`{"trace":{"resourceSpans":[]}}`:                                                                            "a trace of Tempo",
		`{"process":{"serviceName":"x"},"spans":[{"traceIdLow":1,"traceIdHigh":0}]}`:                                "Jaeger's Thrift written as JSON",
		`{"traceID":"1","spanID":"2","startTimeMillis":5,"startTime":5000,"process":{}}`:                            "span documents of Elasticsearch",
		`{"_index":"jaeger-span","_source":{"traceID":"1"}}`:                                                        "a dump of Elasticsearch",
		`{"took":1,"hits":{"total":1,"hits":[{"_source":{}}]}}`:                                                     "a search result of Elasticsearch",
		`{"index":{"_index":"jaeger-span"}}`:                                                                        "a bulk request of Elasticsearch",
		`{"create":{"_index":"jaeger-span"}}`:                                                                       "a bulk request of Elasticsearch",
		`{"traceId":"1","id":"2","name":"x","binaryAnnotations":[]}`:                                                "Zipkin v1",
		`{"traceId":"1","id":"2","localEndpoint":{"serviceName":"x"},"duration":5}`:                                 "Zipkin v2",
		`{"traceId":"1","id":"2","annotations":[]}`:                                                                 "Zipkin",
		`{"traceId":"1","id":"2","parentId":"3","kind":"CLIENT","timestamp":1,"duration":9}`:                        "Zipkin",
		`{"metadata":{"service":{"name":"x"}}}`:                                                                     "the intake of Elastic APM",
		`{"transaction":{"id":"1","trace_id":"2"}}`:                                                                 "the intake of Elastic APM",
		`{"name":"x","context":{"trace_id":"0x01","span_id":"0xf8"},"parent_id":null,"start_time":"2025-01-09T14:21:04.800962Z","end_time":"2025-01-09T14:21:04.802617Z"}`: "spans printed by OpenTelemetry's Python SDK",
	} {
		for _, doc := range []string{in, "[" + in + "]", "[[" + in + "," + in + "]]", in + "\n" + in, "\uFEFF\n" + in} {
			d := readTraces(t, traceHow{}, doc)
			same(t, doc, d.refused(), want)
			if d.err != nil && !strings.HasPrefix(d.err.Error(), "in: this is "+want+": ") {
				t.Errorf("%s: %v", doc, d.err)
			}
			same(t, "named", readTraces(t, traceHow{format: "jaeger"}, doc).refused(), want)
		}
	}
}

// A hop log may have any words for its keys.
func TestHopLogsAreNoTraces(t *testing.T) {
	for _, keys := range []string{
		`"metadata":{"a":1}`, `"hits":5`, `"hits":{"a":1}`, `"transaction":"x"`, `"batches":3`, `"batches":[{"id":1}]`, `"summaries":[]`, `"traces":[{"id":1}]`, `"_source":"x"`,
		`"data":{"a":1},"total":3`, `"data":[],"errors":[]`, `"data":null`, `"result":"ok"`, `"result":{"a":1}`, `"index":{"a":1}`, `"spans":3`, `"spans":[]`, `"traceID":"1a"`, `"traceID":"1a","spanID":"a"`,
		`"traceId":"1a","id":"b","parentId":"c"`, `"context":{"a":1},"start_time":"2025-01-09T14:21:04Z"`, `"startTimeMillis":5`, `"error":{"message":"x"}`, `"trace":{"id":"x"}`, `"binaryAnnotations":[]`,
	} {
		d := decode(t, how{}, `{"hop":"x","duration_ms":1,`+keys+"}\n")
		if d.err != nil || len(d.rows) != 1 || d.summary.Files[0].Format != "ndjson" {
			t.Errorf("%s: %v, %d rows, %v", keys, d.err, len(d.rows), d.rejects)
		}
	}
}

// Case matters, and what is there decides however much comes after it.
func TestTracesAreRecognisedByTheirKeys(t *testing.T) {
	pad := `"pad":"` + strings.Repeat("x", 2*format.HeadSize) + `"`
	for in, want := range map[string]string{
		`{"data":[` + uiTrace + `]}`: "jaeger", uiTrace: "jaeger", uiLone: "jaeger", `[[` + uiLone + `]]`: "jaeger", otlpDoc: "otlp", `{"result":` + otlpDoc + `}`: "otlp",
		`{"data":[]}`: "jaeger", `{"data":null,"total":0}`: "jaeger", `{"resourceMetrics":[]}`: "otlp", `{"resource_logs":[]}`: "otlp",
		strings.Replace(uiTrace, `"spans":[{`, `"spans":[{`+pad+`,`, 1):        "jaeger",
		`{"spans":[{"traceID":"1a","spanID":"2",` + pad + `}],"processes":{}}`: "jaeger",
		`{"spans":[{"traceId":"1a","operationName":"2",` + pad + `}]}`:         "jaeger-jsonpb",
		`{"resourceSpans":[{"resource":{"attributes":[]},` + pad + `}]}`:       "otlp",
		strings.ReplaceAll(uiTrace, "ID", "Id"):                                "jaeger-jsonpb", strings.ReplaceAll(otlpDoc, "resourceSpans", "ResourceSpans"): "", `{"Data":[]}`: "", `[]`: "", `{}`: "",
	} {
		d := readTraces(t, traceHow{}, in)
		got := ""
		if d.err == nil {
			got = d.summary.Files[0].Format
		}
		same(t, in[:min(len(in), 200)], got, want)
	}
}

// A list of documents is not gone into without an end.
func TestDeepNestingIsARejectNotAFault(t *testing.T) {
	for name, in := range map[string]string{
		"arrays":         strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
		"documents":      strings.Repeat(`{"data":[`, 5000) + strings.Repeat(`]}`, 5000),
		"objects":        strings.Repeat(`{"data":`, 5000) + "{}" + strings.Repeat(`}`, 5000),
		"a tag":          strings.Replace(uiTrace, `"tags":[]`, `"tags":[{"key":"a","value":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}]`, 1),
		"an attribute":   otlpField(`"attributes":[{"key":"a","value":` + strings.Repeat(`{"arrayValue":{"values":[`, 9000) + strings.Repeat("]}}", 9000) + `}]`),
		"without an end": strings.Repeat(`{"data":[`, 50000),
	} {
		d := readTraces(t, traceHow{format: "jaeger"}, in)
		if d.err != nil || len(d.rejects) == 0 || len(d.rows) > 0 {
			t.Errorf("%s: %v, %d rejects, %d rows", name, d.err, len(d.rejects), len(d.rows))
		}
		d = readTraces(t, traceHow{format: "jaeger"}, in+"\n"+otlpDoc+"\n"+in+"\n"+otlpDoc)
		if want := map[bool]int{false: 2, true: 0}[name == "without an end"]; len(d.rows) != want {
			t.Errorf("%s: %d rows beside it", name, len(d.rows))
		}
	}
}
