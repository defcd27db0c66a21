package ingest

import (
	"bytes"
	"fmt"
)

// RefusedError is an input that is recognised, but cannot be used.
type RefusedError struct{ Path, What, Why string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: this is %s: %s", e.Path, e.What, e.Why)
}

// shape is what the keys of a JSON value say that it is. Case matters: traceID
// is Jaeger's, traceId is not.
type shape struct {
	format string // of formats, "" if none
	what   string // recognised, but of no use
	why    string
}

// signature is one way to know a shape: an object that has all of these keys. A
// key "a.b" is the key b of the first object in a.
type signature struct {
	keys []string
	shape
}

const later = "not read yet"

// signatures are tried in their order; the first that fits decides.
var signatures = []signature{
	{[]string{"summaries"}, shape{what: "a list of trace summaries", why: "it has no spans; export the traces themselves"}},
	{[]string{"traces", "traces.rootTraceName"}, shape{what: "a search result of Tempo", why: "its spans have no parents; export the traces themselves"}},
	{[]string{"batches"}, shape{what: "a trace of Tempo", why: later}},
	{[]string{"spans", "spans.traceIdLow"}, shape{what: "Jaeger's Thrift written as JSON", why: later}},
	{[]string{"spans", "spans.traceId", "spans.operationName"}, shape{format: "jaeger-jsonpb"}},
	{[]string{"startTimeMillis"}, shape{what: "span documents of Elasticsearch", why: later}},
	{[]string{"_source"}, shape{what: "a dump of Elasticsearch", why: later}},
	{[]string{"hits"}, shape{what: "a search result of Elasticsearch", why: later}},
	{[]string{"index", "index._index"}, shape{what: "a bulk request of Elasticsearch", why: later}},
	{[]string{"binaryAnnotations"}, shape{what: "Zipkin v1", why: later}},
	{[]string{"traceId", "id", "localEndpoint"}, shape{what: "Zipkin v2", why: later}},
	{[]string{"traceId", "id", "annotations"}, shape{what: "Zipkin", why: later}},
	{[]string{"traceId", "id", "parentId"}, shape{what: "Zipkin", why: later}},
	{[]string{"metadata"}, shape{what: "the intake of Elastic APM", why: later}},
	{[]string{"transaction"}, shape{what: "the intake of Elastic APM", why: later}},
	{[]string{"result", "result.resourceSpans"}, shape{format: "otlp"}},
	{[]string{"resourceSpans"}, shape{format: "otlp"}},
	{[]string{"resource_spans"}, shape{format: "otlp"}},
	{[]string{"resourceMetrics"}, shape{format: "otlp"}},
	{[]string{"resourceLogs"}, shape{format: "otlp"}},
	{[]string{"data", "data.traceID"}, shape{format: "jaeger"}},
	{[]string{"data", "data.spans"}, shape{format: "jaeger"}},
	{[]string{"data", "data.processes"}, shape{format: "jaeger"}},
	{[]string{"data", "total"}, shape{format: "jaeger"}},
	{[]string{"data", "errors"}, shape{format: "jaeger"}},
	{[]string{"traceID", "spans"}, shape{format: "jaeger"}},
	{[]string{"spans", "processes"}, shape{format: "jaeger"}},
	{[]string{"traceID", "spanID", "operationName", "startTime"}, shape{format: "jaeger"}},
}

// shapeOf looks at the first value of head, or at the first element of an array.
// head may end anywhere.
func shapeOf(head []byte) (sh shape, keys map[string]bool) {
	var s jsonScanner
	s.at(head)
	for s.peek() == '[' {
		s.i++
		s.space()
	}
	keys = map[string]bool{}
	if s.peek() == '{' {
		s.keysInto(keys, "", 2)
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
	return true
}

// keysInto notes the keys of an object, and those of the first object in each
// of its values. What is cut off or malformed ends it; what was seen counts.
func (s *jsonScanner) keysInto(keys map[string]bool, prefix string, levels int) {
	_ = s.members(func(name []byte) error {
		key := prefix + string(name)
		keys[key] = true
		if levels > 1 {
			inner := jsonScanner{b: s.b, i: s.i}
			for inner.peek() == '[' {
				inner.i++
				inner.space()
			}
			if inner.peek() == '{' {
				inner.keysInto(keys, key+".", levels-1)
			}
		}
		return s.skip()
	})
}

// sniffTraces recognises a trace format by its exact keys.
func sniffTraces(name string) func([]byte, *Fields) sniffed {
	return func(head []byte, _ *Fields) sniffed {
		sh, keys := shapeOf(bytes.TrimPrefix(head, byteOrderMark))
		switch {
		case sh.what != "":
			return sniffed{refused: &RefusedError{What: sh.what, Why: sh.why}}
		case sh.format == name:
			return sniffed{mine: true}
		case len(keys) == 0:
			return sniffed{why: "it does not start with a JSON object"}
		}
		return sniffed{why: "the first object has none of its keys"}
	}
}
