package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
)

// Ledger adds up what all decoders did, file by file. It belongs to one
// goroutine and takes tallies in any order.
type Ledger struct {
	files   map[*File]*account
	total   Tally
	rejects map[Reason]*RejectCount
}

// account is one file's part.
type account struct {
	summary  FileSummary
	fieldSeq int // chunk that Fields came from
	// answerErrors are the first errors in an answer, and errorsSeq their chunk.
	answerErrors string
	errorsSeq    int
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{files: map[*File]*account{}, rejects: map[Reason]*RejectCount{}}
}

// Open enters a file; one without any chunk is accounted for too.
func (l *Ledger) Open(f *File) {
	l.files[f] = &account{summary: FileSummary{Path: f.Path, Format: f.Format, Compression: f.Compression, Complete: true}}
}

// Add enters a tally. It fails if the tally does not account for each of its
// records: that is a fault of this program, never of the data.
func (l *Ledger) Add(t *Tally) error {
	if t.Records != t.Accepted+t.Rejected+t.Blank {
		return fmt.Errorf("%s from line %d: %d records, but %d accepted, %d rejected and %d blank: please report this fault",
			t.Chunk.File.Path, t.Chunk.Line, t.Records, t.Accepted, t.Rejected, t.Blank)
	}
	a := l.files[t.Chunk.File]
	if t.AnswerErrors != "" && (a.answerErrors == "" || t.Chunk.Seq < a.errorsSeq) {
		a.answerErrors, a.errorsSeq = t.AnswerErrors, t.Chunk.Seq
	}
	a.add(t)
	l.total.add(t)
	l.count(t)
	return nil
}

func (a *account) add(t *Tally) {
	s := &a.summary
	s.Records += t.Records
	s.Accepted += t.Accepted
	s.Rejected += t.Rejected
	s.Blank += t.Blank
	s.Complete = s.Complete && !t.Incomplete
	if t.Fields != nil && (s.Fields == nil || t.Chunk.Seq < a.fieldSeq) {
		s.Fields, a.fieldSeq = t.Fields, t.Chunk.Seq
	}
}

func (t *Tally) add(o *Tally) {
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
	t.units |= o.units
	t.marks |= o.marks
	t.basis |= o.basis
}

func (l *Ledger) count(t *Tally) {
	for _, r := range t.Rejects {
		c := l.rejects[r.Reason]
		if c == nil {
			c = &RejectCount{Reason: r.Reason, First: r}
			l.rejects[r.Reason] = c
		}
		if r.before(c.First) {
			c.First = r
		}
	}
	for reason, n := range t.counts {
		l.rejects[reason].Count += n
	}
}

// before orders rejects by file and line.
func (r Reject) before(o Reject) bool {
	if r.File != o.File {
		return r.File < o.File
	}
	return r.Offset < o.Offset
}

// Done enters what is known of a file once all its chunks were cut off.
func (l *Ledger) Done(f *File) {
	s := &l.files[f].summary
	s.Bytes = f.Read.Load()
	s.Complete = s.Complete && f.Damage() == nil
}

// Marked reports whether any record said how its attempt ended.
func (l *Ledger) Marked() bool { return l.total.marks != 0 }

// Summary returns the account of the run. configured tells that timeouts were
// given, which mark attempts where the input does not.
func (l *Ledger) Summary(configured bool) Summary {
	s := Summary{
		Records: l.total.Records, Accepted: l.total.Accepted, Rejected: l.total.Rejected, Blank: l.total.Blank,
		DuplicatesDropped: new(int64),
		TimeBasis:         timeBases[l.total.basis], Unit: unitName(l.total.units),
		TruncationMarks: marksName(l.total.marks, configured),
		Sampling:        Sampling{Kind: "none", Evidence: "hop logs hold every attempt unless told otherwise"},
	}
	for f, a := range l.files {
		s.Files = append(s.Files, a.summary)
		s.Warnings = append(s.Warnings, f.Warnings()...)
		if a.answerErrors != "" {
			s.Warnings = append(s.Warnings, ErrorsInAnswer(f.Path, a.answerErrors))
		}
	}
	slices.SortFunc(s.Files, func(a, b FileSummary) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Warnings, func(a, b note.Warning) int { return strings.Compare(a.Text, b.Text) })
	for _, r := range l.rejects {
		s.Rejects = append(s.Rejects, *r)
	}
	slices.SortFunc(s.Rejects, func(a, b RejectCount) int { return strings.Compare(string(a.Reason), string(b.Reason)) })
	s.Warnings = append(s.Warnings, l.total.warnings()...)
	return s
}

var timeBases = [...]string{0: "none", basisStart: "start", basisEnd: "end", basisStart | basisEnd: "mixed"}

// unitName is the unit of all durations: one of the fixed ones, "value" where
// each value states its own, "mixed", or "none" where there was none.
func unitName(units uint8) string {
	switch units {
	case 0:
		return "none"
	case unitInValue:
		return "value"
	}
	for _, u := range [...]Unit{Nanoseconds, Microseconds, Milliseconds, Seconds} {
		if units == unitBit(u) {
			return u.String()
		}
	}
	return "mixed"
}

func marksName(marks uint8, configured bool) string {
	switch {
	case marks&markField != 0:
		return "field"
	case marks != 0:
		return "rules"
	case configured:
		return "configured"
	}
	return "none"
}

// warnings say what was odd about accepted records.
func (t *Tally) warnings() []note.Warning {
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
