package hoplog

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// leftOut stands in place of a fault for a record that the selection leaves out.
var leftOut = new(format.Fault)

// keeps reports whether a record meets the conditions of the selection. One of a span is
// kept: its trace is looked at when it is whole.
func (a *attempts) keeps(rec *field.Record) bool {
	s := a.fields.Selection
	if s == nil {
		return true
	}
	rec.Selected.Default(s, "hop", bytes.TrimSpace(rec.Get(field.Hop).Raw))
	rec.Selected.Default(s, "trace", traceOf(rec.Get(field.Trace)))
	rec.Selected.Default(s, "service", rec.Get(field.ServiceKey).Raw)
	rec.Selected.Default(s, "operation", rec.Get(field.OperationKey).Raw)
	a.tally.Selected |= rec.Selected.Seen
	wanted, unwanted := s.Judge(rec.Selected)
	return wanted && !unwanted || a.ofTrace(rec)
}

// ofTrace reports whether a record is a span of a trace.
func (a *attempts) ofTrace(rec *field.Record) bool {
	return a.linked && traceOf(rec.Get(field.Trace)) != nil
}

// inTime reports whether a record begins within the time looked at. It notes the start.
func (a *attempts) inTime(rec *field.Record, r *spans.Row) bool {
	if !a.fields.Selection.Timed() || a.ofTrace(rec) {
		return true
	}
	a.start(rec, r)
	if !r.HasStart {
		a.tally.Odd[format.Timeless]++
	}
	return r.HasStart && a.holds(r.Start)
}

// holds reports whether a start is within the time looked at.
func (a *attempts) holds(start int64) bool {
	s := a.fields.Selection
	return !s.Timed() || s.Holds(start)
}

// outside reports whether a record that cannot be used is of another time all the same.
func (a *attempts) outside(rec *field.Record) bool {
	if !a.fields.Selection.Timed() || a.ofTrace(rec) {
		return false
	}
	for _, role := range [...]field.Role{field.Start, field.End, field.Time} {
		v := rec.Get(role)
		if t, err := moment.ParseInstant(v.Raw, v.Use.Unit); err == nil && !v.Empty() {
			return !a.holds(t.NS)
		}
	}
	return false
}
