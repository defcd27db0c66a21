package moment

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// Durations as people and other runtimes write them: "1,234.5 ms", .NET's 00:00:01.5
// and Python's "1 day, 0:00:01". They are looked at after what loggers mostly write.

// parseWritten reads a duration that is neither a number nor numbers with units.
func parseWritten(b []byte, unit Unit) (Length, error) {
	if bytes.IndexByte(b, ':') >= 0 {
		return parseTimeSpan(b)
	}
	number, n, grouped := ungroup(b)
	if number == nil {
		return Length{}, ErrNotNumber
	}
	plain := append(number, b[n:]...)
	d, n, err := scanDecimal(plain)
	if err != nil {
		return Length{}, err
	}
	s, err := Length{}, error(nil)
	if n == len(plain) {
		s, err = bareDuration(d, unit)
	} else {
		s, err = parseUnits(plain)
	}
	s.Grouped = grouped
	return s, err
}

// ungroup rewrites the number at the start of b with a point and without separators
// of thousands; n is its length as written, and number nil where it makes none.
// Where points and commas are both there the last one is the point. A comma alone
// separates thousands where groups of three digits follow it, and grouped then tells
// that it might have been a point; else it is one.
func ungroup(b []byte) (number []byte, n int, grouped bool) {
	n = numberEnd(b)
	text := b[:n]
	point := pointOf(text)
	whole, fraction := text, []byte(nil)
	if point >= 0 {
		whole, fraction = text[:point], text[point+1:]
	}
	number, ok := joinGroups(whole)
	if !ok || !allDigits(fraction) {
		return nil, 0, false
	}
	if point >= 0 {
		number = append(append(number, '.'), fraction...)
	}
	return number, n, point < 0 && bytes.Count(text, []byte{','}) == 1 && bytes.IndexByte(text, '.') < 0
}

// numberEnd returns where the digits and their separators end.
func numberEnd(b []byte) int {
	end := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r >= '0' && r <= '9':
			end = i + 1
		case !separates(r) && r != '.' && r != '-' && r != '+':
			return end
		}
		i += n
	}
	return end
}

// separates reports whether thousands are separated by r somewhere in the world.
func separates(r rune) bool {
	switch r {
	case ',', '\'', '_', ' ', '’', '\u00a0', '\u202f', '\u2009':
		return true
	}
	return false
}

// pointOf returns the index of what stands for the decimal point, -1 for none.
func pointOf(text []byte) int {
	comma, point := bytes.LastIndexByte(text, ','), bytes.LastIndexByte(text, '.')
	switch {
	case comma >= 0 && point >= 0:
		return max(comma, point)
	case point >= 0 && bytes.Count(text, []byte{'.'}) == 1:
		return point
	case comma >= 0 && bytes.Count(text, []byte{','}) == 1:
		if _, ok := joinGroups(text); !ok || text[0] == '0' {
			return comma
		}
	}
	return -1
}

// joinGroups takes the separators out of a whole number: the first group has one to
// three digits, every other exactly three.
func joinGroups(text []byte) (digits []byte, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits, text = append(digits, text[0]), text[1:]
	}
	group, groups := 0, 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r >= '0' && r <= '9':
			digits, group = append(digits, text[i]), group+1
		case !separates(r) && r != '.' || group == 0 || groups > 0 && group != 3 || groups == 0 && group > 3:
			return nil, false
		default:
			group, groups = 0, groups+1
		}
		i += n
	}
	return digits, group == 3 || groups == 0 && group > 0
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// Pointed writes a number of a table whose decimals follow a comma with a point:
// "1.234,5" is 1234.5 and "1,234" is 1.234. Others stay as they are. The result may
// share memory with b.
func Pointed(b []byte) []byte {
	n := numberEnd(b)
	comma := bytes.LastIndexByte(b[:n], ',')
	if comma < 0 || bytes.IndexByte(b[comma:n], '.') >= 0 || bytes.Count(b[:n], []byte{','}) > 1 {
		return b
	}
	whole, ok := joinGroups(b[:comma])
	if !ok && comma > 0 && allDigits(b[:comma]) {
		whole, ok = bytes.Clone(b[:comma]), true
	}
	if !ok {
		return b
	}
	return append(append(whole, '.'), b[comma+1:]...)
}

// parseTimeSpan reads hours, minutes and seconds with colons, with days before them
// as .NET ("1.02:03:04.5") or Python ("1 day, 2:03:04.5") writes them. Minutes and
// seconds alone are only read with decimals: "1:30" may be hours.
func parseTimeSpan(b []byte) (Length, error) {
	b, negative := bytes.CutPrefix(b, []byte{'-'})
	days, clock, ok := cutDays(b)
	parts := bytes.Split(clock, []byte{':'})
	if !ok || len(parts) > 3 || len(parts) == 2 && !bytes.ContainsAny(clock, ".,") {
		return Length{}, ErrNotNumber
	}
	seconds, err := ParseDecimal(bytes.Replace(parts[len(parts)-1], []byte{','}, []byte{'.'}, 1))
	total, err2 := inUnit(seconds, []byte("s"))
	if err != nil || err2 != nil || seconds.Negative || total.NS >= 60e9 || parts[len(parts)-1][0]-'0' > 9 {
		return Length{}, ErrNotNumber
	}
	minutes, scale := int64(0), int64(1)
	for i := len(parts) - 2; i >= 0; i-- {
		v, ok := Digits(parts[i])
		if !ok || v > 59 && (i > 0 || len(parts) == 2) || v > math.MaxInt32 {
			return Length{}, ErrNotNumber
		}
		minutes, scale = minutes+int64(v)*scale, scale*60
	}
	return total.plus(days, minutes, negative)
}

// plus adds days and minutes to the seconds of a time span.
func (l Length) plus(days uint64, minutes int64, negative bool) (Length, error) {
	const minute, day = int64(60e9), 24 * 60
	if days > math.MaxInt32 || int64(days)*day+minutes >= math.MaxInt64/minute {
		return Length{}, ErrTooLarge
	}
	// Python writes what is negative as days below zero and a time of day.
	if negative && (days > 0 || l.NS+minutes > 0) {
		return Length{}, ErrNegative
	}
	l.NS += (int64(days)*day + minutes) * minute
	l.Own = true
	return l, nil
}

// cutDays takes the days off the front of a time span.
func cutDays(b []byte) (days uint64, clock []byte, ok bool) {
	for _, word := range [...]string{" days, ", " day, ", " days ", " day "} {
		if before, after, found := bytes.Cut(b, []byte(word)); found {
			days, ok = Digits(before)
			return days, after, ok
		}
	}
	colon, point := bytes.IndexByte(b, ':'), bytes.IndexByte(b, '.')
	if point < 0 || point > colon {
		return 0, b, true
	}
	days, ok = Digits(b[:point])
	return days, b[point+1:], ok
}

// parseISO reads what follows the P of an ISO 8601 duration. Years and months have no
// fixed length, so they are none.
func parseISO(b []byte) (Length, error) {
	if b[0]|0x20 == 't' && bytes.IndexByte(b, ',') < 0 {
		return parseUnits(b[1:])
	}
	b = bytes.ReplaceAll(bytes.ToUpper(b), []byte{','}, []byte{'.'})
	date, clock, timed := bytes.Cut(b, []byte{'T'})
	if len(date) == 0 && len(clock) == 0 || timed && len(clock) == 0 || bytes.ContainsAny(date, "HMS") {
		return Length{}, ErrNotNumber
	}
	return parseUnits(append(bytes.Clone(date), clock...))
}
