package ingest

// timeField is a field of a span that holds a time in a fixed unit.
type timeField struct {
	key keyInfo
	use use
}

var (
	startMicros    = timeField{keyInfo{path: "startTime"}, use{unit: Microseconds}}
	durationMicros = timeField{keyInfo{path: "duration"}, use{unit: Microseconds}}
	startNanos     = timeField{keyInfo{path: "startTimeUnixNano"}, use{unit: Nanoseconds}}
	endNanos       = timeField{keyInfo{path: "endTimeUnixNano"}, use{unit: Nanoseconds}}
	durationNanos  = timeField{keyInfo{path: "duration"}, use{unit: Nanoseconds}}
)

// written is the value of the field as it stands in the input.
func (of *timeField) written(kind valueKind, raw []byte) value {
	return value{raw: raw, kind: kind, use: &of.use, key: &of.key}
}

// read reads a time, written as a number or as text.
func (of *timeField) read(s *jsonScanner) (value, error) {
	kind, raw, err := s.any()
	return of.written(kind, raw), err
}

// whole reads a whole number as a time.
func (of *timeField) whole(s *jsonScanner, v *value) bool {
	raw, ok := s.whole()
	if ok {
		*v = of.written(number, raw)
	}
	return ok
}

// textAfter reads a time that is written as text after a key.
func (of *timeField) textAfter(s *jsonScanner, key string, v *value) bool {
	var raw []byte
	if !s.plainAfter(key, &raw) {
		return false
	}
	*v = of.written(text, raw)
	return true
}
