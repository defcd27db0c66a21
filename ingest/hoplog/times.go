package hoplog

import (
	"bytes"
	"math"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// start finds when the attempt began. A logger stamps a line when it writes it,
// so a bare timestamp is the attempt's end unless the user says otherwise.
func (a *attempts) start(rec *field.Record, r *spans.Row) {
	for _, role := range [...]field.Role{field.Start, field.End, field.Time} {
		v := rec.Get(role)
		if v.Empty() {
			continue
		}
		t, err := moment.ParseInstant(v.Raw, v.Use.Unit)
		if err != nil || a.isEnd(role) && t.NS < math.MinInt64+r.Duration {
			a.tally.Show(format.UnreadTimes, v)
			continue
		}
		begun := t.NS
		if a.isEnd(role) {
			begun -= r.Duration
		}
		if r.Start, r.HasStart = begun, true; a.linked || a.holds(begun) {
			a.tally.Stamp(t.NS)
		}
		return
	}
}

// isEnd reports whether the time of a role is that of the attempt's end.
func (a *attempts) isEnd(role field.Role) bool {
	return role == field.End || role == field.Time && a.fields.TimeIs != "start"
}

// timeBasis says which reading of time a record's fields allow.
func timeBasis(f *format.Settings, rec *field.Record) uint8 {
	switch {
	case rec.Known(field.Start):
		return format.BasisStart
	case rec.Known(field.End):
		return format.BasisEnd
	case !rec.Known(field.Time):
		return 0
	case f.TimeIs == "start":
		return format.BasisStart
	}
	return format.BasisEnd
}

// fromTimes is the way of logs with a start and an end and no duration.
func fromTimes(rec *field.Record) (moment.Length, *format.Fault) {
	start, end := rec.Get(field.Start), rec.Get(field.End)
	if start.Empty() || end.Empty() {
		return moment.Length{}, format.NewFault(format.NoDuration, "neither a duration nor both start and end")
	}
	from, err := unguessed(start)
	if err != nil {
		return moment.Length{}, format.TimeFault(start, err)
	}
	to, err := unguessed(end)
	if err != nil {
		return moment.Length{}, format.TimeFault(end, err)
	}
	if to.NS < from.NS {
		return moment.Length{}, format.NewFault(format.NegativeDuration, end.String()+" is before "+start.String())
	}
	if from.NS < 0 && to.NS > math.MaxInt64+from.NS {
		return moment.Length{}, format.NewFault(format.BadDuration, start.String()+", "+end.String()+": "+moment.ErrTooLarge.Error())
	}
	return moment.Length{NS: to.NS - from.NS, Own: true, Resolution: max(from.Resolution, to.Resolution)}, nil
}

// unguessed reads a time on which a duration rests, so a bare number's unit is
// not guessed.
func unguessed(v *field.Value) (moment.Instant, error) {
	if v.Use.Unit == moment.NoUnitGiven && !v.Use.Epoch {
		if _, err := moment.ParseDecimal(bytes.TrimSpace(v.Raw)); err == nil {
			return moment.Instant{}, moment.ErrNoUnit
		}
	}
	return moment.ParseInstant(v.Raw, v.Use.Unit)
}
