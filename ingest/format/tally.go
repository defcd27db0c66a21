package format

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/note"
)

// Tally is what decoding one chunk gave besides batches. Records =
// Accepted + Rejected + Blank.
type Tally struct {
	Chunk                              *Chunk
	Records, Accepted, Rejected, Blank int64
	Rejects                            []Reject // all of them, or the first of each reason
	Counts                             map[Reason]int64
	Fields                             map[string]string // keys of the first accepted record
	Incomplete                         bool              // the input ends inside a record

	DuplicateKeys  int64 // keys that came twice in a record
	Rounded        int64 // durations finer than a nanosecond
	UnreadTimes    int64 // starts that could not be read
	UnusedTimeouts int64 // timeouts without a unit, or unreadable
	NumberMarks    int64 // timeouts of 0 or 1 that were read as marks
	OpenRows       int64 // last rows of CSV without a line break
	ZeroAttempts   int64 // attempt numbers below the first
	TimeoutTexts   int64 // failures whose message speaks of a timeout

	UnknownServices int64  // spans whose process is not there
	ConnectionWaits int64  // deadlines that passed while waiting for a connection
	UnreadMarks     int64  // tags called like a mark, neither yes nor no
	OtherSignals    int64  // lines of metrics or logs among the traces
	AnswerErrors    string // the first list of errors in an answer

	Units, Marks, Basis uint8
	KeepAll             bool
}

// Bits that tell how a chunk's records were read.
const (
	UnitInValue uint8 = 1 << 7 // beside unitBit of the fixed units

	MarkField uint8 = 1 << 0
	MarkRules uint8 = 1 << 1

	BasisStart uint8 = 1 << 0
	BasisEnd   uint8 = 1 << 1
)

// UnitBit is the bit of a fixed unit: 1, 2, 4 or 8.
func UnitBit(u moment.Unit) uint8 { return 1 << (u / 3) }

// Reject counts a record that could not be used.
func (t *Tally) Reject(line, offset int64, f *Fault) {
	t.Records++
	t.Rejected++
	if t.Counts == nil {
		t.Counts = map[Reason]int64{}
	}
	t.Counts[f.reason]++
	t.Incomplete = t.Incomplete || f.reason == Incomplete
	if t.KeepAll || t.Counts[f.reason] == 1 {
		t.Rejects = append(t.Rejects, Reject{t.Chunk.File.Path, line, offset, f.reason, f.detail})
	}
}

func (t *Tally) SkipBlank() {
	t.Records++
	t.Blank++
}

// AcceptRecord counts a record and remembers the keys of the first.
func (t *Tally) AcceptRecord(rec *field.Record) {
	t.Records++
	t.Accepted++
	if t.Fields != nil {
		return
	}
	t.Fields = map[string]string{}
	for role := range field.Roles {
		if v := rec.Get(role); !v.Empty() {
			t.Fields[role.String()] = v.Key.Path
		}
	}
}

// Accept counts a span.
func (t *Tally) Accept() {
	t.Records++
	t.Accepted++
}

// Add adds the counts of another tally.
func (t *Tally) Add(o *Tally) {
	t.Records += o.Records
	t.Accepted += o.Accepted
	t.Rejected += o.Rejected
	t.Blank += o.Blank
	t.DuplicateKeys += o.DuplicateKeys
	t.Rounded += o.Rounded
	t.UnreadTimes += o.UnreadTimes
	t.UnusedTimeouts += o.UnusedTimeouts
	t.NumberMarks += o.NumberMarks
	t.OpenRows += o.OpenRows
	t.ZeroAttempts += o.ZeroAttempts
	t.TimeoutTexts += o.TimeoutTexts
	t.UnknownServices += o.UnknownServices
	t.UnreadMarks += o.UnreadMarks
	t.OtherSignals += o.OtherSignals
	t.ConnectionWaits += o.ConnectionWaits
	t.Units |= o.Units
	t.Marks |= o.Marks
	t.Basis |= o.Basis
}

// TimeBasis says whether times were read as starts or as ends.
func (t *Tally) TimeBasis() string { return timeBases[t.Basis] }

var timeBases = [...]string{0: "none", BasisStart: "start", BasisEnd: "end", BasisStart | BasisEnd: "mixed"}

// UnitName is the unit of all durations: one of the fixed ones, "value" where
// each value states its own, "mixed", or "none" where there was none.
func (t *Tally) UnitName() string {
	switch t.Units {
	case 0:
		return "none"
	case UnitInValue:
		return "value"
	}
	for _, u := range [...]moment.Unit{moment.Nanoseconds, moment.Microseconds, moment.Milliseconds, moment.Seconds} {
		if t.Units == UnitBit(u) {
			return u.String()
		}
	}
	return "mixed"
}

// MarksName says what told that attempts were cut; configured: timeouts were
// given, which mark attempts where nothing else does.
func (t *Tally) MarksName(configured bool) string {
	switch {
	case t.Marks&MarkField != 0:
		return "field"
	case t.Marks != 0:
		return "rules"
	case configured:
		return "configured"
	}
	return "none"
}

// Warnings say what was odd about accepted records.
func (t *Tally) Warnings() []note.Warning {
	mixed := int64(0)
	if t.UnusedTimeouts > 0 {
		mixed = t.NumberMarks
	}
	var w []note.Warning
	for _, c := range [...]struct {
		n          int64
		code, text string
	}{
		{t.DuplicateKeys, "duplicate_keys", "fields came twice in their record: the last one counts"},
		{t.Rounded, "sub_nanosecond_rounded", "durations are finer than a nanosecond and were rounded to one"},
		{t.UnreadTimes, "unreadable_times", "start or end times could not be read and were left out"},
		{t.UnusedTimeouts, "unused_timeouts", "timeouts are unreadable or without a unit and were not used: give --unit, or --field timeout=KEY:UNIT"},
		{mixed, "ambiguous_timeouts", "timeouts of 0 or 1 were read as marks beside other bare numbers: if they are times, give --field timeout=KEY:UNIT"},
		{t.OpenRows, "last_row_open", "last rows of CSV have no line break: if the file was cut off there, the last cell is too short"},
		{t.ZeroAttempts, "attempt_below_first", "attempts have a number below that of the first one and were read as firsts: see --first-attempt"},
		{t.UnknownServices, "unknown_service", "spans have no service name: their hops are called unknown-service"},
		{t.ConnectionWaits, "connection_waits", "deadlines passed while the call waited for a connection: that is a pool or a connect timeout, not the callee"},
		{t.UnreadMarks, "unreadable_marks", "spans have a tag timed_out, is_timeout or truncated that is neither yes nor no: it was read as no mark"},
		{t.OtherSignals, "other_signals", "lines of metrics or logs among the traces were passed over"},
		{t.TimeoutTexts, "timeouts_in_messages", "failed attempts have an error message that speaks of a timeout; a message is no mark, so they count as failed, not as cut"},
	} {
		if c.n > 0 {
			w = append(w, note.Warning{Code: c.code, Text: fmt.Sprintf("%d %s", c.n, c.text)})
		}
	}
	return w
}
