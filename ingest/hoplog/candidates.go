package hoplog

import (
	"math"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/moment"
)

// candidates lists, role by role, the keys that are known to mean it, best
// first. Keys are compared without regard to case; a dot also stands for
// nesting. The bases of times take any unit as a suffix (see unitSuffixes).
var candidates = [field.Roles][]string{
	field.Trace: {"trace_id", "traceid", "trace.id", "chain_id", "chainid", "request_id", "x_request_id",
		"guid:x-request-id", "correlation_id", "traceparent"},
	field.Hop: {"hop", "service", "service_name", "servicename", "service.name", "operation", "operationname", "name",
		"rpc.method", "method", "upstream_cluster", "target", "peer"},
	field.Duration:  {"duration", "elapsed", "took", "latency", "rt", "request_time", "upstream_response_time", "upstream_service_time"},
	field.Start:     {"start", "start_time", "starttime", "started_at", "begin"},
	field.End:       {"end", "end_time", "endtime", "finished_at"},
	field.Time:      {"time", "ts", "timestamp", "@timestamp", "@wrapper_time"},
	field.Timeout:   {"timeout", "deadline"},
	field.CutByMark: {"cut_by"},
	// A bare "host" is not among them: proxies and web servers write the request's
	// Host header there. Nor are "server", "address" and "peer".
	field.InstanceKey: {"instance", "instance_id", "service.instance.id", "pod", "pod_name", "k8s.pod.name", "kubernetes.pod_name",
		"kubernetes.pod.name", "upstream_addr", "upstream_host", "hostname", "host_name", "host.name", "node", "node_name", "k8s.node.name"},
	field.CallerKey:   {"caller"},
	field.UpstreamKey: {"upstream_service"},
	field.SourceKey:   {"source"},
}

// unitSuffixes are the endings of a key that state its unit, in lower case.
var unitSuffixes = []struct {
	suffix string
	unit   moment.Unit
}{
	{"_ns", moment.Nanoseconds}, {"_us", moment.Microseconds}, {"_ms", moment.Milliseconds}, {"_s", moment.Seconds},
	{"ns", moment.Nanoseconds}, {"us", moment.Microseconds}, {"ms", moment.Milliseconds},
	{"_nanos", moment.Nanoseconds}, {"_micros", moment.Microseconds}, {"_millis", moment.Milliseconds}, {"_seconds", moment.Seconds},
	{"nanos", moment.Nanoseconds}, {"micros", moment.Microseconds}, {"millis", moment.Milliseconds}, {"seconds", moment.Seconds},
	{"_sec", moment.Seconds}, {"_secs", moment.Seconds}, {"secs", moment.Seconds},
	{"_nanoseconds", moment.Nanoseconds}, {"_microseconds", moment.Microseconds}, {"_milliseconds", moment.Milliseconds},
	{"nanoseconds", moment.Nanoseconds}, {"microseconds", moment.Microseconds}, {"milliseconds", moment.Milliseconds},
	{"_nsec", moment.Nanoseconds}, {"_usec", moment.Microseconds}, {"_msec", moment.Milliseconds},
	{"nsec", moment.Nanoseconds}, {"usec", moment.Microseconds}, {"msec", moment.Milliseconds},
}

// lineKeys makes the table of the keys of hop logs.
type lineKeys struct {
	*field.Table
	field.Config
}

// NewTable builds the table of the keys of hop logs.
func NewTable(c field.Config, rules *outcome.Set) *field.Table {
	k := lineKeys{field.NewTable(), c}
	for role, keys := range candidates {
		if !k.overridden(field.Role(role)) {
			k.addCandidates(field.Role(role), keys)
		}
	}
	outcome.AddKeys(k.Table, k.overridden, k.firstAttempt)
	if !k.Names(field.Timeout) {
		outcome.AddTimeouts(k.Table, c.Unit)
	}
	for i, flag := range c.Named() {
		u := field.Use{Role: flag.Role, Rank: uint16(i), Unit: k.defaultUnit(flag), First: k.firstAttempt(flag.Key), Epoch: flag.Epoch}
		if i < len(c.Fields) {
			u.Flag = field.FlagOf(i)
		}
		k.AddExact(flag.Key, u)
	}
	k.addHopParts()
	k.AddExact(c.By, field.Use{Role: field.Stratum, Flag: field.ByFlag})
	rules.AddConditions(k.Table)
	k.Select(c.Selection)
	return k.Table
}

// addHopParts lets a record without a hop of its own be named by the operation,
// else by the service, whose fields the user named.
func (k *lineKeys) addHopParts() {
	if k.Names(field.Hop) {
		return
	}
	for _, flag := range k.Named() {
		switch flag.Role {
		case field.OperationKey:
			k.AddExact(flag.Key, field.Use{Role: field.Hop, Unit: moment.NoUnitGiven})
		case field.ServiceKey:
			k.AddExact(flag.Key, field.Use{Role: field.Hop, Rank: math.MaxUint16, Unit: moment.NoUnitGiven})
		}
	}
}

// overridden reports whether the user named the keys of role. Who names the
// error field settles how attempts end, so the other keys for it stay unread, and
// who names the operation names the hop.
func (k *lineKeys) overridden(role field.Role) bool {
	if role.NamesCaller() {
		return !k.Callers || k.Names(field.CallerKey)
	}
	return role == field.Hop && k.Names(field.OperationKey) || k.Overrides(role, outcome.SettledByError)
}

// isNamed reports whether the user named the key for a role. Then it is not an
// instance or a caller besides: a key with one meaning is read in less time.
func (k *lineKeys) isNamed(key string) bool {
	return slices.ContainsFunc(k.Named(), func(flag field.Flag) bool { return strings.EqualFold(flag.Key, key) })
}

func (k *lineKeys) addCandidates(role field.Role, keys []string) {
	var rank uint16
	for _, key := range keys {
		if (role == field.InstanceKey || role.NamesCaller()) && k.isNamed(key) {
			continue
		}
		k.AddKnown(key, field.Use{Role: role, Rank: rank, Unit: k.bare(role)})
		rank++
		if !role.HasUnit() {
			continue
		}
		for _, s := range unitSuffixes {
			k.AddKnown(key+s.suffix, field.Use{Role: role, Rank: rank, Unit: s.unit})
			rank++
		}
	}
}

// bare is the unit of a number under a key that states none: --unit is for
// durations and timeouts, moments tell their own.
func (k *lineKeys) bare(role field.Role) moment.Unit {
	if role == field.Duration || role == field.Timeout {
		return k.Unit
	}
	return moment.NoUnitGiven
}

// defaultUnit is the unit of a key that the user named: stated, else from its
// ending, else --unit.
func (k *lineKeys) defaultUnit(flag field.Flag) moment.Unit {
	if flag.Unit != moment.NoUnitGiven {
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
	return outcome.FirstAttempt(key)
}
