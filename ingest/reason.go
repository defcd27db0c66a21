package ingest

import "errors"

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
	File         string
	Line, Offset int64
	Reason       Reason
	Detail       string
}

// fault is a record that cannot be used.
type fault struct {
	reason Reason
	detail string
}

// durationFault is a duration that cannot be read.
func durationFault(v *value, err error) *fault {
	reason := BadDuration
	switch {
	case errors.Is(err, errNegative):
		reason = NegativeDuration
	case errors.Is(err, errNoUnit):
		reason = NoUnit
	}
	return &fault{reason, v.String() + ": " + err.Error()}
}
