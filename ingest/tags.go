package ingest

import (
	"bytes"
	"math"
	"strconv"
)

// tagCandidates lists the tags of spans that are read, best first for each role.
// The keys are exact: tags follow conventions.
var tagCandidates = map[Role][]string{
	TruncatedMark:   {"timed_out", "is_timeout", "truncated"},
	ResponseFlags:   {"response_flags"},
	ResponseDetails: {"response_code_details"},
	GRPCStatus:      {"rpc.grpc.status_code", "rpc.response.status_code", "rpc.status_code", "grpc.code", "grpc.status_code"},
	HTTPStatus:      {"http.response.status_code", "http.status_code"},
	ErrorType:       {"error.type"},
	Status:          {"otel.status_code"},
	Error:           {"error"},
	Message:         {"otel.status_description", "error.message", "error.object", "exception.message", "message", "event"},
	RetryMark:       {"retry", "is_retry"},
	Attempt:         {"http.request.resend_count", "http.resend_count", "http.retry_count", "gcp.grpc.resend.count"},
	SpanKind:        {"span.kind"},
	RPCSystem:       {"rpc.system", "rpc.system.name"},
	Messaging:       {"messaging.system", "message_bus.destination"},
	SamplerType:     {"sampler.type"},
	SamplerParam:    {"sampler.param"},
	TraceState:      {"w3c.tracestate"},
	// The nearest to the very process first. peer.service names no instance, but all
	// of them.
	InstanceKey: {"upstream_address", "network.peer.address", "net.sock.peer.addr", "net.peer.ip", "peer.ipv4", "peer.ipv6",
		peerAddress, "peer.hostname", "net.peer.name", "server.address"},
}

// newTagTable builds the table of the tags of spans.
func newTagTable(c FieldConfig, rules *ruleSet) *table {
	t := newTable()
	for role, keys := range tagCandidates {
		for rank, key := range keys {
			t.addExact(key, use{role: role, rank: uint16(rank), unit: NoUnitGiven})
		}
	}
	// true and yes are a mark; a number is a time, never a 1 that means yes.
	t.addExact("timeout", use{role: Timeout, unit: Seconds})
	rules.addConditions(t)
	if c.By != "" {
		t.addExact(c.By, use{role: Stratum, unit: NoUnitGiven})
	}
	if c.WeightKey != "" {
		t.addExact(c.WeightKey, use{role: WeightKey, unit: NoUnitGiven})
	}
	return t
}

// weightOf is how many traces of the population one sampled trace stands for, 0
// where the span does not say: the tag that --weight-field names, else the
// inverse of its sampling probability, from the W3C tracestate (ot=th:…) or
// Jaeger's sampler tags.
func weightOf(r *record) float64 {
	if v := r.get(WeightKey); !v.empty() {
		w, err := strconv.ParseFloat(string(bytes.TrimSpace(v.raw)), 64)
		if err == nil && w > 0 && w <= math.MaxFloat32 {
			return w
		}
		return 0
	}
	if w := thresholdWeight(r.get(TraceState).raw); w > 0 {
		return w
	}
	if string(r.get(SamplerType).raw) != "probabilistic" {
		return 0
	}
	p, err := strconv.ParseFloat(string(r.get(SamplerParam).raw), 64)
	if err != nil || !(p > 0 && p <= 1) {
		return 0
	}
	return 1 / p
}

// thresholdWeight reads "ot=th:c" of a tracestate: up to 14 hexadecimal digits,
// the rejection threshold as a fraction of 2^56 with trailing zeros left out.
// Source: OpenTelemetry, TraceState: Probability Sampling.
func thresholdWeight(state []byte) float64 {
	for member := range bytes.SplitSeq(state, []byte{','}) {
		vendor, ok := bytes.CutPrefix(bytes.TrimSpace(member), []byte("ot="))
		if !ok {
			continue
		}
		for part := range bytes.SplitSeq(vendor, []byte{';'}) {
			if digits, ok := bytes.CutPrefix(part, []byte("th:")); ok {
				return inverseThreshold(string(digits))
			}
		}
	}
	return 0
}

func inverseThreshold(digits string) float64 {
	if digits == "" || len(digits) > 14 {
		return 0
	}
	t, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0
	}
	t <<= 4 * (14 - len(digits))
	return float64(uint64(1)<<56) / float64(uint64(1)<<56-t)
}
