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

// into reads a time, written as a number or as text.
func (of *timeField) into(s *jsonscan.Scanner, v *field.Value) func() error {
	return func() error {
		if raw, ok := s.Whole(); ok {
			*v = of.written(jsonscan.Number, raw)
			return nil
		}
		kind, raw, err := s.Any()
		*v = of.written(kind, raw)
		return err
	}
}

// textInto reads a text, or what else stands for one.
func textInto(s *jsonscan.Scanner, to *[]byte) func() error {
	return func() (err error) {
		_, *to, err = s.Scalar()
		return err
	}
}
