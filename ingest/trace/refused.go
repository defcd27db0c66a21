package trace

// refusal is a kind of input that is recognised, but cannot be used.
type refusal struct {
	what, why string
	signature
}

const later = "not read yet"

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
	{"spans printed by OpenTelemetry's Python SDK", later, keys("context", "context.trace_id", "start_time")},
}
