package format

import (
	"errors"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/moment"
)

// Reason is why a record was rejected: a closed set, documented in
// docs/formats.md.
type Reason string

// The reasons for a reject.
const (
	Malformed        Reason = "malformed"         // not valid JSON, or a bad quote in CSV
	NotARecord       Reason = "not_a_record"      // valid JSON, but not an object
	Incomplete       Reason = "incomplete"        // the input ends inside the record
	LineTooLong      Reason = "line_too_long"     // longer than --max-line
	WrongFieldCount  Reason = "wrong_field_count" // CSV row with more or fewer fields than the header
	RepeatedHeader   Reason = "repeated_header"   // CSV header once more inside the file
	NoHop            Reason = "no_hop"            // hop missing or empty
	NoID             Reason = "no_id"             // span without a trace id or a span id
	NoDuration       Reason = "no_duration"       // neither a duration nor both times
	NoUnit           Reason = "no_unit"           // a bare number whose unit is not known
	BadDuration      Reason = "bad_duration"      // not a number, NaN, infinite, too large
	NegativeDuration Reason = "negative_duration" // below zero, wrapped below zero, or end before start
	BadTime          Reason = "bad_time"          // start or end unreadable where the duration rests on it
	BadMark          Reason = "bad_mark"          // a truncation or retry mark that is neither yes nor no
	BadAttempt       Reason = "bad_attempt"       // an attempt number that is none
)

// Reasons lists all reasons for a reject.
var Reasons = [...]Reason{
	Malformed, NotARecord, Incomplete, LineTooLong, WrongFieldCount, RepeatedHeader, NoHop, NoID, NoDuration, NoUnit,
	BadDuration, NegativeDuration, BadTime, BadMark, BadAttempt,
}

// Reject is one record that could not be used. Offset is that of the record's
// first byte in the decompressed input; Line is 1-based.
type Reject struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
	Reason Reason `json:"-"` // that of the count
	Detail string `json:"detail"`
}

// Before orders rejects by file and line.
func (r Reject) Before(o Reject) bool {
	if r.File != o.File {
		return r.File < o.File
	}
	return r.Offset < o.Offset
}

// Fault is a record that cannot be used.
type Fault struct {
	reason Reason
	detail string
	other  bool
}

// NewFault says why a record cannot be used. What quotes more of it than a line has
// room for is cut short.
func NewFault(reason Reason, detail string) *Fault {
	const most = 1000
	if len(detail) > most {
		detail = strings.ToValidUTF8(detail[:most], "") + "…"
	}
	return &Fault{reason: reason, detail: detail}
}

// OtherLine marks a line that is no record at all: it names neither a hop nor a trace
// nor a duration, as the lines of other programs in the same log.
func (f *Fault) OtherLine() *Fault {
	f.other = true
	return f
}

// TimeFault is a point in time that cannot be read.
func TimeFault(v *field.Value, err error) *Fault {
	switch {
	case errors.Is(err, moment.ErrNoUnit):
		return NewFault(NoUnit, v.String()+": "+err.Error())
	case errors.Is(err, moment.ErrTooLarge), errors.Is(err, moment.ErrWrapped):
		err = moment.ErrOutside
	}
	return NewFault(BadTime, v.String()+": "+err.Error())
}

// DurationFault is a duration that cannot be read.
func DurationFault(v *field.Value, err error) *Fault {
	reason := BadDuration
	switch {
	case errors.Is(err, moment.ErrNegative):
		reason = NegativeDuration
	case errors.Is(err, moment.ErrNoUnit):
		reason = NoUnit
	}
	return NewFault(reason, v.String()+": "+err.Error())
}
