package outcome

import (
	"bytes"
	"math"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// TimeoutKeys are the usual names of the timeout of a call beside those of hop logs, in
// any case and with or without dots, - and _. Those that end in ms hold milliseconds;
// grpc-timeout is written as on the wire; the others state their unit in the value.
var TimeoutKeys = [...]string{
	"rpc.request.timeout", "rpc.timeout", "grpc.timeout", "rpc.request.metadata.grpc-timeout", "http.request.header.grpc-timeout",
	"x-envoy-expected-rq-timeout-ms", "http.request.header.x-envoy-expected-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms", "x-envoy-upstream-rq-timeout-ms",
	"http.request.timeout", "http.client.timeout", "http.timeout", "request.timeout", "client.timeout", "call.timeout", "db.timeout", "db.query.timeout", "timeout.duration",
	"rpc.deadline", "rpc.request.deadline", "grpc.deadline", "request.deadline",
}

// timeoutUnits are the endings of such a key that state its unit.
var timeoutUnits = [...]struct {
	ending string
	unit   moment.Unit
}{{"", moment.NoUnitGiven}, {"_ms", moment.Milliseconds}, {"_us", moment.Microseconds}, {"_ns", moment.Nanoseconds}, {"_seconds", moment.Seconds}, {"_millis", moment.Milliseconds}}

// AddTimeouts makes the usual names known to a table; bare is the unit of numbers that
// state none.
func AddTimeouts(t *field.Table, bare moment.Unit) {
	rank := uint16(math.MaxUint16 / 2) // after those of hop logs
	for _, key := range TimeoutKeys {
		for _, u := range timeoutUnits {
			unit := u.unit
			switch {
			case strings.HasSuffix(key, "-ms") && u.ending != "":
				continue
			case strings.HasSuffix(key, "-ms"):
				unit = moment.Milliseconds
			case u.ending == "":
				unit = bare
			}
			t.AddFolded(key+u.ending, field.Use{Role: field.Timeout, Rank: rank, Unit: unit, NoMark: true})
			rank++
		}
	}
}

// Timeout reads the timeout of the attempt in ns, 0 where there is none; unused is true
// for one that says nothing: without a unit, unreadable, or longer than a day, which is
// rather a point in time.
func Timeout(r *field.Record) (ns int64, unused bool) {
	v := r.Get(field.Timeout)
	if _, isMark := TimeoutMark(r); isMark || v.Empty() {
		return 0, false
	}
	if ns, ok := onWire(v); ok {
		return ns, false
	}
	d, err := moment.ParseDuration(v.Raw, v.Use.Unit)
	if err != nil || d.NS > LongestTimeout {
		return 0, true
	}
	return d.NS, false
}

// Deadline reads a timeout that is a point in time, in ns since 1970.
func Deadline(r *field.Record) (at int64, isPoint bool) {
	v := r.Get(field.Timeout)
	t, err := moment.ParseInstant(v.Raw, v.Use.Unit)
	return t.NS, err == nil
}

// Left returns what is left until a deadline from the start on, in ns. It is not used where
// the start is not known, or it is no later than that, or by more than a day.
func Left(at int64, row *spans.Row) (ns int64, unused bool) {
	if ns = at - row.Start; !row.HasStart || ns <= 0 || ns > LongestTimeout {
		return 0, true
	}
	return ns, false
}

// LongestTimeout is a day, in ns: what is longer is none.
const LongestTimeout = 24 * 3600e9

// onWire reads a timeout as gRPC sends it: up to eight digits and one of H, M, S, m, u, n.
// Source: gRPC over HTTP2.
func onWire(v *field.Value) (ns int64, ok bool) {
	if v.Kind != jsonscan.Text || !strings.HasSuffix(field.FoldKey(v.Key.Path), "grpctimeout") {
		return 0, false
	}
	raw := bytes.TrimSpace(v.Raw)
	if len(raw) < 2 || len(raw) > 9 {
		return 0, false
	}
	digits := raw[:len(raw)-1]
	n, isNumber := count(digits)
	unit := map[byte]int64{'H': 3600e9, 'M': 60e9, 'S': 1e9, 'm': 1e6, 'u': 1e3, 'n': 1}[raw[len(raw)-1]]
	if !isNumber || n < 0 || unit == 0 || n > LongestTimeout/unit {
		return 0, false
	}
	return n * unit, true
}

// UnitOf is the unit that the end of a key states, else bare.
func UnitOf(key string, bare moment.Unit) moment.Unit {
	lower := strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(key))
	for _, u := range timeoutUnits[1:] {
		if strings.HasSuffix(lower, u.ending) || strings.HasSuffix(key, camel(u.ending)) {
			return u.unit
		}
	}
	return bare
}

// camel is an ending in camel case: "_ms" is "Ms".
func camel(ending string) string { return strings.ToUpper(ending[1:2]) + ending[2:] }
