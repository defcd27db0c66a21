package moment

import (
	"bytes"
	"math"
	"slices"
)

// Unit is the unit of a bare number of time, as a power of ten over a
// nanosecond.
type Unit int8

// The units a number can have.
const (
	NoUnitGiven  Unit = -1
	Nanoseconds  Unit = 0
	Microseconds Unit = 3
	Milliseconds Unit = 6
	Seconds      Unit = 9
)

// ParseUnit reads "ns", "us", "ms" or "s" (and "µs"); ok is false for anything
// else.
func ParseUnit(s string) (u Unit, ok bool) {
	switch s {
	case "":
		return NoUnitGiven, false
	case "µs", "μs":
		return Microseconds, true
	}
	i := slices.Index(unitNames[:], s)
	return Unit(i), i >= 0
}

var unitNames = [...]string{Nanoseconds: "ns", Microseconds: "us", Milliseconds: "ms", Seconds: "s"}

// String gives the unit's name, empty for NoUnitGiven.
func (u Unit) String() string {
	if u == NoUnitGiven {
		return ""
	}
	return unitNames[u]
}

// Length is a duration that was read: exact nanoseconds where nothing finer was
// written, and the power of ten of the last digit written.
type Length struct {
	NS         int64
	Rounded    bool
	Resolution uint8
	Own        bool // the value stated its unit
	Grouped    bool // a comma was read as a separator of thousands, not as a point
}

// ParseDuration reads a duration: a number in the given unit, or text with its
// own unit ("1.50025ms", "1m30s", "PT3.5S", "1.5 seconds", "0:00:01.5"). A bare number
// without a unit is ErrNoUnit: it is never guessed from its size.
func ParseDuration(b []byte, unit Unit) (Length, error) {
	if s, ok := fastNumber(b, unit); ok {
		return s, nil
	}
	b = bytes.TrimSpace(b)
	d, n, err := scanDecimal(b)
	if err != nil {
		return parseOddDuration(b)
	}
	if n == len(b) {
		return bareDuration(d, unit)
	}
	if s, err := parseUnits(b); err != ErrNotNumber {
		return s, err
	}
	return parseWritten(b, unit)
}

// fastNumber is the fast path of a few digits with or without a point, by
// far the most common: they fit and are not finer than a nanosecond.
func fastNumber(b []byte, unit Unit) (Length, bool) {
	if len(b) == 0 || len(b) > 9 || unit == NoUnitGiven {
		return Length{}, false
	}
	v, decimals := int64(0), -1 // no point yet
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			v = v*10 + int64(c-'0')
			if decimals >= 0 {
				decimals++
			}
		case c == '.' && decimals < 0:
			decimals = 0
		default:
			return Length{}, false
		}
	}
	digits := int(unit) - max(decimals, 0)
	if digits < 0 || decimals == 0 {
		return Length{}, false
	}
	return Length{NS: v * int64(Pow10[digits]), Resolution: uint8(digits)}, true
}

// Wrapped is from where on an unsigned 64-bit count of nanoseconds or microseconds is
// a negative number that was cast: one above -146 years. What lies below, up to the
// largest signed number, is only very large.
const Wrapped = 3 << 62

func bareDuration(d Decimal, unit Unit) (Length, error) {
	if unit == NoUnitGiven {
		return Length{}, ErrNoUnit
	}
	if d.exponent == 0 && d.Mantissa >= Wrapped {
		return Length{}, ErrWrapped
	}
	ns, exact, err := d.Nanoseconds(int(unit))
	return Length{NS: ns, Rounded: !exact, Resolution: resolutionOf(d, unit)}, err
}

func resolutionOf(d Decimal, unit Unit) uint8 {
	return uint8(max(0, int(unit)-d.decimals))
}

// parseOddDuration reads what does not start with a digit: ISO 8601, and the
// words that loggers write for numbers that are none.
func parseOddDuration(b []byte) (Length, error) {
	for _, word := range [...]string{"nan", "inf", "infinity"} {
		if bytes.EqualFold(bytes.TrimLeft(b, "+-"), []byte(word)) {
			return Length{}, errInfinite
		}
	}
	if len(b) > 2 && (b[0] == 'P' || b[0] == 'p') {
		return parseISO(b[1:])
	}
	if len(b) > 3 && b[0] == '-' && (b[1] == 'P' || b[1] == 'p') {
		s, err := parseOddDuration(b[1:])
		if err == nil && s.NS > 0 {
			return Length{}, ErrNegative
		}
		return s, err
	}
	return Length{}, ErrNotNumber
}

// parseUnits adds up numbers with units, such as "1m30.5s", "295 µs" or the
// "1H2M3.5S" of ISO 8601.
func parseUnits(b []byte) (total Length, err error) {
	total.Resolution, total.Own = math.MaxUint8, true
	negative := len(b) > 0 && b[0] == '-' // all of it, also where the first number is 0
	for len(b) > 0 {
		d, n, err := scanDecimal(b)
		if err != nil {
			return Length{}, ErrNotNumber
		}
		b = bytes.TrimLeft(b[n:], " ")
		word := unitWord(b)
		b = bytes.TrimPrefix(bytes.TrimLeft(b[len(word):], ", "), []byte("and "))
		part, err := inUnit(d, word)
		if err != nil {
			return Length{}, err
		}
		if total.NS > math.MaxInt64-part.NS {
			return Length{}, ErrTooLarge
		}
		total.NS += part.NS
		total.Rounded = total.Rounded || part.Rounded
		total.Resolution = min(total.Resolution, part.Resolution)
	}
	if negative && total.NS > 0 {
		return Length{}, ErrNegative
	}
	return total, nil
}

// unitWord is what stands before the next blank, point, comma or digit.
func unitWord(b []byte) []byte {
	n := 0
	for n < len(b) && b[n] != ' ' && b[n] != '.' && b[n] != ',' && b[n]-'0' > 9 {
		n++
	}
	return b[:n]
}

// unitLength is a unit in words: so many times a power of ten over a nanosecond.
type unitLength struct {
	times uint64 // below 10,000
	power int
}

// unitWords are the units in lower case, but for those of ParseUnit.
var unitWords = map[string]unitLength{}

func init() {
	for unit, words := range map[unitLength][]string{
		{1, 0}:     {"nanosecond", "nsec", "nano"},
		{1, 3}:     {"microsecond", "usec", "micro"},
		{1, 6}:     {"millisecond", "msec", "milli", "ms"},
		{1, 9}:     {"second", "sec", "s"},
		{60, 9}:    {"minute", "min", "m"},
		{3600, 9}:  {"hour", "hr", "h"},
		{864, 11}:  {"day", "d"},
		{6048, 11}: {"week", "w"},
	} {
		for _, word := range words {
			unitWords[word] = unit
			if len(word) > 2 || word == "hr" {
				unitWords[word+"s"] = unit
			}
		}
	}
}

// inUnit is a number in the unit that word names: one of ParseUnit's or of
// unitWords, in any case.
func inUnit(d Decimal, word []byte) (Length, error) {
	of := unitLength{times: 1}
	if unit, ok := ParseUnit(string(word)); ok {
		of.power = int(unit)
	} else if of, ok = unitWords[string(lower(word, new([longestUnit]byte)))]; !ok {
		return Length{}, ErrNotNumber
	}
	ns, exact, err := d.scale(of.times, of.power)
	return Length{NS: ns, Rounded: !exact, Resolution: resolutionOf(d, Unit(min(of.power, int(Seconds))))}, err
}

// longestUnit is the length of "milliseconds" and of "microseconds".
const longestUnit = 12

// lower writes a word to buf in lower case; a longer one comes back as it is.
func lower(word []byte, buf *[longestUnit]byte) []byte {
	if len(word) > len(buf) {
		return word
	}
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(word)]
}
