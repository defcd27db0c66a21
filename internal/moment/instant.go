package moment

import (
	"bytes"
	"errors"
	"math"
	"time"
)

var errNotTime = errors.New("not a time")

// Instant is a point in time: nanoseconds since the Unix epoch, and the power of
// ten of the last digit written.
type Instant struct {
	NS         int64
	Resolution uint8
}

// ParseInstant reads RFC 3339 text and what parseWrittenTime knows, or a number in the
// given unit. An epoch
// number without a unit is told from its size, which for any date from 2001 to
// 2286 is unambiguous; anything smaller is ErrNoUnit.
func ParseInstant(b []byte, unit Unit) (Instant, error) {
	b = bytes.TrimSpace(b)
	if d, err := ParseDecimal(b); err == nil {
		return epoch(d, unit)
	}
	if t, err := parseClock(b); err != errNotTime {
		return t, err
	}
	return parseWrittenTime(b)
}

func epoch(d Decimal, unit Unit) (Instant, error) {
	if unit == NoUnitGiven {
		if unit = epochUnit(d); unit == NoUnitGiven {
			return Instant{}, ErrNoUnit
		}
	}
	negative := d.Negative
	d.Negative = false
	ns, _, err := d.Nanoseconds(int(unit))
	if negative {
		ns = -ns
	}
	if err != nil {
		err = ErrOutside
	}
	return Instant{ns, resolutionOf(d, unit)}, err
}

// epochUnit tells the unit of a modern epoch number from its whole seconds,
// milliseconds and so on: 10, 13, 16 or 19 digits.
func epochUnit(d Decimal) Unit {
	whole, _, err := d.Nanoseconds(0)
	digits := 0
	for ; err == nil && whole > 0; whole /= 10 {
		digits++
	}
	return modernUnit(digits)
}

// FastEpoch is ParseInstant for a number of 10 to 19 digits without a sign, with
// decimals where it is of seconds; ok is false for any other, and for one whose unit
// is not known.
func FastEpoch(b []byte, unit Unit) (ns int64, ok bool) {
	n, digits := epochDigits(b)
	if unit == NoUnitGiven {
		unit = modernUnit(digits)
	}
	if digits == 0 || unit == NoUnitGiven || n > math.MaxInt64/int64(Pow10[unit])-1 || digits < len(b) && unit != Seconds {
		return 0, false
	}
	fraction, ok := decimals(b[digits:])
	return n*int64(Pow10[unit]) + fraction, ok
}

// epochDigits reads 10 to 19 digits; digits is 0 where there are fewer or more.
func epochDigits(b []byte) (n int64, digits int) {
	if len(b) < 10 || b[0] == '0' {
		return 0, 0
	}
	v, ok := eightDigits(eight(b))
	if !ok {
		return 0, 0
	}
	for n, digits = int64(v), 8; digits < len(b) && b[digits]-'0' <= 9; digits++ {
		if n > math.MaxInt64/10-1 {
			return 0, 0
		}
		n = n*10 + int64(b[digits]-'0')
	}
	if digits < 10 {
		return 0, 0
	}
	return n, digits
}

// modernUnit is epochUnit of a number of so many digits.
func modernUnit(digits int) Unit {
	if digits < 10 || digits > 19 || digits%3 != 1 {
		return NoUnitGiven
	}
	return Seconds - Unit(digits-10)
}

// clock is a text that is read as a date and a time of day from its front.
type clock struct {
	b   []byte
	bad bool
}

// parseClock reads RFC 3339 and its common relatives: a space for the T, no
// zone (read as UTC), a zone without a colon.
func parseClock(b []byte) (Instant, error) {
	c := clock{b: b}
	year := c.digits(4)
	month := c.then("-").digits(2)
	day := c.then("-").digits(2)
	hour := c.then("Tt ").digits(2)
	minute := c.then(":").digits(2)
	second := c.then(":").digits(2)
	nanos, written := c.fraction()
	offset := c.zone()
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	valid := t.Day() == day && int(t.Month()) == month && hour < 24 && minute < 60 && second < 60
	if c.bad || len(c.b) > 0 || !valid {
		return Instant{}, errNotTime
	}
	if outside(year) {
		return Instant{}, ErrOutside
	}
	return Instant{t.UnixNano() - int64(offset), uint8(9 - written)}, nil
}

func outside(year int) bool { return year < 1678 || year > 2261 }

// digits takes n digits off the front.
func (c *clock) digits(n int) (v int) {
	if c.bad = c.bad || len(c.b) < n; c.bad {
		return 0
	}
	for _, d := range c.b[:n] {
		c.bad = c.bad || d-'0' > 9
		v = v*10 + int(d-'0')
	}
	c.b = c.b[n:]
	return v
}

// then takes one of the bytes in set off the front.
func (c *clock) then(set string) *clock {
	c.bad = !c.skip(set)
	return c
}

func (c *clock) skip(set string) bool {
	if c.bad || len(c.b) == 0 || bytes.IndexByte([]byte(set), c.b[0]) < 0 {
		return false
	}
	c.b = c.b[1:]
	return true
}

// fraction takes the decimals of a second, if there are any. Those beyond the
// ninth are cut off.
func (c *clock) fraction() (nanos, written int) {
	if !c.skip(".,") {
		return 0, 0
	}
	from := len(c.b)
	for unit := int(1e8); len(c.b) > 0 && c.b[0]-'0' <= 9; unit /= 10 {
		nanos += unit * int(c.b[0]-'0')
		c.b = c.b[1:]
	}
	c.bad = len(c.b) == from
	return nanos, min(from-len(c.b), 9)
}

// zone takes the zone off the front: none, Z, ±07:00 or ±0700.
func (c *clock) zone() time.Duration {
	if c.bad || len(c.b) == 0 || c.skip("Zz") {
		return 0
	}
	sign := time.Duration(1)
	if c.b[0] == '-' {
		sign = -1
	}
	hours := c.then("+-").digits(2)
	c.skip(":")
	minutes := c.digits(2)
	c.bad = c.bad || hours > 24 || minutes > 59
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}

// Day is the date that was read last, in UTC, and the minute: the lines of a log
// mostly have the same ones.
type Day struct {
	date string // of ten bytes, "" for none
	ns   int64  // at its start

	minute   [2]uint64 // "2006-01-15T15:04", zeros for none
	minuteNS int64     // at its start
}

const dayNS = 24 * int64(time.Hour)

// Remember takes the date from a time that ParseInstant read.
func (d *Day) Remember(b []byte, ns int64) {
	if len(b) >= len("2006-01-02T15:04:05Z") && b[4] == '-' && b[10] == 'T' && b[len(b)-1] == 'Z' {
		sinceMidnight := (ns%dayNS + dayNS) % dayNS
		d.date, d.ns = string(b[:10]), ns-sinceMidnight
	}
}

// Instant reads a time of the same date, as RFC 3339 writes it with the zone Z; ok
// is false for any other.
func (d *Day) Instant(b []byte) (ns int64, ok bool) {
	if len(b) < len("2006-01-02T15:04:05Z") || b[16] != ':' || b[len(b)-1] != 'Z' {
		return 0, false
	}
	if (eight(b) != d.minute[0] || eight(b[8:]) != d.minute[1]) && !d.turn(b) {
		return 0, false
	}
	second := twoDigits(b[17:])
	if len(b) == len("2006-01-02T15:04:05.123456789Z") && b[19] == '.' { // as most loggers write that write nanoseconds
		v, digits := eightDigits(eight(b[20:]))
		last := b[28] - '0'
		return d.minuteNS + int64(second)*int64(time.Second) + int64(v)*10 + int64(last), digits && last <= 9 && second <= 59
	}
	fraction, ok := decimals(b[19 : len(b)-1])
	return d.minuteNS + int64(second)*int64(time.Second) + fraction, ok && second <= 59
}

// turn goes to the minute of b, if that is of the date.
func (d *Day) turn(b []byte) bool {
	hour, minute := twoDigits(b[11:]), twoDigits(b[14:])
	if string(b[:10]) != d.date || b[10] != 'T' || b[13] != ':' || hour > 23 || minute > 59 {
		return false
	}
	d.minute = [2]uint64{eight(b), eight(b[8:])}
	d.minuteNS = d.ns + int64(hour*60+minute)*int64(time.Minute)
	return true
}

// decimals reads a point and one to nine decimals of a second, or nothing.
func decimals(b []byte) (ns int64, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	if len(b) < 2 || len(b) > 10 || b[0] != '.' {
		return 0, false
	}
	rest, unit := b[1:], int64(time.Second)/10
	if len(rest) >= 8 {
		v, digits := eightDigits(eight(rest))
		if !digits {
			return 0, false
		}
		ns, rest, unit = int64(v)*10, rest[8:], 1
	}
	for _, d := range rest {
		if d-'0' > 9 {
			return 0, false
		}
		ns, unit = ns+unit*int64(d-'0'), unit/10
	}
	return ns, true
}

// twoDigits reads two digits, more than 99 where they are none.
func twoDigits(b []byte) int {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return 100
	}
	return int(tens)*10 + int(ones)
}
