package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/outcome"
)

// tagsIn puts tags into uiTrace and otlpDoc. tags is "key=value" and so on; a
// value of digits is a number, true and false are booleans.
func tagsIn(kind string, tags ...string) (ui, otlp string) {
	if kind != "" {
		tags = append(tags, "span.kind="+kind)
	}
	var a, b []string
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		word, typed := fmt.Sprintf("%q", value), "stringValue"
		switch {
		case value == "true" || value == "false":
			word, typed = value, "boolValue"
		case strings.Trim(value, "0123456789") == "" && value != "":
			word, typed = value, "intValue"
		}
		a = append(a, fmt.Sprintf(`{"key":%q,"value":%s}`, key, word))
		b = append(b, fmt.Sprintf(`{"key":%q,"value":{%q:%s}}`, key, typed, word))
	}
	return withField(`"tags":[` + strings.Join(a, ",") + `]`), otlpField(`"attributes":[` + strings.Join(b, ",") + `]`)
}

// TestDecisionTableOfSpans: evidence, how a client and a server span ended by
// it, and the rule without which they did not.
func TestDecisionTableOfSpans(t *testing.T) {
	for _, c := range []struct{ tags, client, server, rule, without string }{
		{"timed_out=true", "truncated own", "truncated own", outcome.RuleMark, ""},
		{"truncated=1 http.status_code=500", "truncated own", "truncated own", outcome.RuleMark, "failed server_error"},
		{"is_timeout=yes", "truncated own", "truncated own", outcome.RuleMark, ""},
		{"timed_out=false", "", "", "", ""},
		{"response_flags=UT http.status_code=200", "truncated own", "truncated own", outcome.RuleEnvoy, "failed other"},
		{"response_flags=URX,UT", "truncated own", "truncated own", outcome.RuleEnvoy, "failed other"},
		{"response_flags=SI", "truncated own", "truncated own", outcome.RuleEnvoy, "failed other"},
		{"response_flags=UMSDR", "truncated own", "truncated own", outcome.RuleEnvoy, "failed other"},
		{"response_flags=DT", "truncated own", "truncated own", outcome.RuleEnvoy, "failed other"},
		{"response_flags=DC http.status_code=0", "truncated caller", "truncated caller", outcome.RuleEnvoy, "failed unknown"},
		{"response_flags=- http.status_code=0", "truncated caller", "truncated caller", outcome.RuleZero, "failed other"},
		{"http.status_code=0", "failed unknown", "truncated caller", "", ""},
		{"status_code=0", "", "", "", ""},
		{"status_code=0 http.url=x", "failed unknown", "truncated caller", "", ""},
		{"otel.status_code=0 http.url=x", "", "", "", ""},
		{"HTTPStatusCode=524", "truncated own", "truncated own", outcome.RuleTimeout, "failed other"},
		{"status.code=1", "", "", "", ""},
		{"success=false", "failed unknown", "failed unknown", "", ""},
		{"response_code_details=upstream_response_timeout", "truncated own", "truncated own", outcome.RuleEnvoyText, "failed other"},
		{"response_flags=UPE,DPE http.status_code=502", "failed unavailable", "failed unavailable", "", ""},
		{"response_flags=UF http.status_code=503", "failed unavailable", "failed unavailable", "", ""},
		{"response_flags=- http.status_code=200", "", "", "", ""},
		{"response_code_details=upstream_response_timeout http.status_code=200", "truncated own", "truncated own", outcome.RuleEnvoyText, "failed other"},
		{"response_code_details=via_upstream", "", "", "", ""},
		{"rpc.grpc.status_code=4", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"rpc.response.status_code=DEADLINE_EXCEEDED", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"rpc.status_code=DEADLINE_EXCEEDED", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"grpc.code=DeadlineExceeded", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"grpc.status_code=4 http.status_code=200", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"rpc.grpc.status_code=1", "truncated caller", "truncated caller", outcome.RuleCancelled, "failed other"},
		{"rpc.status_code=CANCELLED", "truncated caller", "truncated caller", outcome.RuleCancelled, "failed other"},
		{"grpc.code=Canceled", "truncated caller", "truncated caller", outcome.RuleCancelled, "failed other"},
		{"rpc.system=connect_rpc http.status_code=408", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"http.status_code=408", "failed client_error", "failed client_error", "", ""},
		{"rpc.grpc.status_code=14", "failed unavailable", "failed unavailable", "", ""},
		{"rpc.grpc.status_code=8", "failed throttled", "failed throttled", "", ""},
		{"rpc.grpc.status_code=0", "", "", "", ""},
		{"http.status_code=504", "truncated below", "truncated below", outcome.RuleGateway, "failed other"},
		{"http.response.status_code=504 error=true", "truncated below", "truncated below", outcome.RuleGateway, "failed other"},
		{"http.status_code=408", "failed client_error", "failed client_error", "", ""},
		{"http.status_code=499", "truncated caller", "truncated caller", outcome.RuleClientGone, "failed other"},
		{"http.status_code=460", "truncated caller", "truncated caller", outcome.RuleClientGone, "failed other"},
		{"http.status_code=429", "failed throttled", "failed throttled", "", ""},
		{"http.status_code=302", "", "", "", ""},
		{"error.type=timeout", "truncated own", "truncated caller", outcome.RuleErrorType, "failed other"},
		{"timeout=true", "truncated own", "truncated own", outcome.RuleMark, ""},
		{"timeout=no error=true", "failed unknown", "failed unknown", "", ""},
		{"timeout=1 error=true", "failed unknown", "failed unknown", "", ""},
		{"error.type=DEADLINE_EXCEEDED", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
		{"error.type=504", "truncated below", "truncated below", outcome.RuleGateway, "failed other"},
		{"error.type=500", "failed server_error", "failed server_error", "", ""},
		{"error.type=java.net.SocketTimeoutException", "truncated own", "truncated caller", outcome.RuleErrorType, "failed other"},
		{"error.type=ECONNRESET", "failed reset", "failed reset", "", ""},
		{"error.type=ECONNREFUSED", "failed refused", "failed refused", "", ""},
		{"error.type=_OTHER", "failed other", "failed other", "", ""},
		{"error=true", "failed unknown", "failed unknown", "", ""},
		{"error=false", "", "", "", ""},
		{"otel.status_code=ERROR", "failed unknown", "failed unknown", "", ""},
		{"otel.status_code=OK", "", "", "", ""},
		{"error=true otel.status_description=context_deadline_exceeded", "failed unknown", "failed unknown", "", ""},
		{"cut_by=below timed_out=true", "truncated own", "truncated own", outcome.RuleMark, ""},
		{"http.status_code=500 rpc.grpc.status_code=4", "truncated own", "truncated caller", outcome.RuleDeadline, "failed other"},
	} {
		tags := strings.Fields(c.tags)
		for i := range tags {
			tags[i] = strings.ReplaceAll(tags[i], "context_deadline_exceeded", "context deadline exceeded")
		}
		for kind, want := range map[string]string{"client": c.client, "server": c.server} {
			ui, otlp := tagsIn(kind, tags...)
			for _, in := range []string{ui, otlp} {
				r := readTraces(t, traceHow{}, in).rows[0]
				same(t, kind+" "+c.tags, []any{r.End, r.Marked, r.Kind}, []any{want, true, kind})
				if c.rule == "" {
					continue
				}
				r = readTraces(t, traceHow{rules: outcome.Config{Not: []string{c.rule}}}, in).rows[0]
				if strings.HasPrefix(r.End, "truncated") {
					t.Errorf("%s %s is cut without %s too", kind, c.tags, c.rule)
				}
				if kind == "client" {
					same(t, c.tags+" without "+c.rule, r.End, c.without)
				}
			}
		}
	}
}

// A span whose tags say nothing of its end is not marked.
func TestSpansWithoutEvidenceAreNotMarked(t *testing.T) {
	ui, otlp := tagsIn("", "peer.service=x")
	for _, in := range []string{ui, otlp} {
		same(t, in, oneSpan(t, traceHow{}, in).Marked, false)
	}
}

func TestStatusOfOTLP(t *testing.T) {
	for status, want := range map[string]string{
		`{"code":2}`: "failed unknown", `{"code":"2","message":"x"}`: "failed unknown", `{"code":"STATUS_CODE_ERROR"}`: "failed unknown", `{"code":1}`: "", `{"code":"STATUS_CODE_UNSET"}`: "", `{}`: "", `null`: "", `7`: "",
	} {
		same(t, status, oneSpan(t, traceHow{}, otlpField(`"status":`+status)).End, want)
	}
	for kind, want := range map[string]string{`1`: "internal", `2`: "server", `3`: "client", `4`: "producer", `5`: "consumer", `"SPAN_KIND_CLIENT"`: "client", `0`: "internal", `"?"`: "internal", `[]`: "internal"} {
		r := oneSpan(t, traceHow{}, otlpField(`"kind":`+kind))
		same(t, kind, r.Kind, want)
		same(t, kind, r.Ties == "async", want == "consumer")
	}
}

// Whoever sends a message waits until it is sent, and for nothing that comes of it.
func TestATieThatDoesNotWait(t *testing.T) {
	for _, c := range []struct {
		kind, tag string
		want      bool
	}{
		{"client", "x=y", false}, {"producer", "x=y", false}, {"producer", "messaging.system=kafka", false},
		{"consumer", "x=y", true}, {"client", "messaging.system=kafka", true}, {"server", "message_bus.destination=q", true},
	} {
		ui, otlp := tagsIn(c.kind, c.tag)
		for _, in := range []string{ui, otlp} {
			same(t, c.kind+" "+c.tag, oneSpan(t, traceHow{}, in).Ties == "async", c.want)
		}
	}
	late := withField(`"references":[{"refType":"FOLLOWS_FROM","traceID":"1a","spanID":"b"}],"tags":[{"key":"span.kind","value":"producer"}]`)
	same(t, "a producer that follows", oneSpan(t, traceHow{}, late).Ties, "async")
}

func TestMessagesCountOnlyWhereAskedFor(t *testing.T) {
	log := withField(`"tags":[{"key":"error","value":true},{"key":"span.kind","value":"%s"}],"logs":[{"timestamp":1,"fields":[{"key":"event","value":"%s"}]}]`)
	event := otlpField(`"kind":%s,"status":{"code":2},"events":[{"name":"exception","attributes":[{"key":"exception.message","value":{"stringValue":"%s"}}]}]`)
	description := otlpField(`"kind":%s,"status":{"code":2,"message":"%s"}`)
	for _, c := range []struct{ message, client, server string }{
		{"call: context deadline exceeded", "truncated own", "truncated caller"},
		{"read: i/o timeout", "truncated own", "truncated caller"},
		{"Timed out", "truncated own", "truncated caller"},
		{"context canceled", "truncated caller", "truncated caller"},
		{"no such host", "failed unknown", "failed unknown"},
	} {
		for i, in := range []string{log, event, description} {
			for kind, want := range map[string]string{"client": c.client, "server": c.server} {
				name := kind
				if i > 0 {
					name = `"SPAN_KIND_` + strings.ToUpper(kind) + `"`
				}
				doc := fmt.Sprintf(in, name, c.message)
				same(t, c.message, oneSpan(t, traceHow{}, doc).End, "failed unknown")
				same(t, c.message, oneSpan(t, traceHow{rules: outcome.Config{MatchMessages: true}}, doc).End, want)
			}
		}
	}
}

func TestConditionsAndRetriesOfSpans(t *testing.T) {
	h := traceHow{rules: outcome.Config{TruncatedIf: []string{"outcome=gave up", "n=5"}}}
	for tags, want := range map[string]string{"outcome=gave up": "truncated own", "outcome=fine": "", "n=5": "truncated own", "n=6": ""} {
		ui, otlp := tagsIn("client", tags)
		same(t, tags, oneSpan(t, h, ui).End, want)
		same(t, tags, oneSpan(t, h, otlp).End, want)
	}
	for tags, want := range map[string]string{
		"retry=true": "retry", "is_retry=1": "retry", "retry=false": "", "http.request.resend_count=2": "retry", "http.request.resend_count=0": "",
		"http.resend_count=1": "retry", "http.retry_count=1": "retry", "gcp.grpc.resend.count=1": "retry", "http.request.resend_count=x": "",
	} {
		ui, otlp := tagsIn("client", tags)
		same(t, tags, oneSpan(t, traceHow{}, ui).Ties, want)
		same(t, tags, oneSpan(t, traceHow{}, otlp).Ties, want)
		off := traceHow{rules: outcome.Config{Not: []string{outcome.RuleRetryMark, outcome.RuleResend}}}
		same(t, tags, oneSpan(t, off, ui).Ties, "")
	}
}

func TestNamesWeightsAndHosts(t *testing.T) {
	ui, otlp := tagsIn("client", "region=eu", "w=2.5", "messaging.system=kafka")
	h := traceHow{hopName: "operation", by: "region", weight: "w"}
	for _, in := range []string{ui, otlp} {
		r := oneSpan(t, h, in)
		same(t, in, []any{r.Hop, r.Stratum, r.Weight, r.Ties}, []any{"op", "eu", 2.5, "async"})
	}
	same(t, "service", oneSpan(t, traceHow{hopName: "service"}, ui).Hop, "svc")
	for tags, want := range map[string]float64{
		"sampler.type=probabilistic sampler.param=0.25": 4, "sampler.type=const sampler.param=0.25": 0, "sampler.type=probabilistic sampler.param=0": 0,
		"w3c.tracestate=x=1,ot=rv:9;th:c": 4, "w3c.tracestate=ot=th:zz": 0, "w3c.tracestate=ot=th:": 0, "w=-1": 0, "w=NaN": 0,
	} {
		ui, _ := tagsIn("", strings.Fields(tags)...)
		same(t, tags, oneSpan(t, traceHow{weight: "w"}, ui).Weight, want)
	}
	same(t, "tracestate", oneSpan(t, traceHow{}, otlpField(`"traceState":"ot=th:8"`)).Weight, 2)
	for tags, want := range map[string]string{
		`{"key":"ip","value":"10.0.0.1"}`: "10.0.0.1", `{"key":"ip","value":"10.0.0.1"},{"key":"hostname","value":"h"}`: "h", `{"key":"host.name","value":"a"},{"key":"hostname","value":"h"}`: "a",
		`{"key":"host.name","value":{"a":1}},{"key":"ip","value":""}`: "", `null,5,{"key":"client-uuid","value":7}`: "7",
	} {
		same(t, tags, oneSpan(t, traceHow{}, strings.Replace(uiTrace, `"svc","tags":[]`, `"svc","tags":[`+tags+`]`, 1)).Host, want)
	}
	host := strings.Replace(otlpDoc, `}}]},"scope`, `}},{"key":"k8s.pod.name","value":{"stringValue":"pod-1"}}]},"scope`, 1)
	same(t, "otlp", oneSpan(t, traceHow{}, host).Host, "pod-1")
	for _, in := range []string{strings.Replace(uiTrace, `"processID":"p1"`, `"processID":"p9"`, 1), strings.Replace(uiTrace, `,"processID":"p1"`, ``, 1), strings.Replace(uiTrace, `"serviceName":"svc"`, `"serviceName":null`, 1), strings.Replace(otlpDoc, "service.name", "x", 1)} {
		d := readAnyhow(t, traceHow{}, in)
		same(t, in, []any{d.rows[0].Service, d.warned("unknown_service")}, []any{"unknown-service", "1 span has no service name: its hop is called unknown-service"})
	}
	same(t, "no name", oneSpan(t, traceHow{}, otlpField(`"name":""`)).Hop, "svc unknown-operation")
}

// TestDigestTellsContent: equal for what is written in another way, different
// for what says another thing.
func TestDigestTellsContent(t *testing.T) {
	digest := func(in string) uint64 { return readTraces(t, traceHow{}, in).digests[0] }
	base := withField(`"tags":[{"key":"a","value":"1"},{"key":"b","value":{"x":[1]}}],"logs":[{"timestamp":1,"fields":[{"key":"event","value":"x y"}]}],"references":[{"refType":"CHILD_OF","traceID":"1a","spanID":"b2"}]`)
	want := digest(base)
	for _, c := range []struct {
		old, new string
		equal    bool
	}{
		{`{"key":"a","value":"1"},{"key":"b","value":{"x":[1]}}`, `{"key":"b","value":{"x":[1]}},{"key":"a","value":"1"}`, true},
		{`{"key":"a","value":"1"}`, `{"type":"int64","value":1,"key":"a"}`, true},
		{`{"x":[1]}`, `{ "x" : [ 1 ] }`, true},
		{`p1`, `process-7`, true},
		{`"timestamp":1`, "\"timestamp\" :\n1", true},
		{`"duration":5`, `"duration":5.0`, true},
		{`1700000000000000`, `1.7e15`, true},
		{`"spanID":"b2"}`, `"spanID":"b2","span":{"spanID":"b2"}}`, true},
		{`"warnings":null`, `"warnings":["x"]`, true},
		{`"key":"a","value":"1"`, `"key":"a","value":"2"`, false},
		{`{"key":"a","value":"1"}`, `{"key":"a","value":"1"},{"key":"a","value":"1"}`, false},
		{`"key":"a","value":"1"`, `"key":"1","value":"a"`, false},
		{`{"x":[1]}`, `{"x":[2]}`, false},
		{`"timestamp":1`, `"timestamp":2`, true},
		{`"duration":5`, `"duration":6`, false},
		{`"operationName":"op"`, `"operationName":"op2"`, false},
		{`"svc","tags":[]`, `"svc","tags":[{"key":"version","value":"2"}]`, false},
		{`"svc","tags":[]`, `"svc","tags":[{"key":"ip","value":"2"}]`, false},
		{`"CHILD_OF"`, `"FOLLOWS_FROM"`, false},
		{`"svc"`, `"svc2"`, false},
	} {
		in := strings.ReplaceAll(base, c.old, c.new)
		if in == base {
			t.Fatalf("%s is not there", c.old)
		}
		if equal := digest(in) == want; equal != c.equal {
			t.Errorf("%s -> %s: equal %v", c.old, c.new, equal)
		}
	}
	adjusted := strings.NewReplacer("1700000000000000", "1700000000002000", `"duration":5`, `"duration":5,"warnings":["This span's timestamps were adjusted by 2ms"]`).Replace(base)
	same(t, "moved and moved back", digest(adjusted), want)
}

func TestDeadlinesThatWaitedForAConnectionAreCounted(t *testing.T) {
	in := withField(`"tags":[{"key":"rpc.grpc.status_code","value":4},{"key":"otel.status_description","value":"deadline exceeded: [waiting_for_connection]"}]`)
	same(t, "warning", readTraces(t, traceHow{}, in).warned("connection_waits"),
		"1 deadline passed while the call waited for a connection: that is a pool or a connect timeout, not the callee")
}
