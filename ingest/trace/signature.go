package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// signature is one way to know what a JSON value is: an object that has all of
// these keys. A key "a.b" is the key b of the first object in a. Case matters:
// traceID is Jaeger's, traceId is not. Hop logs may have any keys, so that a
// single common word never decides.
type signature struct {
	keys []string
	// only lists further keys; with it, the object has no other than these, and no object
	// is in those of keys.
	only []string
}

func keys(all ...string) signature { return signature{keys: all} }

// sniff looks for the dialect in the head of a file.
func (d *dialect) sniff(head *format.Head, _ *format.Settings) format.Sniffed {
	if head.Keys == nil {
		head.Keys = firstKeys(bytes.TrimPrefix(head.Bytes, format.ByteOrderMark))
		head.Known, head.Refused = dialectOf(head.Keys), refusedBy(head.Keys)
	}
	switch {
	case head.Refused != nil:
		return format.Sniffed{Refused: head.Refused}
	case head.Known == d:
		return format.Sniffed{Mine: true}
	case len(head.Keys) == 0:
		return format.Sniffed{Why: "it does not start with a JSON object"}
	}
	return format.Sniffed{Why: "the first object has none of its keys"}
}

// refusedBy tells what an object with these keys is that cannot be used, nil for nothing.
func refusedBy(keys map[string]bool) *format.RefusedError {
	for _, r := range refused {
		if r.fits(keys) {
			return &format.RefusedError{What: r.what, Why: r.why}
		}
	}
	return nil
}

// dialectOf is the dialect of an object with these keys, nil for none: the one
// that asks for the most of them.
func dialectOf(keys map[string]bool) (best *dialect) {
	most := 0
	for _, d := range dialects {
		for _, s := range d.signatures {
			if len(s.keys) > most && s.fits(keys) {
				best, most = d, len(s.keys)
			}
		}
	}
	return best
}

// firstKeys are the keys of the first value of head, or of the first element of
// an array. head may end anywhere.
func firstKeys(head []byte) (keys map[string]bool) {
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
	return keys
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
		if of, _, inner := strings.Cut(k, "."); inner && slices.Contains(s.keys, of) || !inner && !slices.Contains(s.only, k) {
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

// refusal is a kind of input that is recognised, but cannot be used.
type refusal struct {
	what, why string
	signature
}

const later = "not read yet"

// asTable tells how spans whose keys are of no dialect are read as records of a log; ""
// leaves a role out.
func asTable(trace, span, parent, service, operation, start, end, kind, message, code string) string {
	flags := "read them with --input-format ndjson"
	for _, f := range [...][2]string{{"trace", trace}, {"span", span}, {"parent", parent}, {"service", service}, {"operation", operation}, {"start", start}, {"end", end}, {"kind", kind}, {"error", message}, {"error", code}} {
		if f[1] != "" {
			flags += " --field " + f[0] + "=" + f[1]
		}
	}
	return flags
}

// refused are tried before the dialects, in their order.
var refused = []refusal{
	{"a list of trace summaries", "it has no spans; export the traces themselves", keys("summaries", "summaries.rootServiceName")},
	{"a list of trace summaries", "it has no spans; export the traces themselves", keys("summaries", "summaries.traceId")},
	{"a search result of Tempo", "its spans have no parents; export the traces themselves", keys("traces", "traces.traceID")},
	{"a search result of Tempo", "its spans have no parents; export the traces themselves", keys("traces", "traces.rootTraceName")},
	{"a trace of Tempo", later, keys("batches", "batches.scopeSpans")},
	{"a trace of Tempo", later, keys("batches", "batches.instrumentationLibrarySpans")},
	{"a trace of Tempo", later, keys("batches", "batches.resource")},
	{"a trace of Tempo", later, keys("trace", "trace.resourceSpans")},
	{"Jaeger's Thrift written as JSON", later, keys("spans", "spans.traceIdLow")},
	{"span documents of Elasticsearch", later, keys("startTimeMillis", "traceID")},
	{"a dump of Elasticsearch", later, keys("_source", "_index")},
	{"a search result of Elasticsearch", later, keys("hits", "hits.hits")},
	{"a bulk request of Elasticsearch", later, keys("index", "index._index")},
	{"a bulk request of Elasticsearch", later, keys("create", "create._index")},
	{"Zipkin v1", later, keys("traceId", "id", "binaryAnnotations")},
	{"Zipkin v2", later, keys("traceId", "id", "localEndpoint")},
	{"Zipkin", later, keys("traceId", "id", "annotations")},
	{"Zipkin", later, keys("traceId", "id", "timestamp", "duration")},
	{"the intake of Elastic APM", later, keys("metadata", "metadata.service")},
	{"the intake of Elastic APM", later, keys("transaction", "transaction.trace_id")},
	{"spans printed by OpenTelemetry's Python SDK", asTable("context.trace_id", "context.span_id", "parent_id", "resource.attributes.service.name", "name", "start_time", "end_time", "kind", "status.description", "status.status_code"), keys("context", "context.trace_id", "start_time")},
	{"spans printed by OpenTelemetry's Go SDK", asTable("SpanContext.TraceID", "SpanContext.SpanID", "Parent.SpanID", "", "Name", "StartTime", "EndTime", "SpanKind", "Status.Description", "Status.Code"), keys("SpanContext", "SpanContext.TraceID", "StartTime")},
}
