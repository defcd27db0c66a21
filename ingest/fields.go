package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Role is what a field of a record means.
type Role uint8

// The roles of a field. Truncated, Error, HTTPStatus, GRPCStatus and ErrorType
// say how the attempt ended; Time is a bare timestamp.
const (
	Trace Role = iota
	Hop
	Duration
	Start
	End
	Time
	TruncatedMark
	RetryMark
	Attempt
	Timeout
	CutByMark
	Error
	Status
	OutcomeWord
	HTTPStatus
	GRPCStatus
	ErrorType
	Stratum
	Condition // holds what --truncated-if asks for
	ResponseFlags
	ResponseDetails
	Message
	SpanKind
	Messaging
	SamplerType
	SamplerParam
	TraceState
	WeightKey
	SpanKey
	ParentKey
	ServiceKey
	OperationKey
	RPCSystem
	InstanceKey // the pod, host or peer that an attempt went to
	roles
)

var roleNames = [roles]string{
	"trace", "hop", "duration", "start", "end", "time", "truncated", "retry", "attempt", "timeout",
	"cut_by", "error", "status", "outcome", "http_status", "grpc_status", "error_type", "by",
	"condition", "response_flags", "response_details", "message", "kind", "messaging", "sampler_type", "sampler_param",
	"tracestate", "weight", "span", "parent", "service", "operation", "rpc_system", "instance",
}

// String gives the name that --field takes.
func (r Role) String() string { return roleNames[r] }

// settable are the roles that --field may name.
var settable = []Role{
	Trace, Hop, Duration, Start, End, Time, TruncatedMark, RetryMark, Attempt, Timeout, Error,
	SpanKey, ParentKey, ServiceKey, OperationKey, SpanKind, InstanceKey,
}

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

// timed are the roles whose keys may carry a unit.
var timed = []Role{Duration, Start, End, Time, Timeout}

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

// FieldFlag is one --field NAME=KEY[:UNIT].
type FieldFlag struct {
	Role Role
	Key  string
	Unit Unit
}

// ParseField reads the value of --field. What follows the last colon is a unit
// only for a role that has one; keys may hold colons.
func ParseField(s string) (FieldFlag, error) {
	name, key, ok := strings.Cut(s, "=")
	i := slices.IndexFunc(settable, func(r Role) bool { return r.String() == name })
	if !ok || i < 0 || key == "" {
		return FieldFlag{}, fmt.Errorf("--field %q: write NAME=KEY or NAME=KEY:UNIT, where NAME is one of %s", s, SettableFields())
	}
	f := FieldFlag{Role: settable[i], Key: key, Unit: NoUnitGiven}
	if at := strings.LastIndexByte(key, ':'); at > 0 && slices.Contains(timed, f.Role) {
		if u, ok := ParseUnit(key[at+1:]); ok {
			f.Key, f.Unit = key[:at], u
		}
	}
	return f, nil
}

// SettableFields lists what --field takes.
func SettableFields() string {
	names := make([]string, len(settable))
	for i, r := range settable {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// FieldConfig is how the user wants records read.
type FieldConfig struct {
	Fields       []FieldFlag
	Unit         Unit   // of bare durations and timeouts; NoUnitGiven: none
	TimeIs       string // "start", "end" or "" (a bare timestamp is an end)
	FirstAttempt int    // number of the first attempt; -1: by the key
	By           string // key whose value is the stratum; "" for none
	HopName      string // of spans: "service", "operation", or "" for both
	InferNesting bool   // hop logs become traces whose parents come from times
	WeightKey    string // tag that holds how many traces one stands for; "" for none
	Rules        RuleConfig
}

// Fields knows which key of a record means what. It is read-only once made and
// may be shared.
type Fields struct {
	config FieldConfig
	// known maps a lower-case key to its uses, exact maps a key as the user
	// wrote it.
	known, exact map[string][]use
	// parents are the lower-case and the exact first parts of dotted keys: only
	// objects under these are looked into.
	parents map[string]bool
	rules   *ruleSet
	tags    *Fields // the keys of the tags of spans
	// spanTable: records of hop logs name their span.
	spanTable bool
}

// use is one meaning of a key: rank orders the candidates of a role, 0 best.
type use struct {
	role  Role
	rank  uint16
	unit  Unit
	first int8   // number of the first attempt, for Attempt
	match string // the only value that counts, for Condition
}

// NewFields builds the table of keys. An error is a mistake in the rules.
func NewFields(c FieldConfig) (*Fields, error) {
	rules, err := newRuleSet(c.Rules)
	if err != nil {
		return nil, err
	}
	f := emptyFields(c, rules)
	for role, keys := range candidates {
		if !f.overridden(Role(role)) {
			f.addCandidates(Role(role), keys)
		}
	}
	for i, flag := range c.Fields {
		f.add(f.exact, flag.Key, use{role: flag.Role, rank: uint16(i), unit: f.defaultUnit(flag), first: f.firstAttempt(flag.Key)})
	}
	f.addHopParts()
	if c.By != "" {
		f.add(f.exact, c.By, use{role: Stratum})
	}
	f.addConditions()
	f.tags = newTagFields(f)
	return f, nil
}

func emptyFields(c FieldConfig, rules *ruleSet) *Fields {
	return &Fields{config: c, known: map[string][]use{}, exact: map[string][]use{}, parents: map[string]bool{}, rules: rules, spanTable: c.namesSpans()}
}

// addHopParts lets a record without a hop of its own be named by the operation,
// else by the service, whose fields the user named.
func (f *Fields) addHopParts() {
	if f.names(Hop) {
		return
	}
	for _, flag := range f.config.Fields {
		switch flag.Role {
		case OperationKey:
			f.add(f.exact, flag.Key, use{role: Hop, unit: NoUnitGiven})
		case ServiceKey:
			f.add(f.exact, flag.Key, use{role: Hop, rank: math.MaxUint16, unit: NoUnitGiven})
		}
	}
}

// addConditions makes the keys of --truncated-if known; only the value asked
// for counts.
func (f *Fields) addConditions() {
	for _, c := range f.rules.conditions {
		f.add(f.exact, c.key, use{role: Condition, unit: NoUnitGiven, match: c.value})
	}
}

// overridden reports whether the user named the keys of role. Who names the
// error field settles how attempts end, so the other keys for it stay unread, and
// who names the operation names the hop.
func (f *Fields) overridden(role Role) bool {
	switch {
	case role > Error && role <= ErrorType && f.names(Error):
		return true
	case role == Hop && f.names(OperationKey):
		return true
	}
	return f.names(role)
}

// names reports whether the user named a key of role.
func (f *Fields) names(role Role) bool {
	return slices.ContainsFunc(f.config.Fields, func(flag FieldFlag) bool { return flag.Role == role })
}

// isNamed reports whether the user named the key for a role. Then it is not an
// instance besides: a key with one meaning is read in less time.
func (f *Fields) isNamed(key string) bool {
	return slices.ContainsFunc(f.config.Fields, func(flag FieldFlag) bool { return strings.EqualFold(flag.Key, key) })
}

func (f *Fields) addCandidates(role Role, keys []string) {
	var rank uint16
	for _, key := range keys {
		if role == InstanceKey && f.isNamed(key) {
			continue
		}
		f.add(f.known, key, use{role: role, rank: rank, unit: f.config.bare(role), first: f.firstAttempt(key)})
		rank++
		if !slices.Contains(timed, role) {
			continue
		}
		for _, s := range unitSuffixes {
			f.add(f.known, key+s.suffix, use{role: role, rank: rank, unit: s.unit})
			rank++
		}
	}
}

// bare is the unit of a number under a key that states none: --unit is for
// durations and timeouts, moments tell their own.
func (c FieldConfig) bare(role Role) Unit {
	if role == Duration || role == Timeout {
		return c.Unit
	}
	return NoUnitGiven
}

// defaultUnit is the unit of a key that the user named: stated, else from its
// ending, else --unit.
func (f *Fields) defaultUnit(flag FieldFlag) Unit {
	if flag.Unit != NoUnitGiven {
		return flag.Unit
	}
	lower := strings.ToLower(flag.Key)
	for _, s := range unitSuffixes {
		if strings.HasSuffix(lower, s.suffix) && (s.suffix[0] == '_' || camel(flag.Key, s.suffix)) {
			return s.unit
		}
	}
	return f.config.bare(flag.Role)
}

// camel reports whether key ends in suffix as a word of its own: "Ms" in
// durationMs, but not the "ms" of "items"; a key that is the unit counts.
func camel(key, suffix string) bool {
	at := len(key) - len(suffix)
	return at == 0 || key[at] >= 'A' && key[at] <= 'Z' || key[at-1] == '.'
}

// firstAttempt is the number that the first try of a call has under key.
func (f *Fields) firstAttempt(key string) int8 {
	if f.config.FirstAttempt >= 0 {
		return int8(f.config.FirstAttempt)
	}
	if strings.EqualFold(key, "attempt") {
		return 1
	}
	return 0
}

func (f *Fields) add(to map[string][]use, key string, u use) {
	to[key] = append(to[key], u)
	for i, c := range key {
		if c == '.' {
			f.parents[key[:i]] = true
		}
	}
}

// look returns the meanings of a key, which is a dotted path for nested ones.
func (f *Fields) look(key string) []use {
	return slices.Concat(f.exact[key], f.known[strings.ToLower(key)])
}

// opens reports whether objects under key may hold a known key.
func (f *Fields) opens(key string) bool {
	return f.parents[key] || f.parents[strings.ToLower(key)]
}
