package ingest

import (
	"bytes"
	"errors"
	"math"

	"github.com/tailscope/tailscope/spans"
)

// attempts turns records of hop logs into rows: one line, one attempt.
type attempts struct {
	fields  *Fields
	columns spans.Columns
	tally   *Tally
}

// fault is a record that cannot be used.
type fault struct {
	reason Reason
	detail string
}

// row fills r from a record; a nil fault means that it is a valid attempt.
func (a *attempts) row(rec *record, r *spans.Row) (hop []byte, bad *fault) {
	*r = spans.Row{}
	hop = bytes.TrimSpace(rec.get(Hop).raw)
	if len(hop) == 0 {
		return nil, &fault{NoHop, "no hop: " + missing(rec, Hop)}
	}
	if bad = a.duration(rec, r); bad != nil {
		return nil, bad
	}
	if bad = a.outcome(rec, r); bad != nil {
		return nil, bad
	}
	if bad = a.retry(rec, r); bad != nil {
		return nil, bad
	}
	a.timeout(rec, r)
	a.optional(rec, r)
	a.tally.DuplicateKeys += int64(rec.duplicates)
	return hop, nil
}

func missing(rec *record, role Role) string {
	if rec.has&(1<<role) == 0 {
		return "none of the known keys is there"
	}
	return rec.get(role).key.path + " is empty"
}

// duration takes the duration as logged, else end less start.
func (a *attempts) duration(rec *record, r *spans.Row) *fault {
	r.HasDuration = true
	v := rec.get(Duration)
	if v.empty() {
		return a.fromTimes(rec, r)
	}
	s, err := parseDuration(v.raw, v.use.unit)
	if err == nil && (v.kind == boolTrue || v.kind == boolFalse) {
		err = errNotNumber
	}
	if err != nil {
		return durationFault(v, err)
	}
	a.note(s.rounded, v.use.unit)
	r.Duration, r.Resolution = s.ns, s.resolution
	return nil
}

func (a *attempts) note(rounded bool, unit Unit) {
	if rounded {
		a.tally.Rounded++
	}
	if unit == NoUnitGiven {
		a.tally.units |= unitInValue
	} else {
		a.tally.units |= unitBit(unit)
	}
}

func durationFault(v *value, err error) *fault {
	reason := BadDuration
	switch {
	case errors.Is(err, errNegative):
		reason = NegativeDuration
	case errors.Is(err, errNoUnit):
		reason = NoUnit
	}
	return &fault{reason, quote(v) + ": " + err.Error()}
}

// quote shows a value with its key, shortened.
func quote(v *value) string {
	raw := v.raw
	if len(raw) > 60 {
		raw = append(bytes.Clone(raw[:60]), "…"...)
	}
	return v.key.path + " " + string(raw)
}

// fromTimes is the way of logs with a start and an end and no duration.
func (a *attempts) fromTimes(rec *record, r *spans.Row) *fault {
	start, end := rec.get(Start), rec.get(End)
	if start.empty() || end.empty() {
		return &fault{NoDuration, "neither a duration nor both start and end"}
	}
	from, err := parseMoment(start)
	if err != nil {
		return timeFault(start, err)
	}
	to, err := parseMoment(end)
	if err != nil {
		return timeFault(end, err)
	}
	if to < from {
		return &fault{NegativeDuration, quote(end) + " is before " + quote(start)}
	}
	if from < 0 && to > math.MaxInt64+from {
		return &fault{BadDuration, errTooLarge.Error()}
	}
	a.note(false, NoUnitGiven)
	r.Duration = to - from
	return nil
}

// parseMoment reads a time on which a duration rests, so a bare number's unit
// is not guessed.
func parseMoment(v *value) (int64, error) {
	if v.use.unit == NoUnitGiven {
		if _, err := parseDecimal(bytes.TrimSpace(v.raw)); err == nil {
			return 0, errNoUnit
		}
	}
	return parseInstant(v.raw, v.use.unit)
}

func timeFault(v *value, err error) *fault {
	if errors.Is(err, errNoUnit) {
		return &fault{NoUnit, quote(v) + ": " + err.Error()}
	}
	return &fault{BadTime, quote(v) + ": " + err.Error()}
}

func (a *attempts) outcome(rec *record, r *spans.Row) *fault {
	v, marked, ok := rec.judge()
	if !ok {
		return &fault{BadMark, quote(rec.get(TruncatedMark)) + ": neither yes nor no"}
	}
	r.Outcome, r.CutBy, r.Failure, r.Marked = v.outcome, v.cutBy, v.failure, marked
	if marked {
		a.noteMark(rec)
	}
	if v.failure == spans.OtherFailure && speaksOfTimeout(rec.get(Error)) {
		a.tally.TimeoutTexts++
	}
	return nil
}

// speaksOfTimeout spots error messages about timeouts. A message is no mark
// ("timeout=30s" in a dump of settings matches too), but who logs only messages
// should know that cuts may hide among the failures.
func speaksOfTimeout(v *value) bool {
	lower := bytes.ToLower(v.raw)
	for _, word := range [...]string{"timeout", "timed out", "deadline exceeded"} {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	return false
}

func (a *attempts) noteMark(rec *record) {
	if _, isMark := rec.timeoutMark(); isMark || rec.has&(1<<TruncatedMark) != 0 {
		a.tally.marks |= markField
	} else {
		a.tally.marks |= markRules
	}
}

// retry takes the retry mark where there is one, else the attempt's number.
func (a *attempts) retry(rec *record, r *spans.Row) *fault {
	if mark := rec.get(RetryMark); mark.kind > null {
		yes, ok := mark.yes()
		if !ok {
			return &fault{BadMark, quote(mark) + ": neither yes nor no"}
		}
		r.Retry = yes
	}
	v := rec.get(Attempt)
	if v.empty() {
		return nil
	}
	d, err := parseDecimal(bytes.TrimSpace(v.raw))
	n, exact, tooLarge := d.nanoseconds(0)
	if err != nil || !exact || tooLarge != nil {
		return &fault{BadAttempt, quote(v) + ": not a count"}
	}
	r.Attempt, r.HasAttempt = n, true
	if n < int64(v.use.first) {
		a.tally.ZeroAttempts++
	}
	if rec.get(RetryMark).kind <= null {
		r.Retry = n > int64(v.use.first)
	}
	return nil
}

// timeout notes the attempt's own timeout. One that is unreadable, or a bare
// number, is counted and not used: the attempt is as good without it.
func (a *attempts) timeout(rec *record, r *spans.Row) {
	v := rec.get(Timeout)
	if _, isMark := rec.timeoutMark(); isMark || v.empty() {
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
	ended := r.Outcome != spans.Completed
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
	for _, s := range [...]struct {
		role  Role
		isEnd bool
	}{{Start, false}, {End, true}, {Time, a.fields.config.TimeIs != "start"}} {
		v := rec.get(s.role)
		if v.empty() {
			continue
		}
		t, err := parseInstant(v.raw, v.use.unit)
		if err != nil || s.isEnd && t < math.MinInt64+r.Duration {
			a.tally.UnreadTimes++
			continue
		}
		if s.isEnd {
			t -= r.Duration
		}
		r.Start, r.HasStart = t, true
		return
	}
}

// timeBasis says which reading of time a record's fields allow.
func (f *Fields) timeBasis(rec *record) uint8 {
	switch {
	case rec.has&(1<<Start) != 0:
		return basisStart
	case rec.has&(1<<End) != 0:
		return basisEnd
	case rec.has&(1<<Time) == 0:
		return basisNone
	case f.config.TimeIs == "start":
		return basisStart
	}
	return basisEnd
}
