package ingest

import (
	"math"
	"slices"
	"strings"
)

// candidates lists, role by role, the keys that are known to mean it, best
// first. Keys are compared without regard to case; a dot also stands for
// nesting. The bases of times take any unit as a suffix (see unitSuffixes).
var candidates = [roles][]string{
	Trace: {"trace_id", "traceid", "trace.id", "chain_id", "chainid", "request_id", "x_request_id",
		"guid:x-request-id", "correlation_id", "traceparent"},
	Hop: {"hop", "service", "service_name", "servicename", "service.name", "operation", "operationname", "name",
		"rpc.method", "method", "upstream_cluster", "target", "peer"},
	Duration:      {"duration", "elapsed", "took", "latency", "rt", "request_time", "upstream_response_time", "upstream_service_time"},
	Start:         {"start", "start_time", "starttime", "started_at", "begin"},
	End:           {"end", "end_time", "endtime", "finished_at"},
	Time:          {"time", "ts", "timestamp", "@timestamp"},
	TruncatedMark: {"truncated", "timed_out", "timedout", "is_timeout", "istimeout"},
	RetryMark:     {"retry", "is_retry", "isretry", "retried"},
	Attempt:       {"attempt", "retry_count", "retrycount", "resend_count", "resendcount", "http.request.resend_count"},
	Timeout:       {"timeout", "deadline"},
	CutByMark:     {"cut_by"},
	Error:         {"error", "err"},
	Status:        {"status"},
	OutcomeWord:   {"outcome"},
	HTTPStatus:    {"http.response.status_code", "http.status_code", "http_status", "status_code"},
	GRPCStatus:    {"rpc.grpc.status_code", "rpc.response.status_code", "rpc.status_code", "grpc.code", "grpc.status_code"},
	ErrorType:     {"error.type", "error_type"},
	// A bare "host" is not among them: proxies and web servers write the request's
	// Host header there. Nor are "server", "address" and "peer".
	InstanceKey: {"instance", "instance_id", "service.instance.id", "pod", "pod_name", "k8s.pod.name", "kubernetes.pod_name",
		"kubernetes.pod.name", "upstream_addr", "upstream_host", "hostname", "host_name", "host.name", "node", "node_name", "k8s.node.name"},
}

// unitSuffixes are the endings of a key that state its unit, in lower case.
var unitSuffixes = []struct {
	suffix string
	unit   Unit
}{
	{"_ns", Nanoseconds}, {"_us", Microseconds}, {"_ms", Milliseconds}, {"_s", Seconds},
	{"ns", Nanoseconds}, {"us", Microseconds}, {"ms", Milliseconds},
	{"_nanos", Nanoseconds}, {"_micros", Microseconds}, {"_millis", Milliseconds}, {"_seconds", Seconds},
	{"nanos", Nanoseconds}, {"micros", Microseconds}, {"millis", Milliseconds}, {"seconds", Seconds},
	{"_sec", Seconds}, {"_secs", Seconds},
}

// lineKeys makes the table of the keys of hop logs.
type lineKeys struct {
	*table
	FieldConfig
}

// newLineTable builds the table of the keys of hop logs.
func newLineTable(c FieldConfig, rules *ruleSet) *table {
	k := lineKeys{newTable(), c}
	for role, keys := range candidates {
		if !k.overridden(Role(role)) {
			k.addCandidates(Role(role), keys)
		}
	}
	for i, flag := range c.Fields {
		k.addExact(flag.Key, use{role: flag.Role, rank: uint16(i), unit: k.defaultUnit(flag), first: k.firstAttempt(flag.Key)})
	}
	k.addHopParts()
	if c.By != "" {
		k.addExact(c.By, use{role: Stratum})
	}
	rules.addConditions(k.table)
	return k.table
}

// addHopParts lets a record without a hop of its own be named by the operation,
// else by the service, whose fields the user named.
func (k *lineKeys) addHopParts() {
	if k.Names(Hop) {
		return
	}
	for _, flag := range k.Fields {
		switch flag.Role {
		case OperationKey:
			k.addExact(flag.Key, use{role: Hop, unit: NoUnitGiven})
		case ServiceKey:
			k.addExact(flag.Key, use{role: Hop, rank: math.MaxUint16, unit: NoUnitGiven})
		}
	}
}

// overridden reports whether the user named the keys of role. Who names the
// error field settles how attempts end, so the other keys for it stay unread, and
// who names the operation names the hop.
func (k *lineKeys) overridden(role Role) bool {
	switch {
	case role > Error && role <= ErrorType && k.Names(Error):
		return true
	case role == Hop && k.Names(OperationKey):
		return true
	}
	return k.Names(role)
}

// isNamed reports whether the user named the key for a role. Then it is not an
// instance besides: a key with one meaning is read in less time.
func (k *lineKeys) isNamed(key string) bool {
	return slices.ContainsFunc(k.Fields, func(flag FieldFlag) bool { return strings.EqualFold(flag.Key, key) })
}

func (k *lineKeys) addCandidates(role Role, keys []string) {
	var rank uint16
	for _, key := range keys {
		if role == InstanceKey && k.isNamed(key) {
			continue
		}
		k.addKnown(key, use{role: role, rank: rank, unit: k.bare(role), first: k.firstAttempt(key)})
		rank++
		if !role.HasUnit() {
			continue
		}
		for _, s := range unitSuffixes {
			k.addKnown(key+s.suffix, use{role: role, rank: rank, unit: s.unit})
			rank++
		}
	}
}

// bare is the unit of a number under a key that states none: --unit is for
// durations and timeouts, moments tell their own.
func (k *lineKeys) bare(role Role) Unit {
	if role == Duration || role == Timeout {
		return k.Unit
	}
	return NoUnitGiven
}

// defaultUnit is the unit of a key that the user named: stated, else from its
// ending, else --unit.
func (k *lineKeys) defaultUnit(flag FieldFlag) Unit {
	if flag.Unit != NoUnitGiven {
		return flag.Unit
	}
	lower := strings.ToLower(flag.Key)
	for _, s := range unitSuffixes {
		if strings.HasSuffix(lower, s.suffix) && (s.suffix[0] == '_' || camel(flag.Key, s.suffix)) {
			return s.unit
		}
	}
	return k.bare(flag.Role)
}

// camel reports whether key ends in suffix as a word of its own: "Ms" in
// durationMs, but not the "ms" of "items"; a key that is the unit counts.
func camel(key, suffix string) bool {
	at := len(key) - len(suffix)
	return at == 0 || key[at] >= 'A' && key[at] <= 'Z' || key[at-1] == '.'
}

// firstAttempt is the number that the first try of a call has under key.
func (k *lineKeys) firstAttempt(key string) int8 {
	if k.FirstAttempt >= 0 {
		return int8(k.FirstAttempt)
	}
	if strings.EqualFold(key, "attempt") {
		return 1
	}
	return 0
}
