package ingest

import (
	"bytes"
	"errors"
	"math"

	"github.com/tailscope/tailscope/spans"
)

// attempts turns records of hop logs into rows: one line, one attempt.
type attempts struct {
	fields  *Settings
	columns spans.Columns
	// linked: attempts are spans. spanTable: their records name them.
	linked, spanTable bool

	tally *Tally
	key   []byte // of a hop, or its name
}

func newAttempts(f *Settings, c spans.Columns) attempts {
	return attempts{fields: f, columns: c, linked: f.Linked(), spanTable: f.Names(SpanKey)}
}

// row fills r from a record; a nil fault means that it is a valid attempt.
func (a *attempts) row(rec *record, r *spans.Row) (hop []byte, bad *fault) {
	*r = spans.Row{}
	hop = bytes.TrimSpace(rec.get(Hop).raw)
	if len(hop) == 0 {
		return nil, &fault{NoHop, "no hop: " + missingHop(rec)}
	}
	if bad = a.ids(rec); bad != nil {
		return nil, bad
	}
	length, bad := readLength(rec)
	if bad != nil {
		return nil, bad
	}
	r.Duration, r.Resolution, r.HasDuration = length.ns, length.resolution, true
	a.timeout(rec, r)
	if bad = a.outcome(rec, r); bad != nil {
		return nil, bad
	}
	if bad = a.readRetry(rec, r); bad != nil {
		return nil, bad
	}
	a.optional(rec, r)
	a.note(rec, r, length)
	return hop, nil
}

func missingHop(rec *record) string {
	if rec.has&(1<<Hop) == 0 {
		return "none of the known keys is there"
	}
	return rec.get(Hop).key.path + " is empty"
}

// readLength takes the duration as logged, else end less start.
func readLength(rec *record) (length, *fault) {
	v := rec.get(Duration)
	if v.empty() {
		return fromTimes(rec)
	}
	s, err := parseDuration(v.raw, v.use.unit)
	if err != nil {
		return length{}, durationFault(v, err)
	}
	return s, nil
}

// note adds what was odd about an accepted record, and how it was read.
func (a *attempts) note(rec *record, r *spans.Row, length length) {
	t := a.tally
	t.DuplicateKeys += rec.duplicates
	if length.rounded {
		t.Rounded++
	}
	if length.own {
		t.units |= unitInValue
	} else {
		t.units |= unitBit(rec.get(Duration).use.unit)
	}
	if r.Marked {
		t.marks |= marksUsed(rec)
	}
	if r.Outcome == spans.Failed && speaksOfTimeout(rec.get(Error).raw) {
		t.TimeoutTexts++
	}
	if r.HasAttempt && r.Attempt < int64(rec.get(Attempt).use.first) {
		t.ZeroAttempts++
	}
	t.basis |= a.fields.timeBasis(rec)
}

// fromTimes is the way of logs with a start and an end and no duration.
func fromTimes(rec *record) (length, *fault) {
	start, end := rec.get(Start), rec.get(End)
	if start.empty() || end.empty() {
		return length{}, &fault{NoDuration, "neither a duration nor both start and end"}
	}
	from, err := unguessed(start)
	if err != nil {
		return length{}, timeFault(start, err)
	}
	to, err := unguessed(end)
	if err != nil {
		return length{}, timeFault(end, err)
	}
	if to.ns < from.ns {
		return length{}, &fault{NegativeDuration, end.String() + " is before " + start.String()}
	}
	if from.ns < 0 && to.ns > math.MaxInt64+from.ns {
		return length{}, &fault{BadDuration, start.String() + ", " + end.String() + ": " + errTooLarge.Error()}
	}
	return length{ns: to.ns - from.ns, own: true, resolution: max(from.resolution, to.resolution)}, nil
}

// unguessed reads a time on which a duration rests, so a bare number's unit is
// not guessed.
func unguessed(v *value) (moment, error) {
	if v.use.unit == NoUnitGiven {
		if _, err := parseDecimal(bytes.TrimSpace(v.raw)); err == nil {
			return moment{}, errNoUnit
		}
	}
	return parseMoment(v.raw, v.use.unit)
}

func timeFault(v *value, err error) *fault {
	if errors.Is(err, errNoUnit) {
		return &fault{NoUnit, v.String() + ": " + err.Error()}
	}
	return &fault{BadTime, v.String() + ": " + err.Error()}
}

func (a *attempts) outcome(rec *record, r *spans.Row) *fault {
	v, marked, ok := a.fields.Rules.judge(rec, spans.NoKind)
	if !ok {
		return &fault{BadMark, rec.get(TruncatedMark).String() + ": neither yes nor no"}
	}
	r.Outcome, r.CutBy, r.Failure, r.Marked = v.outcome, v.cutBy, v.failure, marked
	if v.rule == RuleDeadline && v.cutBy == spans.Own && r.HasTimeout && r.Duration < r.Timeout-r.Timeout/20 {
		r.CutBy = spans.CutUnknown // well before its own deadline: another one passed
	}
	return nil
}

// marksUsed tells an explicit mark from other evidence.
func marksUsed(rec *record) uint8 {
	if _, isMark := timeoutMark(rec); isMark || rec.has&(1<<TruncatedMark) != 0 {
		return markField
	}
	return markRules
}

// retry takes the retry mark where there is one, else the attempt's number.
func (a *attempts) readRetry(rec *record, r *spans.Row) *fault {
	mark := rec.get(RetryMark)
	yes, ok := mark.yes()
	if !ok {
		return &fault{BadMark, mark.String() + ": neither yes nor no"}
	}
	r.Retry = yes && a.fields.Rules.On(RuleRetryMark)
	v := rec.get(Attempt)
	if v.empty() {
		return nil
	}
	d, err := parseDecimal(bytes.TrimSpace(v.raw))
	n, exact, tooLarge := d.nanoseconds(0)
	if err != nil || !exact || tooLarge != nil {
		return &fault{BadAttempt, v.String() + ": not a count"}
	}
	r.Attempt, r.HasAttempt = n, true
	if mark.empty() && a.fields.Rules.On(RuleResend) {
		r.Retry = n > int64(v.use.first)
	}
	return nil
}

// timeout notes the attempt's own timeout. One that is unreadable, or a bare
// number, is counted and not used: the attempt is as good without it.
func (a *attempts) timeout(rec *record, r *spans.Row) {
	v := rec.get(Timeout)
	if _, isMark := timeoutMark(rec); isMark || v.empty() {
		if isMark && len(v.raw) == 1 {
			a.tally.NumberMarks++
		}
		return
	}
	s, err := parseDuration(v.raw, v.use.unit)
	switch {
	case err != nil:
		a.tally.UnusedTimeouts++
	case s.ns > 0:
		r.Timeout, r.HasTimeout = s.ns, true
	}
}

// optional fills what only some commands read, and what cut and failed attempts
// need: their chain and their time.
func (a *attempts) optional(rec *record, r *spans.Row) {
	ended := r.Outcome != spans.Completed || a.linked
	if ended || a.columns.Has(spans.Traces) {
		r.Trace = traceOf(rec.get(Trace))
	}
	if ended || a.columns.Has(spans.Starts) {
		a.start(rec, r)
	}
}

// traceOf returns the trace id; of a W3C traceparent that is its second part.
func traceOf(v *value) []byte {
	id := bytes.TrimSpace(v.raw)
	if placeholder(id) {
		return nil
	}
	if v.kind == number || v.kind == text {
		if len(id) == 55 && id[2] == '-' && id[35] == '-' && id[52] == '-' {
			return id[3:35]
		}
		return id
	}
	return nil
}

// start finds when the attempt began. A logger stamps a line when it writes it,
// so a bare timestamp is the attempt's end unless the user says otherwise.
func (a *attempts) start(rec *record, r *spans.Row) {
	for _, role := range [...]Role{Start, End, Time} {
		v := rec.get(role)
		if v.empty() {
			continue
		}
		t, err := parseMoment(v.raw, v.use.unit)
		if err != nil || a.isEnd(role) && t.ns < math.MinInt64+r.Duration {
			a.tally.UnreadTimes++
			continue
		}
		if a.isEnd(role) {
			t.ns -= r.Duration
		}
		r.Start, r.HasStart = t.ns, true
		return
	}
}

// isEnd reports whether the time of a role is that of the attempt's end.
func (a *attempts) isEnd(role Role) bool {
	return role == End || role == Time && a.fields.TimeIs != "start"
}

// timeBasis says which reading of time a record's fields allow.
func (f *Settings) timeBasis(rec *record) uint8 {
	switch {
	case rec.known(Start):
		return basisStart
	case rec.known(End):
		return basisEnd
	case !rec.known(Time):
		return 0
	case f.TimeIs == "start":
		return basisStart
	}
	return basisEnd
}
