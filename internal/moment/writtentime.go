package moment

import (
	"bytes"
	"slices"
	"time"
)

// Times as other writers have them, after RFC 3339: access logs, Go's Time.String, C,
// mail headers, compact ISO 8601. Days before months with slashes are not read: no
// one knows which is which.

// layouts are tried in their order; a fraction of the second may follow the second.
var layouts = []string{
	"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02T15:04:05 -0700",
	"2006/01/02 15:04:05 -0700", "2006/01/02 15:04:05Z07:00", "2006/01/02 15:04:05", "2006/01/02T15:04:05Z07:00",
	"20060102T150405Z0700", "20060102T150405",
	"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05",
	"Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 -0700 2006",
	"Monday, 02-Jan-06 15:04:05 -0700", "02-Jan-2006 15:04:05", "02-Jan-2006 15:04:05 -0700",
	"Jan _2, 2006 15:04:05",
}

// zones are the names of zones that mean one offset only, as the mail standards and
// the tz database have them. IST, BST and the like have several.
var zones = map[string]string{
	"UTC": "+0000", "GMT": "+0000", "UT": "+0000", "Z": "+0000", "WET": "+0000", "WEST": "+0100", "CET": "+0100", "CEST": "+0200",
	"EET": "+0200", "EEST": "+0300", "MSK": "+0300", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "JST": "+0900", "KST": "+0900", "AEST": "+1000", "AEDT": "+1100",
	"NZST": "+1200", "NZDT": "+1300",
}

// longestTime is more than any of the layouts takes.
const longestTime = 80

// parseWrittenTime reads a time that is not as RFC 3339 has it.
func parseWrittenTime(b []byte) (Instant, error) {
	if len(b) > longestTime || len(b) < len("20060102T150405") {
		return Instant{}, errNotTime
	}
	text := withoutZoneName(b)
	if t, err := parseClock([]byte(text)); err != errNotTime {
		return t, err
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, text)
		switch {
		case err == nil && outside(t.Year()):
			return Instant{}, ErrOutside
		case err == nil:
			return Instant{t.UnixNano(), uint8(9 - decimalsWritten(text))}, nil
		}
	}
	return Instant{}, errNotTime
}

// withoutZoneName gives the zone as an offset: of a name beside one, such as Go's
// "+0200 CEST" or Java's "+02:00[Europe/Berlin]", the offset is what counts.
func withoutZoneName(b []byte) string {
	b = bytes.Trim(b, "[]")
	if i := bytes.Index(b, []byte(" m=")); i >= 0 {
		b = b[:i] // Go's monotonic clock
	}
	if i := bytes.IndexByte(b, '['); i >= 0 {
		b = b[:i]
	}
	words := bytes.Split(b, []byte{' '})
	offset := slices.ContainsFunc(words, isOffset)
	for i := len(words) - 1; i > 0; i-- {
		zone, known := zones[string(words[i])]
		switch {
		case offset && isName(words[i]) && i == len(words)-1:
			words = words[:i]
		case known && !offset:
			words[i], offset = []byte(zone), true
		}
	}
	return string(bytes.Join(words, []byte{' '}))
}

// isOffset reports whether a word is ±0200 or ±02:00.
func isOffset(word []byte) bool {
	return (len(word) == 5 || len(word) == 6) && (word[0] == '+' || word[0] == '-')
}

// isName reports whether a word can be the name of a zone: capitals, or an offset as
// Go writes it for zones without one.
func isName(word []byte) bool {
	if len(word) < 3 || len(word) > 5 {
		return false
	}
	for _, c := range word {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// decimalsWritten counts the decimals of a second.
func decimalsWritten(text string) (n int) {
	at := len(text)
	for i := 2; i < len(text); i++ {
		if (text[i] == '.' || text[i] == ',') && text[i-1]-'0' <= 9 && text[i-2]-'0' <= 9 {
			at = i + 1
			break
		}
	}
	for at+n < len(text) && text[at+n]-'0' <= 9 {
		n++
	}
	return min(n, 9)
}
