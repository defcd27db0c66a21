package trace

import (
	"bytes"
	"math"
	"strconv"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// tagCandidates lists the tags of spans that are read, best first for each role.
// The keys are exact: tags follow conventions.
var tagCandidates = map[field.Role][]string{
	field.Message:      {"otel.status_description", "error.message", "error.object", "exception.message", "message", "event"},
	field.SpanKind:     {"span.kind"},
	field.Messaging:    {"messaging.system", "message_bus.destination"},
	field.SamplerType:  {"sampler.type"},
	field.SamplerParam: {"sampler.param"},
	field.TraceState:   {"w3c.tracestate"},
	// The nearest to the very process first. peer.service names no instance, but all
	// of them.
	field.InstanceKey: {"upstream_address", "network.peer.address", "net.sock.peer.addr", "net.peer.ip", "peer.ipv4", "peer.ipv6",
		peerAddress, "peer.hostname", "net.peer.name", "server.address"},
}

// hostKeys are the tags that name the machine or instance of a process; for either the
// highest rank counts. One host has one clock, and may run several instances.
var hostKeys = map[string]struct{ host, instance int }{
	"host.name": {9, 5}, "hostname": {8, 6}, "host.ip": {7, 4}, "ip": {6, 3}, "k8s.node.name": {5, 1},
	"k8s.pod.name": {4, 8}, "service.instance.id": {3, 9}, "container.id": {2, 7}, "client-uuid": {1, 2},
}

// NewTable builds the table of the tags of spans.
func NewTable(c field.Config, rules *outcome.Set) *field.Table {
	t := field.NewTable()
	for role, keys := range tagCandidates {
		for rank, key := range keys {
			t.AddExact(key, field.Use{Role: role, Rank: uint16(rank), Unit: moment.NoUnitGiven})
		}
	}
	outcome.AddKeys(t, func(r field.Role) bool { return r == field.Level || c.Overrides(r, outcome.SettledByError) }, outcome.FirstAttempt)
	addFlags(t, c)
	t.AddExact("http.retry_count", field.Use{Role: field.Attempt, Rank: math.MaxUint16, Unit: moment.NoUnitGiven}) // of the conventions' draft, on each resend
	// true and yes are a mark; a number is a time, never a 1 that means yes.
	if !c.Names(field.Timeout) {
		for rank, key := range [...]struct {
			name string
			unit moment.Unit
		}{{"timeout", c.Unit}, {"timeout_ms", moment.Milliseconds}, {"timeout_s", moment.Seconds}, {"timeout_seconds", moment.Seconds}, {"deadline_ms", moment.Milliseconds},
			{"deadline", c.Unit}, {"deadline_s", moment.Seconds}, {"deadline_us", moment.Microseconds}, {"deadline_ns", moment.Nanoseconds}} {
			t.AddFolded(key.name, field.Use{Role: field.Timeout, Rank: uint16(rank), Unit: key.unit, NoMark: true})
		}
		outcome.AddTimeouts(t, c.Unit)
	}
	rules.AddConditions(t)
	t.Select(c.Selection)
	t.AddExact(c.By, field.Use{Role: field.Stratum, Unit: moment.NoUnitGiven, Flag: field.ByFlag})
	t.AddExact(c.WeightKey, field.Use{Role: field.WeightKey, Unit: moment.NoUnitGiven})
	return t
}

// addFlags adds the tags that the user named.
func addFlags(t *field.Table, c field.Config) {
	for i, f := range c.Fields {
		if !f.Role.OfSpans() {
			continue
		}
		u := field.Use{Role: f.Role, Rank: uint16(i), Unit: f.Unit, First: outcome.FirstAttempt(f.Key), Flag: field.FlagOf(i), NoMark: true}
		if c.FirstAttempt >= 0 {
			u.First = int8(c.FirstAttempt)
		}
		if u.Unit == moment.NoUnitGiven {
			u.Unit = outcome.UnitOf(f.Key, c.Unit)
		}
		t.AddExact(f.Key, u)
	}
}

// weightOf is how many traces of the population one sampled trace stands for, 0
// where the span does not say: the tag that --field weight= names, else the
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

// verdict weighs the tags. One that is called like a mark but is neither yes nor
// no may be anything: anyone may set a tag.
func (r *spanReader) verdict() outcome.Ending {
	e, heard := outcome.Ending{}, r.has.heard
	if r.rec.Has&(outcome.EvidenceRoles|1<<field.Timeout|1<<field.Code) != 0 {
		var ok bool
		if e, ok = r.rules.Judge(&r.rec, r.has.kind); !ok {
			r.tally.Odd[format.UnreadMarks]++
			r.rec.Has &^= 1 << field.TruncatedMark
			e, _ = r.rules.Judge(&r.rec, r.has.kind)
		}
	}
	if e.Hears() {
		if len(r.has.events) > 0 {
			heard = max(heard, r.hearEvents())
		}
		r.rules.Hear(&e, heard, &r.rec, r.has.kind)
	}
	if e.Zero {
		r.tally.Odd[format.ZeroStatuses]++
	}
	return e
}

// hearEvents says what the events of the span speak of.
func (r *spanReader) hearEvents() outcome.Message {
	if !outcome.MaySpeak(r.has.events) {
		return outcome.Silent
	}
	r.eventTexts = outcome.Silent
	r.readEvents(r.has.events)
	return r.eventTexts
}

// hear takes in what the text of a tag speaks of.
func (r *spanReader) hear(k *field.Key, kind jsonscan.Kind, raw []byte) {
	if kind == jsonscan.Text && outcome.Listens(k) {
		r.has.heard = max(r.has.heard, r.ear.Hear(raw))
	}
}

// hearEvent is hear for a field of an event.
func (r *spanReader) hearEvent(key []byte, kind jsonscan.Kind, raw []byte) {
	if kind == jsonscan.Text && outcome.Listens(r.tags.Find(key)) {
		r.eventTexts = max(r.eventTexts, r.ear.Hear(raw))
	}
}

// timeout notes the timeout of the call, where a tag tells it.
func (r *spanReader) timeout(e *outcome.Ending) {
	if r.rec.Has&(1<<field.Timeout) == 0 {
		return
	}
	ns, unused := outcome.Timeout(&r.rec)
	if unused {
		if at, isPoint := outcome.Deadline(&r.rec); isPoint {
			ns, unused = outcome.Left(at, r.row)
		}
	}
	if unused {
		r.tally.Show(format.UnusedTimeouts, r.rec.Get(field.Timeout))
	}
	if r.row.Timeout, r.row.HasTimeout = ns, ns > 0; e.EarlierThan(r.row) {
		r.row.CutBy = spans.CutUnknown
	}
}

// SeenKeys lists the keys of tags.
func (r *spanReader) SeenKeys() []string {
	names := make([]string, 0, len(r.tags.Seen))
	for name := range r.tags.Seen {
		names = append(names, name)
	}
	return names
}

// selects notes what the span says of the selection of its trace: by its tags, those of
// its process, and what it is called.
func (r *spanReader) selects() {
	s, f := r.selection, &r.has
	if s == nil {
		return
	}
	v := r.rec.Selected.Or(f.process.selected)
	hop := r.hopNames.SpanHop(nil, f.process.service, f.operation, f.kind)
	for _, known := range [...]struct {
		key   string
		value []byte
	}{
		{"hop", []byte(hop.Name)}, {"service", f.process.service}, {"service.name", f.process.service}, {"operation", f.operation},
		{"operationname", f.operation}, {"name", f.operation}, {"kind", []byte(f.kind.String())}, {"span.kind", []byte(f.kind.String())},
		{"trace", f.trace}, {"traceid", f.trace}, {"trace_id", f.trace},
	} {
		v.Default(s, known.key, known.value)
	}
	r.tally.Selected |= v.Seen
	r.row.Ties |= format.SelectionTies(s.Judge(v))
}
