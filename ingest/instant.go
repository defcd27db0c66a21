package ingest

import (
	"bytes"
	"errors"
	"time"
)

var errNotTime = errors.New("not a time")

// parseInstant reads a moment as nanoseconds since the Unix epoch: RFC 3339
// text, or a number in the given unit. An epoch number without a unit is told
// from its size, which for any date from 2001 to 2286 is unambiguous; anything
// smaller is errNoUnit.
func parseInstant(b []byte, unit Unit) (int64, error) {
	b = bytes.TrimSpace(b)
	if d, err := parseDecimal(b); err == nil {
		return epoch(d, unit)
	}
	t, err := parseClock(string(b))
	if err != nil || t.Year() < 1678 || t.Year() > 2261 {
		return 0, errNotTime
	}
	return t.UnixNano(), nil
}

// parseClock accepts RFC 3339 and its common relatives: a space for the T, no
// zone (read as UTC), a zone without a colon.
func parseClock(s string) (t time.Time, err error) {
	for _, layout := range clockLayouts {
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return t, err
}

var clockLayouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
}

func epoch(d decimal, unit Unit) (int64, error) {
	if unit == NoUnitGiven {
		if unit = epochUnit(d); unit == NoUnitGiven {
			return 0, errNoUnit
		}
	}
	negative := d.negative
	d.negative = false
	ns, _, err := d.nanoseconds(int(unit))
	if negative {
		ns = -ns
	}
	return ns, err
}

// epochUnit tells the unit of a modern epoch number from its whole seconds,
// milliseconds and so on: 10, 13, 16 or 19 digits.
func epochUnit(d decimal) Unit {
	whole, _, err := d.nanoseconds(0)
	switch {
	case err != nil || whole < 1e9:
		return NoUnitGiven
	case whole < 1e10:
		return Seconds
	case whole >= 1e12 && whole < 1e13:
		return Milliseconds
	case whole >= 1e15 && whole < 1e16:
		return Microseconds
	case whole >= 1e18:
		return Nanoseconds
	}
	return NoUnitGiven
}
