package ingest

import (
	"bytes"
	"hash/maphash"

	"github.com/tailscope/tailscope/spans"
)

// spanReader is what the decoders of all trace formats share: one span at a
// time, read into fields and a record of its tags.
type spanReader struct {
	tags  keyCache
	rules *ruleSet
	tally *Tally
	sink  sink
	where cursor
	rec   record
	row   spans.Row
	has   spanFields
}

// spanFields are the fields of one span as they stand in the input.
type spanFields struct {
	trace, id, parent []byte
	async             bool // the tie to the parent
	operation         []byte
	named             bool // there is an operation, be it empty
	start, duration   value
	end               value // of formats without a duration
	kind              spans.Kind
	service, host     []byte
	shift             int64 // ns, as an exporter's warning says
	shifted           bool
	digest            uint64
}

func (r *spanReader) reset() {
	r.rec.reset()
	r.tags.rewind()
	r.has = spanFields{kind: spans.Internal}
}

// digestSeed makes equal content equal for all decoders of a run.
var digestSeed = maphash.MakeSeed()

// add adds one part of the span's content to its digest. Parts are added up, so
// their order does not matter; salt keeps equal values of different fields
// apart. Log entries are no part of it: exporters write them in any order, and
// no two spans differ in them alone.
func (f *spanFields) add(salt uint64, content []byte) {
	h := maphash.Bytes(digestSeed, content) + salt*0x9e3779b97f4a7c15
	h ^= h >> 31
	h *= 0x94d049bb133111eb
	f.digest += h ^ h>>29
}

// Salts of the digest's parts.
const (
	saltTagKey uint64 = iota + 1
	saltTagValue
	saltOperation
	saltService
	saltHost
	saltStart
	saltDuration
	saltEnd
	saltLinks
	saltStatus
)

// tag notes one tag of the span or of its process.
func (r *spanReader) tag(key []byte, kind valueKind, raw []byte) {
	k := r.tags.get(key)
	for _, u := range k.uses {
		r.rec.put(u, k, kind, raw)
	}
	r.has.add(maphash.Bytes(digestSeed, key)|1, raw)
}

// reject counts a record at a place of the chunk, unless bad is nil.
func (r *spanReader) reject(at int, bad *fault) {
	if bad != nil {
		p := r.where.place(at)
		r.tally.reject(p.line, p.offset, bad)
	}
}

// finish turns the fields into a row and hands it on.
func (r *spanReader) finish(at int) *fault {
	f := &r.has
	p := r.where.place(at)
	r.row = spans.Row{Line: p.line, Offset: p.offset}
	for _, step := range [...]func() *fault{r.ids, r.times, r.judge} {
		if bad := step(); bad != nil {
			return bad
		}
	}
	if !f.named {
		return &fault{NoHop, "the span has no operation name"}
	}
	if len(f.service) == 0 {
		f.service = unknownService
		r.tally.UnknownServices++
	}
	f.add(saltOperation, f.operation)
	f.add(saltService, f.service)
	f.add(saltHost, f.host)
	r.row.Digest = f.digest
	r.row.Host = r.sink.host(f.host)
	r.row.Stratum = r.sink.stratum(r.rec.get(Stratum).raw)
	r.sink.span(&r.row, f.service, f.operation, f.kind)
	return nil
}

var unknownService = []byte("unknown-service")

func (r *spanReader) ids() *fault {
	f, row := &r.has, &r.row
	if v := r.rec.get(SpanKind); !v.empty() {
		f.kind = kindOf(v.raw)
	}
	if len(f.trace) == 0 || len(f.id) == 0 {
		return &fault{NoID, "the span has no trace id or no span id"}
	}
	var opaque bool
	if row.TraceID, opaque = spans.ParseTraceID(f.trace); opaque {
		row.Trace = f.trace
	}
	if row.Span, opaque = spans.ParseSpanID(f.id); opaque {
		row.SpanText = f.id
	}
	if row.TraceID.IsZero() || row.Span == 0 {
		return &fault{NoID, "the trace id or the span id is all zeros"}
	}
	if len(f.parent) > 0 {
		row.Parent, _ = spans.ParseSpanID(f.parent)
	}
	if f.async || f.kind == spans.Producer || f.kind == spans.Consumer || r.rec.has&(1<<Messaging) != 0 {
		row.Ties |= spans.Async
	}
	return nil
}

// times reads start and duration, or start and end. A span without an end is
// accepted as unfinished: it has no duration.
func (r *spanReader) times() *fault {
	f, row := &r.has, &r.row
	if bad := r.startTime(); bad != nil {
		return bad
	}
	switch {
	case !f.duration.empty():
		s, err := parseDuration(f.duration.raw, f.duration.use.unit)
		if err != nil || f.duration.kind == boolTrue || f.duration.kind == boolFalse {
			return durationFault(&f.duration, firstError(err, errNotNumber))
		}
		row.Duration, row.HasDuration, row.Resolution = s.ns, true, s.resolution
		f.add(saltDuration, f.duration.raw)
	case !f.end.empty():
		return r.endTime()
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *spanReader) startTime() *fault {
	f, row := &r.has, &r.row
	if f.start.empty() {
		return nil
	}
	ns, err := parseEpoch(f.start.raw, f.start.use.unit)
	if err != nil {
		return &fault{BadTime, shown(&f.start) + ": " + err.Error()}
	}
	row.Start, row.HasStart = ns, true
	f.add(saltStart, f.start.raw)
	if f.shifted {
		row.Start -= f.shift
		row.Shift, row.Ties = f.shift, row.Ties|spans.Shifted
	}
	return nil
}

// endTime gives the duration of formats that write an end; 0 is none.
func (r *spanReader) endTime() *fault {
	f, row := &r.has, &r.row
	end, err := parseEpoch(f.end.raw, f.end.use.unit)
	switch {
	case err != nil:
		return &fault{BadTime, shown(&f.end) + ": " + err.Error()}
	case end == 0:
		return nil
	}
	start := row.Start
	if f.shifted {
		start += f.shift
	}
	if end < start {
		return &fault{NegativeDuration, shown(&f.end) + " is before the start"}
	}
	row.Duration, row.HasDuration = end-start, true
	f.add(saltEnd, f.end.raw)
	return nil
}

// parseEpoch reads an epoch number.
func parseEpoch(raw []byte, unit Unit) (int64, error) {
	s, err := parseDuration(raw, unit)
	return s.ns, err
}

// judge says how the span ended and whether it is a retry.
func (r *spanReader) judge() *fault {
	row := &r.row
	if !row.HasDuration {
		row.Outcome = spans.Unfinished
		return nil
	}
	v, marked, ok := r.rules.judge(&r.rec, r.has.kind)
	if !ok {
		return &fault{BadMark, shown(r.rec.get(TruncatedMark)) + ": neither yes nor no"}
	}
	row.Outcome, row.CutBy, row.Failure, row.Marked = v.outcome, v.cutBy, v.failure, marked
	if marked {
		r.tally.marks |= markRules
	}
	if r.rules.retry(&r.rec) {
		row.Retry, row.Ties = true, row.Ties|spans.MarkedRetry
	}
	row.Weight = weightOf(&r.rec)
	return nil
}

// adjusted reads the warning of an exporter that moved the span. Only this
// wording says that it did; its look-alikes say that it did not.
func (f *spanFields) adjusted(warning []byte) {
	const before = "This span's timestamps were adjusted by "
	delta, ok := bytes.CutPrefix(warning, []byte(before))
	if !ok {
		return
	}
	negative := bytes.HasPrefix(delta, []byte("-"))
	s, err := parseDuration(bytes.TrimPrefix(delta, []byte("-")), NoUnitGiven)
	if err != nil {
		return
	}
	f.shifted, f.shift = true, s.ns
	if negative {
		f.shift = -s.ns
	}
}

// kindOf reads a span kind by name, of Jaeger's tag or OpenTelemetry's enum, or
// by OpenTelemetry's number.
func kindOf(raw []byte) spans.Kind {
	var buf [maxWord]byte
	switch string(bytes.TrimPrefix(fold(raw, &buf), []byte("spankind"))) {
	case "server", "2":
		return spans.Server
	case "client", "3":
		return spans.Client
	case "producer", "4":
		return spans.Producer
	case "consumer", "5":
		return spans.Consumer
	}
	return spans.Internal
}
