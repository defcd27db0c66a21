package trace

import (
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// timeField is a field of a span that holds a time in a fixed unit.
type timeField struct {
	key field.Key
	use field.Use
}

var (
	startMicros    = timeField{field.Key{Path: "startTime"}, field.Use{Unit: moment.Microseconds}}
	durationMicros = timeField{field.Key{Path: "duration"}, field.Use{Unit: moment.Microseconds}}
	startNanos     = timeField{field.Key{Path: "startTimeUnixNano"}, field.Use{Unit: moment.Nanoseconds}}
	endNanos       = timeField{field.Key{Path: "endTimeUnixNano"}, field.Use{Unit: moment.Nanoseconds}}
	durationNanos  = timeField{field.Key{Path: "duration"}, field.Use{Unit: moment.Nanoseconds}}
)

// written is the value of the field as it stands in the input.
func (of *timeField) written(kind jsonscan.Kind, raw []byte) field.Value {
	return field.Value{Raw: raw, Kind: kind, Use: &of.use, Key: &of.key}
}

// read reads a time, written as a number or as text.
func (of *timeField) read(s *jsonscan.Scanner) (field.Value, error) {
	kind, raw, err := s.Any()
	return of.written(kind, raw), err
}

// whole reads a whole number as a time.
func (of *timeField) whole(s *jsonscan.Scanner, v *field.Value) bool {
	raw, ok := s.Whole()
	if ok {
		*v = of.written(jsonscan.Number, raw)
	}
	return ok
}

// textAfter reads a time that is written as text after a key.
func (of *timeField) textAfter(s *jsonscan.Scanner, key string, v *field.Value) bool {
	var raw []byte
	if !s.UnescapedAfter(key, &raw) {
		return false
	}
	*v = of.written(jsonscan.Text, raw)
	return true
}
