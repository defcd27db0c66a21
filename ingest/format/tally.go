package format

import (
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/note"
)

// Tally is what decoding one chunk gave besides batches. Records =
// Accepted + Rejected + Blank + Filtered.
type Tally struct {
	Chunk                              *Chunk
	Records, Accepted, Rejected, Blank int64
	Filtered                           int64    // left out by the selection
	Rejects                            []Reject // all of them, or the first of each reason
	Counts                             map[Reason]int64
	Fields                             map[string]string // keys of the first accepted record
	Usual                              map[string]string // those of an earlier tally, to be used again
	Incomplete                         bool              // the input ends inside a record

	// Others are the rejects among lines that are no records: they name neither a hop
	// nor a trace nor a duration.
	Others int64

	Odd          [oddities]int64 // what was odd about records, by its kind
	examples     [oddities]example
	AnswerErrors string // the first list of errors in an answer

	Cuts     map[string]int64 // cut records by the rule that says so; nil where nobody asks
	Selected selection.Set    // conditions whose key a record has
	Flags    uint64           // a bit for each --field whose key a record has
	Seen     []string         // keys of the records, where no record has one of those

	Units, Marks, Basis uint8
	KeepAll             bool
	Sample              Sample // of the attempts of a hop log

	window
}

// Oddity is something odd about records that were read all the same.
type Oddity int

// The oddities of a record, in the order in which they are reported.
const (
	DuplicateKeys    Oddity = iota // keys that came twice in a record
	Rounded                        // durations finer than a nanosecond
	UnreadTimes                    // starts that could not be read
	UnusedTimeouts                 // timeouts without a unit, or unreadable
	NumberMarks                    // timeouts of 0 or 1 that were read as marks
	OpenRows                       // last rows of CSV without a line break
	ZeroAttempts                   // attempt numbers below the first
	UnknownServices                // spans whose process is not there
	ConnectionWaits                // deadlines that passed while waiting for a connection
	UnreadMarks                    // tags called like a mark, neither yes nor no
	OtherSignals                   // lines of metrics or logs among the traces
	ZeroStatuses                   // statuses of 0 with nothing of HTTP beside them
	GroupedDurations               // commas that were read as separators of thousands
	EpochDurations                 // durations that are points in time
	SlowRejects                    // rejects that speak of timeouts or of long durations
	Timeless                       // records without a time, where times are selected
	LongNames                      // names and ids that were clipped
	NumberedTries                  // counts of tries that number attempts
	oddities
)

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
	if f.other {
		t.Others++
	}
	if t.KeepAll || t.Counts[f.reason] == 1 {
		t.Rejects = append(t.Rejects, Reject{t.Chunk.File.Path, line, offset, f.reason, f.detail})
	}
}

// Cut counts a cut record by the rule that says so.
func (t *Tally) Cut(rule string) {
	if t.Cuts != nil {
		t.Cuts[rule]++
	}
}

// Filter counts a record that the selection leaves out.
func (t *Tally) Filter() {
	t.Records++
	t.Filtered++
}

func (t *Tally) SkipBlank() {
	t.Records++
	t.Blank++
}

// AcceptRecord counts a record and remembers the keys of the first.
func (t *Tally) AcceptRecord(rec *field.Record) {
	t.Accept()
	switch {
	case t.Fields != nil:
	case t.Usual != nil && hasFields(rec, t.Usual):
		t.Fields = t.Usual
	default:
		t.Fields = fieldsOf(rec)
	}
}

func fieldsOf(rec *field.Record) map[string]string {
	fields := map[string]string{}
	for role := range field.Roles {
		if v := rec.Get(role); !v.Empty() && !role.NamesCaller() {
			fields[role.String()] = v.Key.Path
		}
	}
	return fields
}

// hasFields reports whether these are the fields of a record.
func hasFields(rec *field.Record, fields map[string]string) bool {
	n := 0
	for role := range field.Roles {
		if v := rec.Get(role); !v.Empty() && !role.NamesCaller() {
			if n++; fields[role.String()] != v.Key.Path {
				return false
			}
		}
	}
	return n == len(fields)
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
	t.Filtered += o.Filtered
	t.Selected |= o.Selected
	t.Others += o.Others
	for i, n := range o.Odd {
		t.Odd[i] += n
		t.examples[i] = t.examples[i].first(o.examples[i])
	}
	t.window.add(&o.window)
	t.Units |= o.Units
	t.Marks |= o.Marks
	t.Basis |= o.Basis
	t.Flags |= o.Flags
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

// oddityWarnings are the codes, and the sentences for one record and for several.
var oddityWarnings = [oddities]struct{ code, one, several, rest string }{
	DuplicateKeys:    {"duplicate_keys", "field came twice in its record", "fields came twice in their record", ": the last one counts"},
	Rounded:          {"sub_nanosecond_rounded", "duration is finer than a nanosecond and was", "durations are finer than a nanosecond and were", " rounded to one"},
	UnreadTimes:      {"unreadable_times", "start or end time could not be read and was", "start or end times could not be read and were", " left out"},
	UnusedTimeouts:   {"unused_timeouts", "timeout is unreadable or without a unit and was", "timeouts are unreadable or without a unit and were", " not used: give --unit, or --field timeout=KEY:UNIT"},
	NumberMarks:      {"ambiguous_timeouts", "timeout of 0 or 1 was read as a mark", "timeouts of 0 or 1 were read as marks", " beside other bare numbers: if they are times, give --field timeout=KEY:UNIT"},
	OpenRows:         {"last_row_open", "last row of CSV has", "last rows of CSV have", " no line break: if the file breaks off there, the last cell is too short"},
	ZeroAttempts:     {"attempt_below_first", "attempt has a number below that of the first one and was read as a first", "attempts have a number below that of the first one and were read as firsts", ": --field attempt=KEY:0 is for numbers from 0"},
	UnknownServices:  {"unknown_service", "span has no service name: its hop is", "spans have no service name: their hops are", " called unknown-service"},
	ConnectionWaits:  {"connection_waits", "deadline", "deadlines", " passed while the call waited for a connection: that is a pool or a connect timeout, not the callee"},
	UnreadMarks:      {"unreadable_marks", "span has", "spans have", " a tag timed_out, is_timeout or truncated that is neither yes nor no: it was read as no mark"},
	OtherSignals:     {"other_signals", "line of metrics or logs among the traces was", "lines of metrics or logs among the traces were", " passed over"},
	GroupedDurations: {"grouped_durations", "duration has a comma before three digits, which was", "durations have a comma before three digits, which was", " read as a separator of thousands"},
	EpochDurations:   {"epoch_durations", "duration is as long as the time since 1970: it is", "durations are as long as the time since 1970: they are", " rather a point in time than a duration"},
	SlowRejects:      {"slow_rejects", "rejected record speaks", "rejected records speak", " of a timeout or of a long duration: what was left out may be the tail"},
	NumberedTries:    {"numbered_tries", "record counts", "records count", " one try more than the one before of the same chain and hop: if the key numbers attempts, give --field attempt=KEY; a count of tries is of one call"},
	ZeroStatuses:     {"zero_statuses", "status is 0 with nothing of HTTP beside it and was", "statuses are 0 with nothing of HTTP beside them and were", " read as no error, as gRPC and OpenTelemetry write it; of HTTP it would be a caller that left"},
	Timeless:         {"timeless_records", "record has no time that could be read and was", "records have no time that could be read and were", " left out by --since and --until"},
	LongNames:        {"names_clipped", "name or id is longer than 4 KiB and was", "names or ids are longer than 4 KiB and were", " clipped: each ends in a hash of the whole, so that two that differ stay apart"},
}

// Warnings say what was odd about accepted records. Numbers read as marks are only
// where other bare numbers were read as times.
func (t *Tally) Warnings() (all []note.Warning) {
	for i, w := range oddityWarnings {
		if n := t.Odd[i]; n > 0 && (i != int(NumberMarks) || t.Odd[UnusedTimeouts] > 0) {
			all = append(all, note.Warning{Code: w.code, Text: note.Count(n, w.one, w.several) + w.rest + t.examples[i].String()})
		}
	}
	return append(all, t.window.warnings()...)
}
