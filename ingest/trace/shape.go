package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// shape is what the keys of a JSON value say that it is. Case matters: traceID
// is Jaeger's, traceId is not.
type shape struct {
	format string // of formats, "" if none
	what   string // recognised, but of no use
	why    string
}

// signature is one way to know a shape: an object that has all of these keys. A
// key "a.b" is the key b of the first object in a. Hop logs may have any keys, so
// that a single common word never decides.
type signature struct {
	keys []string
	// only lists further keys; with it, the object has no other than these.
	only []string
	shape
}

const later = "not read yet"

func refusal(what, why string, keys ...string) signature {
	return signature{keys: keys, shape: shape{what: what, why: why}}
}

func recognised(format string, keys ...string) signature {
	return signature{keys: keys, shape: shape{format: format}}
}

// answerKeys are what an answer of Jaeger has beside its data.
var answerKeys = []string{"data", "total", "limit", "offset", "errors"}

// signatures are tried in their order; the first that fits decides.
var signatures = []signature{
	refusal("a list of trace summaries", "it has no spans; export the traces themselves", "summaries", "summaries.rootServiceName"),
	refusal("a list of trace summaries", "it has no spans; export the traces themselves", "summaries", "summaries.traceId"),
	refusal("a search result of Tempo", "its spans have no parents; export the traces themselves", "traces", "traces.traceID"),
	refusal("a search result of Tempo", "its spans have no parents; export the traces themselves", "traces", "traces.rootTraceName"),
	refusal("a trace of Tempo", later, "batches", "batches.scopeSpans"),
	refusal("a trace of Tempo", later, "batches", "batches.instrumentationLibrarySpans"),
	refusal("a trace of Tempo", later, "batches", "batches.resource"),
	refusal("a trace of Tempo", later, "trace", "trace.resourceSpans"),
	refusal("Jaeger's Thrift written as JSON", later, "spans", "spans.traceIdLow"),
	refusal("span documents of Elasticsearch", later, "startTimeMillis", "traceID"),
	refusal("a dump of Elasticsearch", later, "_source", "_index"),
	refusal("a search result of Elasticsearch", later, "hits", "hits.hits"),
	refusal("a bulk request of Elasticsearch", later, "index", "index._index"),
	refusal("a bulk request of Elasticsearch", later, "create", "create._index"),
	refusal("Zipkin v1", later, "traceId", "id", "binaryAnnotations"),
	refusal("Zipkin v2", later, "traceId", "id", "localEndpoint"),
	refusal("Zipkin", later, "traceId", "id", "annotations"),
	refusal("Zipkin", later, "traceId", "id", "timestamp", "duration"),
	refusal("the intake of Elastic APM", later, "metadata", "metadata.service"),
	refusal("the intake of Elastic APM", later, "transaction", "transaction.trace_id"),
	refusal("spans printed by OpenTelemetry's Python SDK", later, "context", "context.trace_id", "start_time"),
	recognised("jaeger-jsonpb", "spans", "spans.traceId", "spans.operationName"),
	recognised("jaeger-jsonpb", "spans", "spans.traceId", "spans.spanId"),
	recognised("jaeger-jsonpb", "traceId", "spanId", "operationName", "startTime"),
	recognised("otlp", "result", "result.resourceSpans"),
	recognised("otlp", "resourceSpans"),
	recognised("otlp", "resource_spans"),
	recognised("otlp", "resourceMetrics"),
	recognised("otlp", "resourceLogs"),
	recognised("otlp", "resource_metrics"),
	recognised("otlp", "resource_logs"),
	recognised("jaeger", "data", "data.traceID"),
	recognised("jaeger", "data", "data.spans"),
	recognised("jaeger", "data", "data.processes"),
	{keys: []string{"data"}, only: answerKeys, shape: shape{format: "jaeger"}},
	recognised("jaeger", "traceID", "spans"),
	recognised("jaeger", "spans", "processes"),
	recognised("jaeger", "spans", "spans.traceID", "spans.spanID"),
	recognised("jaeger", "traceID", "spanID", "operationName", "startTime"),
	recognised("jaeger", "traceID", "spanID", "references", "startTime"),
}

// shapeOf looks at the first value of head, or at the first element of an array.
// head may end anywhere.
func shapeOf(head []byte) (sh shape, keys map[string]bool) {
	var s jsonscan.Scanner
	s.At(head)
	for s.Peek() == '[' {
		s.I++
		s.Space()
	}
	keys = map[string]bool{}
	if s.Peek() == '{' {
		keysInto(&s, keys, "", 2)
	}
	for _, sig := range signatures {
		if sig.fits(keys) {
			return sig.shape, keys
		}
	}
	return shape{}, keys
}

func (s signature) fits(keys map[string]bool) bool {
	for _, k := range s.keys {
		if !keys[k] {
			return false
		}
	}
	if s.only == nil {
		return true
	}
	for k := range keys {
		if !strings.Contains(k, ".") && !slices.Contains(s.only, k) {
			return false
		}
	}
	return true
}

// keysInto notes the keys of an object, and those of the first object in each
// of its values. What is cut off or malformed ends it; what was seen counts.
func keysInto(s *jsonscan.Scanner, keys map[string]bool, prefix string, levels int) {
	_ = s.Members(func(name []byte) error {
		key := prefix + string(name)
		keys[key] = true
		if levels > 1 {
			inner := jsonscan.Scanner{B: s.B, I: s.I}
			for inner.Peek() == '[' {
				inner.I++
				inner.Space()
			}
			if inner.Peek() == '{' {
				keysInto(&inner, keys, key+".", levels-1)
			}
		}
		return s.Skip()
	})
}

// sniffTraces recognises a trace format by its exact keys.
func sniffTraces(name string) func([]byte, *format.Settings) format.Sniffed {
	return func(head []byte, _ *format.Settings) format.Sniffed {
		sh, keys := shapeOf(bytes.TrimPrefix(head, format.ByteOrderMark))
		switch {
		case sh.what != "":
			return format.Sniffed{Refused: &format.RefusedError{What: sh.what, Why: sh.why}}
		case sh.format == name:
			return format.Sniffed{Mine: true}
		case len(keys) == 0:
			return format.Sniffed{Why: "it does not start with a JSON object"}
		}
		return format.Sniffed{Why: "the first object has none of its keys"}
	}
}
