package trace

import (
	"bytes"
	"errors"
	"math"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// spanReader is what the decoders of all trace formats share: one span at a
// time, read into fields and a record of its tags.
type spanReader struct {
	columns spans.Columns
	tags    field.Keys
	rules   *outcome.Set
	tally   *format.Tally
	sink    format.Sink
	where   cursor
	rec     field.Record
	row     *spans.Row // being made
	own     spans.Row  // that row is, unless spans wait
	has     spanFields
	refs    []reference
	memos   tagMemos
	waits   []waiting
	// trace is the text of the last trace id, and traceID its value.
	trace   []byte
	traceID spans.TraceID
	opaque  bool
	// general: no fast path is taken, for tests to hold them against.
	general   bool
	selection *selection.Selection
	hopNames  *format.Settings
	// rest is what is read of an element whose spans come by themselves, nil while
	// other text is.
	rest *context
	// readEvents has hearEvent called for the fields of the events of a span, and
	// eventTexts is what they speak of.
	readEvents func(events []byte)
	eventTexts outcome.Message
	ear        outcome.Listener
	// partial says why the process of a span may not be known although the
	// source named it, nil where it is known.
	partial *format.Fault
}

func newSpanReader(f *format.Settings, c spans.Columns) spanReader {
	return spanReader{columns: c, tags: field.NewKeys(f.Tags), rules: f.Rules, general: f.General || f.Selection != nil, selection: f.Selection, hopNames: f}
}

// begin turns to another chunk.
func (r *spanReader) begin(c *format.Chunk, t *format.Tally, s format.Sink) {
	r.tally, r.sink, r.where, r.partial, r.rest, r.row = t, s, newCursor(c), nil, nil, &r.own
}

// spanFields are the fields of one span as they stand in the input.
type spanFields struct {
	nameFields
	trace, id, parent []byte
	async             bool // the tie to the parent
	start, duration   field.Value
	end               field.Value // of formats without a duration
	events            []byte      // as they stand in the input
	heard             outcome.Message
	shift             int64 // ns, as exporters' warnings say
	shifted           bool
}

// nameFields are those fields of a span that it is named by, and its digest.
type nameFields struct {
	operation    []byte
	named        bool // there is an operation, be it empty
	kind         spans.Kind
	process      process
	processID    []byte // while the processes are not read yet
	hasProcessID bool
	digest       uint64
}

// process is what a span ran in: a service on a host.
type process struct {
	service, host []byte
	instance      []byte // what runs there, which may be one of several on the host
	rank, ranked  int    // of the keys that host and instance came from
	digest        uint64 // of all tags
	selected      selection.Values
	sum           uint64 // what it adds to the digest of a span, 0: not known
}

// tag keeps the best name of the host or instance.
func (r *spanReader) processTag(p *process, key []byte, kind jsonscan.Kind, raw []byte) {
	if r.selection != nil {
		p.selected.Note(r.selection, r.tags.Find(key).Conditions, raw)
	}
	p.digest += digest.Sum(digest.Sum(0, key), raw)
	is, names := hostKeys[string(key)]
	if !names || len(raw) == 0 || kind == jsonscan.Composite {
		return
	}
	if is.host > p.rank {
		p.host, p.rank = raw, is.host
	}
	if is.instance > p.ranked {
		p.instance, p.ranked = raw, is.instance
	}
}

func (r *spanReader) reset() {
	r.rec.Reset()
	r.tags.Rewind()
	r.memos.rewind()
	r.refs = r.refs[:0]
	r.has = spanFields{nameFields: nameFields{kind: spans.Internal}}
}

// tag notes one tag of the span.
func (r *spanReader) tag(key []byte, kind jsonscan.Kind, raw []byte) {
	r.evidence(key, kind, raw)
	if kind == jsonscan.Composite {
		r.has.addJSON(digest.Sum(0, key), raw)
	} else {
		r.has.add(digest.Sum(0, key), raw)
	}
}

// evidence notes what a tag says; one of a log entry counts for the digest with
// its entry.
func (r *spanReader) evidence(key []byte, kind jsonscan.Kind, raw []byte) {
	if kind == jsonscan.Composite {
		kind, raw = jsonscan.Null, nil
	}
	k := r.tags.Next(key)
	r.rec.Note(k, kind, raw)
	r.hear(k, kind, raw)
}

// reject counts a record at a place of the chunk, unless bad is nil.
func (r *spanReader) reject(at int, bad *format.Fault) {
	if bad != nil {
		p := r.where.place(at)
		r.tally.Reject(p.Line, p.Offset, bad)
	}
}

// visiting makes a function that rejects for itself of one that returns a fault.
func (r *spanReader) visiting(read func(located) (n int, bad *format.Fault)) func(located) int {
	return func(v located) int {
		n, bad := read(v)
		r.reject(v.at, bad)
		return n
	}
}

// fault is what is wrong with the value at a place.
func (r *spanReader) fault(err error, at int) *format.Fault {
	var wrong *jsonscan.SyntaxError
	if r.rest != nil && errors.As(err, &wrong) {
		from, _ := r.rest.before(at)
		to, _ := r.rest.before(at + wrong.At)
		wrong.At += to - from
	}
	return malformed(err)
}

func malformed(err error) *format.Fault { return format.NewFault(format.Malformed, err.Error()) }

// unexpected counts what stands where a record should, and is none. A bracket that
// closes what the input cut off is not in the input.
func (r *spanReader) unexpected(at int) {
	if r.where.beyond(at) {
		return
	}
	r.reject(at, format.NewFault(format.NotARecord, "neither an object nor an array"))
}

// finish turns the fields into a row and hands it on.
func (r *spanReader) finish(at int) *format.Fault {
	if bad := r.measure(at); bad != nil {
		return bad
	}
	if bad := r.name(); bad != nil {
		return bad
	}
	r.judge()
	r.handOn()
	return nil
}

// measure says which span it is, where it stands and how long it took.
func (r *spanReader) measure(at int) *format.Fault {
	*r.row = spans.Row{}
	if r.columns.Has(spans.Positions) {
		p := r.where.place(at)
		r.row.Line, r.row.Offset = p.Line, p.Offset
	}
	if bad := r.ids(); bad != nil {
		return bad
	}
	return r.times()
}

// handOn adds what a span has from its process, and gives it away.
func (r *spanReader) handOn() {
	f := &r.has
	if f.process.sum == 0 {
		f.process.add()
	}
	f.add(saltOperation, f.operation)
	r.row.Digest = f.digest + f.process.sum
	r.row.Host = r.sink.Host(f.process.host)
	if f.kind == spans.Server || f.kind == spans.Consumer {
		r.row.Instance = r.sink.Peer(f.process.instance)
	}
	r.selects()
	r.tally.Accept()
	r.sink.Span(r.row, nil, f.process.service, f.operation, f.kind)
}

// add sets what a process adds to the digest of its spans.
func (p *process) add() {
	var f spanFields
	f.add(saltService, p.service)
	f.add(saltHost, p.host)
	f.addNumber(saltProcess, int64(p.digest))
	p.sum = f.digest
}

var (
	unknownService   = []byte("unknown-service")
	unknownOperation = []byte("unknown-operation")
)

// name sees to it that the span has a service and an operation.
func (r *spanReader) name() *format.Fault {
	f := &r.has
	if !f.named {
		return format.NewFault(format.NoHop, "the span has no operation name")
	}
	if len(f.process.service) == 0 {
		if r.partial != nil {
			return r.partial
		}
		f.process.service = unknownService
		r.tally.Odd[format.UnknownServices]++
	}
	if len(f.operation) == 0 {
		f.operation = unknownOperation
	}
	return nil
}

var noID = format.NewFault(format.NoID, "the span has no trace id or no span id")

func (r *spanReader) ids() *format.Fault {
	f, row := &r.has, r.row
	if v := r.rec.Get(field.SpanKind); !v.Empty() {
		f.kind = field.SpanKindOf(v.Raw)
	}
	if len(f.trace) == 0 || len(f.id) == 0 {
		return noID
	}
	r.chooseParent()
	if !bytes.Equal(f.trace, r.trace) {
		r.trace = append(r.trace[:0], f.trace...)
		r.traceID, r.opaque = spans.ParseTraceID(f.trace)
	}
	if row.TraceID = r.traceID; r.opaque {
		row.Trace = f.trace
	}
	var opaque bool
	if row.Span, opaque = spans.ParseSpanID(f.id); opaque {
		row.SpanText = f.id
	}
	if row.TraceID.IsZero() || row.Span == 0 {
		return format.NewFault(format.NoID, "the trace id or the span id is all zeros")
	}
	if len(f.parent) > 0 {
		row.Parent, _ = spans.ParseSpanID(f.parent)
	}
	if r.async() {
		row.Ties |= spans.Async
	}
	return nil
}

// async reports whether the parent does not wait. For the sending of a message it
// does, unless the reference says otherwise; for what then happens to it not.
func (r *spanReader) async() bool {
	f := &r.has
	message := f.kind == spans.Consumer || r.rec.Has&(1<<field.Messaging) != 0
	return f.async || message && f.kind != spans.Producer
}

// times reads start and duration, or start and end. A span without an end is
// accepted as unfinished: it has no duration.
func (r *spanReader) times() *format.Fault {
	f := &r.has
	start, bad := r.startTime()
	switch {
	case bad != nil:
		return bad
	case !f.duration.Empty():
		return r.length()
	case !f.end.Empty():
		return r.endTime(start)
	}
	return nil
}

func (r *spanReader) length() *format.Fault {
	f, row := &r.has, r.row
	s, err := parseTime(&f.duration)
	if err != nil {
		return format.DurationFault(&f.duration, err)
	}
	row.Duration, row.HasDuration, row.Resolution = s.NS, true, s.Resolution
	f.addNumber(saltDuration, s.NS)
	return nil
}

// startTime returns the start as written; the row has it as it was before an
// exporter moved the span.
func (r *spanReader) startTime() (written int64, bad *format.Fault) {
	f, row := &r.has, r.row
	if f.start.Empty() {
		return 0, nil
	}
	s, err := parseTime(&f.start)
	if err != nil {
		return 0, format.TimeFault(&f.start, err)
	}
	row.Start, row.HasStart = s.NS-f.shift, true
	if f.shifted {
		row.Ties |= spans.Shifted
		if f.shift < 0 && row.Start < 0 {
			return 0, format.NewFault(format.BadTime, f.start.String()+": "+moment.ErrOutside.Error()+" before it was adjusted")
		}
	}
	f.addNumber(saltStart, row.Start)
	return s.NS, nil
}

// firstEpoch is the first end, in nanoseconds, that can only be a date: 2001.
const firstEpoch = 1e18

// endTime gives the duration of formats that write an end; 0 is none.
func (r *spanReader) endTime(start int64) *format.Fault {
	f, row := &r.has, r.row
	end, err := parseTime(&f.end)
	switch {
	case err != nil:
		return format.TimeFault(&f.end, err)
	case end.NS == 0:
		return nil
	case start == 0 && end.NS >= firstEpoch:
		return format.NewFault(format.BadTime, f.end.String()+": an end without a start")
	case end.NS < start:
		return format.NewFault(format.NegativeDuration, f.end.String()+" is before the start")
	}
	row.Duration, row.HasDuration, row.HasStart = end.NS-start, true, true
	f.addNumber(saltDuration, row.Duration)
	return nil
}

// parseTime reads a time or a duration in the unit of its field.
func parseTime(v *field.Value) (moment.Length, error) {
	if v.Kind != jsonscan.Number && v.Kind != jsonscan.Text {
		return moment.Length{}, moment.ErrNotNumber
	}
	if s, ok := fastTime(v); ok {
		return s, nil
	}
	return moment.ParseDuration(v.Raw, v.Use.Unit)
}

// judge says how the span ended and whether it is a retry.
func (r *spanReader) judge() {
	row := r.row
	row.Stratum, row.Instance = r.sink.Stratum(r.rec.Get(field.Stratum).Raw), r.sink.Peer(r.peer())
	if !row.HasDuration {
		row.Outcome = spans.Unfinished
		return
	}
	if row.Duration >= format.EpochFrom {
		r.tally.Odd[format.EpochDurations]++ // a start of 0, mostly
	}
	v := r.verdict()
	row.Outcome, row.CutBy, row.Failure, row.Marked, row.Speaks = v.Outcome, v.CutBy, v.Failure, v.Marked, v.Speaks
	if v.Outcome == spans.Truncated {
		r.tally.Cut(v.Rule)
	}
	row.Tries = r.rules.Tries(&r.rec)
	r.timeout(&v)
	r.tally.Flags |= r.rec.Flags
	if v.Marked {
		r.tally.Marks |= format.MarkRules
	}
	if v.Rule == outcome.RuleDeadline && outcome.ContainsFold(r.rec.Get(field.Message).Raw, "waiting_for_connection") {
		r.tally.Odd[format.ConnectionWaits]++
	}
	if r.rules.Retry(&r.rec) {
		row.Retry, row.Ties = true, row.Ties|spans.MarkedRetry
	}
	row.Weight = weightOf(&r.rec)
}

// adjusted reads the warning of an exporter that moved the span. Only this
// wording says that it did; its look-alikes say that it did not. A span may have
// been moved more than once.
func (f *spanFields) adjusted(warning []byte) {
	const before = "This span's timestamps were adjusted by "
	delta, ok := bytes.CutPrefix(warning, []byte(before))
	if !ok {
		return
	}
	digits := bytes.TrimPrefix(delta, []byte("-"))
	s, err := moment.ParseDuration(digits, moment.NoUnitGiven)
	if err != nil || f.shift > math.MaxInt64-s.NS || f.shift < math.MinInt64+s.NS {
		return
	}
	f.shifted = true
	if len(digits) < len(delta) {
		s.NS = -s.NS
	}
	f.shift += s.NS
}

// reference is one tie of a span to another.
type reference struct {
	followsFrom bool
	trace, span []byte
}

// refer notes a tie to another span.
func (r *spanReader) refer(ref reference) {
	r.refs = append(r.refs, ref)
	salt := saltLinks
	if ref.followsFrom {
		salt = ^saltLinks
	}
	r.has.digest += digest.Sum(digest.Sum(salt, ref.trace), ref.span)
}

// chooseParent takes the first CHILD_OF of the same trace, else the first
// FOLLOWS_FROM of it, else the deprecated parent id. A reference to another
// trace is a link.
func (r *spanReader) chooseParent() {
	f := &r.has
	var chosen *reference
	for i := range r.refs {
		ref := &r.refs[i]
		better := chosen == nil || chosen.followsFrom && !ref.followsFrom
		if better && len(ref.span) > 0 && sameTrace(ref.trace, f.trace) {
			chosen = ref
		}
	}
	if chosen != nil {
		f.parent, f.async = chosen.span, chosen.followsFrom
	}
}

// sameTrace compares by value, but first by text, which is nearly always enough.
func sameTrace(a, b []byte) bool {
	if len(a) == 0 || bytes.Equal(a, b) {
		return true
	}
	x, _ := spans.ParseTraceID(a)
	y, _ := spans.ParseTraceID(b)
	return x == y
}

// peerAddress is a tag that Envoy, unlike all others, gives the address of the
// caller: what sent the request to the proxy.
const peerAddress = "peer.address"

// peer returns the instance that a span calls, nil where it calls none or does not
// tell. The peer of a server or a consumer is its caller.
func (r *spanReader) peer() []byte {
	if k := r.has.kind; k != spans.Client && k != spans.Producer {
		return nil
	}
	v := r.rec.Get(field.InstanceKey)
	if v.Empty() || v.Key.Path == peerAddress && !r.rec.Get(field.ResponseFlags).Empty() {
		return nil
	}
	return field.Instance(v.Kind, v.Raw)
}
