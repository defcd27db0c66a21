package preset

// Table are the presets, in the order in which they are asked. Where a row says no unit,
// values state their own.
var Table = [...]Preset{
	{
		Name: "envoy", Of: "JSON access log of Envoy and Istio: a row is a call with all of its tries",
		Keys:   []string{"response_flags", "duration", "upstream_cluster|upstream_host|response_code|response_code_details"},
		Fields: []string{"duration=duration:ms", "start=start_time", "hop=upstream_cluster", "hop=authority", "hop=route_name", "hop=upstream_host", "hop==envoy"},
	},
	{
		Name: "traefik", Of: "JSON access log of Traefik",
		Keys:   []string{"DownstreamStatus|OriginStatus", "Duration", "StartUTC|StartLocal|RequestMethod"},
		Fields: []string{"duration=Duration:ns", "start=StartUTC", "start=StartLocal", "hop=ServiceName", "hop=RouterName", "hop=RequestHost", "hop==traefik"},
	},
	{
		Name: "caddy", Of: "access log of Caddy",
		Keys:   []string{"request.method", "request.remote_ip|request.remote_addr|request.uri", "duration", "status", "bytes_read|size"},
		Fields: []string{"duration=duration:s", "time=ts", "hop=request.host", "hop==caddy"},
	},
	{
		Name: "nginx", Of: "JSON access log of nginx, its keys called as its variables",
		Keys: []string{"request_time", "status", "body_bytes_sent|bytes_sent|upstream_response_time|request_length|http_user_agent|remote_user|time_iso8601|time_local|msec"},
		Fields: []string{"duration=request_time:s", "time=time_iso8601", "time=msec:s", "time=time_local", "time=@timestamp", "time=timestamp", "time=time", "time=ts",
			"hop=proxy_host", "hop=upstream_name", "hop=server_name", "hop=host", "hop=http_host", "hop=upstream_addr", "hop=request_uri", "hop=uri", "hop==nginx"},
	},
	{
		Name: "gcp", Of: "request log of Google Cloud: a load balancer, Cloud Run, App Engine",
		Keys: []string{"httpRequest.latency", "insertId|logName|resource.type|severity|timestamp"},
		Fields: []string{"duration=httpRequest.latency:s", "start=timestamp", "http_status=httpRequest.status", "trace=trace",
			"hop=resource.labels.service_name", "hop=resource.labels.backend_service_name", "hop=resource.labels.module_id", "hop=resource.labels.url_map_name",
			"hop=resource.labels.forwarding_rule_name", "hop=resource.type", "hop==gcp"},
	},
	{
		Name: "elastic-apm", Of: "transactions and spans of Elastic APM",
		Keys: []string{"transaction.duration.us|span.duration.us", "service.name", "trace.id"},
		Fields: []string{"duration=span.duration.us:us", "duration=transaction.duration.us:us", "start=@timestamp", "trace=trace.id",
			"span=span.id", "span=transaction.id", "parent=parent.id", "service=service.name", "operation=span.name", "operation=transaction.name", "outcome=event.outcome"},
	},
	{
		Name: "ecs", Of: "events of the Elastic Common Schema",
		Keys: []string{"event.duration", "@timestamp"},
		Fields: []string{"duration=event.duration:ns", "start=event.start", "end=event.end", "time=@timestamp", "trace=trace.id",
			"hop=service.name", "hop=event.dataset", "hop=url.domain", "hop=event.action", "outcome=event.outcome"},
	},
	{
		Name: "honeycomb", Of: "events of Honeycomb that are spans",
		Keys: []string{"trace.trace_id|data.trace.trace_id", "trace.span_id|data.trace.span_id", "duration_ms|data.duration_ms"},
		Fields: []string{"duration=duration_ms:ms", "duration=data.duration_ms:ms", "start=timestamp", "start=Timestamp", "start=time",
			"trace=trace.trace_id", "trace=data.trace.trace_id", "span=trace.span_id", "span=data.trace.span_id", "parent=trace.parent_id", "parent=data.trace.parent_id",
			"service=service.name", "service=service_name", "service=data.service.name", "service=data.service_name", "operation=name", "operation=data.name",
			"kind=span.kind", "kind=data.span.kind"},
	},
	{
		Name: "datadog", Of: "spans of Datadog",
		Keys: []string{"span_id", "trace_id", "resource", "service", "duration", "start"},
		Fields: []string{"duration=duration:ns", "start=start:ns", "trace=trace_id", "span=span_id", "parent=parent_id",
			"service=service", "operation=resource", "operation=name", "kind=meta.span.kind"},
	},
	{
		Name: "datadog-logs", Of: "logs of Datadog, whose standard attribute duration is in nanoseconds",
		Keys: []string{"duration|attributes.duration|content.attributes.duration", "ddsource|ddtags|dd.trace_id|attributes.dd.trace_id|content.attributes.duration|content.tags"},
		Fields: []string{"duration=duration:ns", "duration=attributes.duration:ns", "duration=content.attributes.duration:ns",
			"time=timestamp", "time=date", "time=attributes.timestamp", "time=content.timestamp",
			"trace=dd.trace_id", "trace=attributes.dd.trace_id", "trace=content.attributes.dd.trace_id",
			"http_status=http.status_code", "http_status=attributes.http.status_code", "http_status=content.attributes.http.status_code",
			"hop=service", "hop=attributes.service", "hop=content.service", "hop=dd.service", "hop==datadog"},
	},
	{
		Name: "cloudflare", Of: "HTTP requests of Cloudflare Logpush, as the edge timed them",
		Keys: []string{"EdgeStartTimestamp", "EdgeEndTimestamp", "EdgeResponseStatus|OriginResponseStatus|ClientRequestHost|RayID"},
		Fields: []string{"start=EdgeStartTimestamp:epoch", "end=EdgeEndTimestamp:epoch", "trace=RayID",
			"hop=ClientRequestHost", "hop=ZoneName", "hop==cloudflare"},
	},
	{
		Name: "pino", Of: "requests logged by pino-http",
		Keys:   []string{"responseTime", "req.method|req.url|res.statusCode"},
		Fields: []string{"duration=responseTime:ms", "time=time", "hop=service", "hop=name", "hop=req.url", "hop==pino"},
	},
	{
		Name: "k6", Of: "results of k6 run --out json: its calls, the other metrics filtered",
		Keys:   []string{"metric", "type", "data.time", "data.value"},
		Where:  []string{"type=Point", "metric~*_req_duration"},
		Fields: []string{"duration=data.value:ms", "time=data.time", "hop=data.tags.name", "hop=data.tags.url", "hop=data.tags.scenario", "hop==k6"},
	},
	{
		Name: "k6-csv", Of: "results of k6 run --out csv: its calls, the other metrics filtered",
		Keys:   []string{"metric_name", "metric_value", "timestamp"},
		Where:  []string{"metric_name~*_req_duration"},
		Fields: []string{"duration=metric_value:ms", "time=timestamp:epoch", "hop=name", "hop=url", "hop=scenario", "hop==k6"},
	},
	{
		Name: "vegeta", Of: "results of vegeta encode: the messages of its client tell the timeouts",
		Keys:     []string{"attack", "seq", "latency", "bytes_in"},
		Fields:   []string{"duration=latency:ns", "start=timestamp", "hop=url", "hop==vegeta"},
		Messages: true,
	},
}
