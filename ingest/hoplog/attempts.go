// Package hoplog reads hop logs, one line an attempt: JSON lines, CSV and TSV. Lines
// that are laid out alike take a fast path; what that reads, the general path reads
// with the same result.
package hoplog

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// attempts turns records of hop logs into rows: one line, one attempt.
type attempts struct {
	fields  *format.Settings
	columns spans.Columns
	// linked: attempts are spans. spanTable: their records name them.
	linked, spanTable bool
	table             bool // every line but the header is a record

	tally *format.Tally
	sink  format.Sink
	key   []byte // of a hop, or its name
	// texts hears messages. listen, made by the format, hands it the texts of the record
	// at hand, whose bytes are raw.
	texts    *outcome.Listener
	listen   func()
	raw      []byte
	keys     field.Keys
	recent   recent
	rec      field.Record
	row      spans.Row
	rows     []*fastRow // that ordinary records of the chunk took
	constant constantHop
}

// lines is what the formats of hop logs do not share.
type lines interface {
	// fast reads the record at the start of data if it is laid out as one before it,
	// into the row of an ordinary attempt or, where that is nil, into the record. It
	// returns the length, else 0.
	fast(c *format.Chunk, data []byte) (n int, ordinary *fastRow)
	// end is the length of the record at the start of data.
	end(c *format.Chunk, data []byte) int
	// record reads the first n bytes of data into the row. An open record is the last
	// one, without a newline.
	record(c *format.Chunk, data []byte, n int, open bool) (hop []byte, bad *format.Fault)
}

// decode decodes a chunk. Its first accepted record names the fields, so it takes
// the general path.
func (a *attempts) decode(c *format.Chunk, t *format.Tally, s format.Sink, of lines) {
	a.tally, a.sink = t, s
	a.recent.forget()
	a.prime(c, of)
	a.constant.begin(c.File.Path)
	line, offset := c.Line, c.Offset
	for data := c.Data; len(data) > 0; {
		n := 0
		if c.Places != nil {
			at := c.Origin(len(c.Data) - len(data))
			line, offset = at.Line, at.Offset
		}
		if t.Fields != nil {
			n = a.readFast(c, data, line, offset, of)
		}
		if n > 0 {
			line++
		} else {
			n = of.end(c, data)
			switch raw := data[:n]; {
			case format.Blank(raw):
				t.SkipBlank()
			case c.File.TooLong(raw):
				t.Reject(line, offset, format.TooLong(raw))
			default:
				hop, bad := of.record(c, data, n, c.Open && n == len(data))
				a.settle(c, hop, bad, line, offset)
			}
			line += int64(bytes.Count(data[:n], format.Newline))
		}
		data = data[n:]
		offset += int64(n)
	}
	for _, p := range a.rows {
		p.enter(t)
	}
	a.rows = a.rows[:0]
}

// readFast takes a record that has the layout of one before it, and returns its length.
func (a *attempts) readFast(c *format.Chunk, data []byte, line, offset int64, of lines) int {
	n, p := of.fast(c, data)
	switch {
	case n == 0 || n > c.File.MaxLine:
		return 0
	case p == nil:
		a.raw = data[:n]
		hop, bad := a.fill()
		a.settle(c, hop, bad, line, offset)
		return n
	}
	p.row.Line, p.row.Offset = line, offset
	if p.constant {
		p.hop = a.constant.value
	}
	if p.infers || p.row.Tries > 0 {
		a.among(&p.row, p.hop, p.chain, p.infers)
	}
	if p.counted.N == 0 {
		a.rows = append(a.rows, p)
	}
	p.accept()
	a.sink.Attempt(&p.row, p.hop, p.instance, nil)
	return n
}

// settle counts a record and hands on its attempt.
func (a *attempts) settle(c *format.Chunk, hop []byte, bad *format.Fault, line, offset int64) {
	switch {
	case bad == leftOut:
		a.tally.Filter()
		return
	case bad != nil:
		a.reject(bad, line, offset)
		return
	}
	a.row.Line, a.row.Offset = line, offset
	if infers := a.infers(a.rec.Has); infers || a.row.Tries > 0 {
		a.among(&a.row, hop, traceOf(a.rec.Get(field.Trace)), infers)
	}
	a.tally.Lasted(a.row.Duration, line)
	a.handOn(hop, c.File.Index)
}

// reject counts a record that cannot be used, or a line that is none.
func (a *attempts) reject(bad *format.Fault, line, offset int64) {
	switch rec := &a.rec; {
	case a.outside(rec):
		a.tally.Filter()
		return
	case !a.table && rec.Has&recordRoles == 0:
		bad = bad.OtherLine()
	case a.speaksOfSlowness(rec):
		a.tally.Show(format.SlowRejects, rec.Get(field.Duration))
	}
	a.tally.Reject(line, offset, bad)
}

// recordRoles are the roles of which a record has at least one.
const recordRoles = 1<<field.Hop | 1<<field.Trace | 1<<field.Duration

// speaksOfSlowness reports whether a rejected record tells of a timeout or of a long
// duration.
func (a *attempts) speaksOfSlowness(rec *field.Record) bool {
	if v, ok := a.fields.Rules.Judge(rec, spans.NoKind); ok && v.Marked && v.Outcome == spans.Truncated {
		return true
	}
	return outcome.SpeaksOfTimeout(rec.Get(field.Error).Raw) || longText(rec.Get(field.Duration))
}

// longText reports whether a duration that could not be read is a long one: it says
// so, or it counts minutes or more.
func longText(v *field.Value) bool {
	text := bytes.ToLower(v.Raw)
	if outcome.SpeaksOfTimeout(text) || bytes.HasPrefix(text, []byte(">")) {
		return true
	}
	for _, word := range [...]string{"inf", "long", "min", "hour", "day", "exceed", "never", "∞"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

func newAttempts(f *format.Settings, c spans.Columns) attempts {
	return attempts{fields: f, columns: c, linked: f.Linked(), spanTable: f.Names(field.SpanKey), keys: field.NewKeys(f.Lines), constant: newConstantHop(&f.Config)}
}

// fill makes the row of the record; a nil fault means that it is a valid attempt.
func (a *attempts) fill() (hop []byte, bad *format.Fault) {
	rec, r := &a.rec, &a.row
	*r = spans.Row{}
	a.constant.name(rec)
	a.tally.Flags |= rec.Flags
	if !a.keeps(rec) {
		return nil, leftOut
	}
	hop = bytes.TrimSpace(rec.Get(field.Hop).Raw)
	if len(hop) == 0 {
		return nil, format.NewFault(format.NoHop, "no hop: "+missingHop(rec))
	}
	if bad = a.ids(rec); bad != nil {
		return nil, bad
	}
	length, bad := readLength(rec)
	if bad != nil {
		return nil, bad
	}
	r.Duration, r.Resolution, r.HasDuration = length.NS, length.Resolution, true
	if !a.inTime(rec, r) {
		return nil, leftOut
	}
	a.timeout(rec, r)
	if bad = a.outcome(rec, r); bad != nil {
		return nil, bad
	}
	if bad = a.readRetry(rec, r); bad != nil {
		return nil, bad
	}
	r.Tries = a.fields.Rules.Tries(rec)
	a.optional(rec, r)
	a.note(rec, r, length)
	return hop, nil
}

func missingHop(rec *field.Record) string {
	if rec.Has&(1<<field.Hop) == 0 {
		return "none of the known keys is there"
	}
	return field.Shown(rec.Get(field.Hop).Key.Path) + " is empty"
}

// readLength takes the duration as logged, else end less start.
func readLength(rec *field.Record) (moment.Length, *format.Fault) {
	v := rec.Get(field.Duration)
	if v.Empty() {
		return fromTimes(rec)
	}
	s, err := moment.ParseDuration(v.Raw, v.Use.Unit)
	if err != nil {
		return moment.Length{}, format.DurationFault(v, err)
	}
	return s, nil
}

// note adds what was odd about an accepted record, and how it was read.
func (a *attempts) note(rec *field.Record, r *spans.Row, length moment.Length) {
	t := a.tally
	t.Odd[format.DuplicateKeys] += rec.Duplicates
	if length.Rounded {
		t.Odd[format.Rounded]++
	}
	if length.Grouped {
		t.Show(format.GroupedDurations, rec.Get(field.Duration))
	}
	if length.NS >= format.EpochFrom {
		t.Show(format.EpochDurations, rec.Get(field.Duration))
	}
	if length.Own {
		t.Units |= format.UnitInValue
	} else {
		t.Units |= format.UnitBit(rec.Get(field.Duration).Use.Unit)
	}
	if r.Marked {
		t.Marks |= marksUsed(rec)
	}
	t.Basis |= timeBasis(a.fields, rec)
}

func (a *attempts) outcome(rec *field.Record, r *spans.Row) *format.Fault {
	v, ok := a.fields.Rules.Judge(rec, spans.NoKind)
	if !ok {
		return format.NewFault(format.BadMark, rec.Get(field.TruncatedMark).String()+": neither yes nor no")
	}
	if v.Hears() {
		a.texts.Heard = outcome.Silent
		a.listen()
		a.fields.Rules.Hear(&v, a.texts.Heard, rec, spans.NoKind)
	}
	if v.Outcome == spans.Truncated {
		a.tally.Cut(v.Rule)
	}
	if v.Zero {
		a.tally.Odd[format.ZeroStatuses]++
	}
	r.Outcome, r.CutBy, r.Failure, r.Marked, r.Speaks = v.Outcome, v.CutBy, v.Failure, v.Marked, v.Speaks
	if v.EarlierThan(r) {
		r.CutBy = spans.CutUnknown
	}
	return nil
}

// marksUsed tells an explicit mark from other evidence.
func marksUsed(rec *field.Record) uint8 {
	if _, isMark := outcome.TimeoutMark(rec); isMark || rec.Has&(1<<field.TruncatedMark) != 0 {
		return format.MarkField
	}
	return format.MarkRules
}

// retry takes the retry mark where there is one, else the attempt's number.
func (a *attempts) readRetry(rec *field.Record, r *spans.Row) *format.Fault {
	mark := rec.Get(field.RetryMark)
	yes, ok := mark.Yes()
	if !ok {
		return format.NewFault(format.BadMark, mark.String()+": neither yes nor no")
	}
	r.Retry = yes && a.fields.Rules.On(outcome.RuleRetryMark)
	v := rec.Get(field.Attempt)
	if v.Empty() {
		return nil
	}
	d, err := moment.ParseDecimal(bytes.TrimSpace(v.Raw))
	n, exact, tooLarge := d.Nanoseconds(0)
	if err != nil || !exact || tooLarge != nil {
		return format.NewFault(format.BadAttempt, v.String()+": not a count")
	}
	if n < int64(v.Use.First) {
		a.tally.Odd[format.ZeroAttempts]++
	}
	if mark.Empty() && a.fields.Rules.On(outcome.RuleResend) {
		r.Retry = n > int64(v.Use.First)
	}
	return nil
}

// timeout notes the attempt's own timeout; a point in time less the start. One that is
// unreadable, or a bare number, is counted and not used: the attempt is as good without it.
func (a *attempts) timeout(rec *field.Record, r *spans.Row) {
	v := rec.Get(field.Timeout)
	if _, isMark := outcome.TimeoutMark(rec); isMark && len(v.Raw) == 1 {
		a.tally.Odd[format.NumberMarks]++
	}
	ns, unused := outcome.Timeout(rec)
	if unused {
		ns, unused = a.deadline(rec, r)
	}
	if unused {
		a.tally.Show(format.UnusedTimeouts, rec.Get(field.Timeout))
	}
	r.Timeout, r.HasTimeout = ns, ns > 0
}

// deadline reads a timeout that is a point in time: what is left of it from the start on.
func (a *attempts) deadline(rec *field.Record, r *spans.Row) (ns int64, unused bool) {
	at, isPoint := outcome.Deadline(rec)
	if !isPoint {
		return 0, true
	}
	if !r.HasStart {
		a.start(rec, r)
	}
	return outcome.Left(at, r)
}

// optional fills what only some commands read, and what cut and failed attempts
// need: their chain and their time.
func (a *attempts) optional(rec *field.Record, r *spans.Row) {
	ended := r.Outcome != spans.Completed || a.linked
	if ended || a.columns.Has(spans.Traces) {
		r.Trace = traceOf(rec.Get(field.Trace))
	}
	if !r.HasStart && (ended || a.columns.Has(spans.Starts)) {
		a.start(rec, r)
	}
	if a.fields.Callers {
		callers(rec, r)
	}
}

// callers notes what stands under the keys that may name the caller.
func callers(rec *field.Record, r *spans.Row) {
	for i, role := range field.CallerKeys {
		if v := rec.Get(role); v.Kind == jsonscan.Text {
			r.Callers[i] = bytes.TrimSpace(v.Raw)
		}
	}
}

// traceOf returns the trace id; of a W3C traceparent that is its second part.
func traceOf(v *field.Value) []byte {
	id := bytes.TrimSpace(v.Raw)
	if field.Placeholder(id) {
		return nil
	}
	if v.Kind == jsonscan.Number || v.Kind == jsonscan.Text {
		if len(id) == 55 && id[2] == '-' && id[35] == '-' && id[52] == '-' {
			return id[3:35]
		}
		return id
	}
	return nil
}

// Formats are the formats of hop logs, in the order in which they are tried.
var Formats = []*format.Format{NDJSON, delimitedFormat("csv", ',', ';', '|'), delimitedFormat("tsv", '\t')}

// NDJSON is one JSON object a line.
var NDJSON = &format.Format{
	Name:  "ndjson",
	Lines: true,
	Sniff: sniffNDJSON,
	Open: func(f *format.File, s *format.Settings) (format.Chunker, error) {
		head, _ := f.Head.Peek(format.HeadSize)
		lines := format.NewSplitter(f, format.LastNewline)
		lines.Tail = func() int { return tailOf(head, s) }
		return lines, nil
	},
	NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newNDJSON(s, c) },
	Wrapped:    true,
}

// delimitedFormat is a format of tables whose cells are separated by one of the commas,
// the likeliest first.
func delimitedFormat(name string, commas ...byte) *format.Format {
	return &format.Format{
		Name:  name,
		Lines: true,
		Sniff: sniffDelimited(commas),
		Open: func(f *format.File, s *format.Settings) (format.Chunker, error) {
			return takeHeader(f, commas, s)
		},
		NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newDelimited(s, c) },
	}
}

// SeenKeys lists the keys of the records.
func (a *attempts) SeenKeys() []string {
	names := make([]string, 0, len(a.keys.Seen))
	for name := range a.keys.Seen {
		names = append(names, name)
	}
	return names
}
