package trace

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
