package trace

import (
	"bytes"
	"math"
	"strconv"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/moment"
)

// tagCandidates lists the tags of spans that are read, best first for each role.
// The keys are exact: tags follow conventions.
var tagCandidates = map[field.Role][]string{
	field.TruncatedMark:   {"timed_out", "is_timeout", "truncated"},
	field.ResponseFlags:   {"response_flags"},
	field.ResponseDetails: {"response_code_details"},
	field.GRPCStatus:      {"rpc.grpc.status_code", "rpc.response.status_code", "rpc.status_code", "grpc.code", "grpc.status_code"},
	field.HTTPStatus:      {"http.response.status_code", "http.status_code"},
	field.ErrorType:       {"error.type"},
	field.Status:          {"otel.status_code"},
	field.Error:           {"error"},
	field.Message:         {"otel.status_description", "error.message", "error.object", "exception.message", "message", "event"},
	field.RetryMark:       {"retry", "is_retry"},
	field.Attempt:         {"http.request.resend_count", "http.resend_count", "http.retry_count", "gcp.grpc.resend.count"},
	field.SpanKind:        {"span.kind"},
	field.RPCSystem:       {"rpc.system", "rpc.system.name"},
	field.Messaging:       {"messaging.system", "message_bus.destination"},
	field.SamplerType:     {"sampler.type"},
	field.SamplerParam:    {"sampler.param"},
	field.TraceState:      {"w3c.tracestate"},
	// The nearest to the very process first. peer.service names no instance, but all
	// of them.
	field.InstanceKey: {"upstream_address", "network.peer.address", "net.sock.peer.addr", "net.peer.ip", "peer.ipv4", "peer.ipv6",
		peerAddress, "peer.hostname", "net.peer.name", "server.address"},
}

// NewTable builds the table of the tags of spans.
func NewTable(c field.Config, rules *outcome.Set) *field.Table {
	t := field.NewTable()
	for role, keys := range tagCandidates {
		for rank, key := range keys {
			t.AddExact(key, field.Use{Role: role, Rank: uint16(rank), Unit: moment.NoUnitGiven})
		}
	}
	// true and yes are a mark; a number is a time, never a 1 that means yes.
	t.AddExact("timeout", field.Use{Role: field.Timeout, Unit: moment.Seconds})
	rules.AddConditions(t)
	t.AddExact(c.By, field.Use{Role: field.Stratum, Unit: moment.NoUnitGiven})
	t.AddExact(c.WeightKey, field.Use{Role: field.WeightKey, Unit: moment.NoUnitGiven})
	return t
}

// weightOf is how many traces of the population one sampled trace stands for, 0
// where the span does not say: the tag that --weight-field names, else the
// inverse of its sampling probability, from the W3C tracestate (ot=th:…) or
// Jaeger's sampler tags.
func weightOf(r *field.Record) float64 {
	if v := r.Get(field.WeightKey); !v.Empty() {
		w, err := strconv.ParseFloat(string(bytes.TrimSpace(v.Raw)), 64)
		if err == nil && w > 0 && w <= math.MaxFloat32 {
			return w
		}
		return 0
	}
	if w := thresholdWeight(r.Get(field.TraceState).Raw); w > 0 {
		return w
	}
	if string(r.Get(field.SamplerType).Raw) != "probabilistic" {
		return 0
	}
	p, err := strconv.ParseFloat(string(r.Get(field.SamplerParam).Raw), 64)
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
