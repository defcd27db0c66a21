// Package moment reads times and durations, exactly and in whole nanoseconds: numbers
// in a unit, texts with their own units, RFC 3339.
package moment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Faults of a number or a duration. They choose the reason of a reject.
var (
	ErrNotNumber = errors.New("not a number")
	errInfinite  = errors.New("not a finite number")
	ErrNegative  = errors.New("negative")
	ErrTooLarge  = errors.New("larger than 292 years")
	ErrNoUnit    = errors.New("no unit")
	// ErrWrapped is an ErrNegative.
	ErrWrapped = fmt.Errorf("%w, written without its sign", ErrNegative)
	// ErrOutside is a time that nanoseconds since 1970 do not reach.
	ErrOutside = errors.New("not in the years 1678 to 2261")
)

// Decimal is ±mantissa × 10^exponent. Digits that do not fit are dropped; what
// rounding needs to know of them is remembered.
type Decimal struct {
	Negative bool
	Mantissa uint64
	exponent int
	full     bool // a digit was dropped, and so is every one after it
	half     bool // the first digit dropped was 5 or more
	rest     bool // a dropped digit was not zero
	decimals int  // digits written after the point, less the exponent
}

// The largest mantissa to which a digit can be appended within 64 bits, and the
// largest digit that can.
const (
	roomForDigit = math.MaxUint64 / 10
	lastDigit    = math.MaxUint64 % 10
)

// maxExponent keeps the exponent's arithmetic from overflow. No line has as many
// digits, so that anything beyond it is zero or too large in any unit.
const maxExponent = 1 << 27

// ParseDecimal reads a decimal number, the whole of b: sign, digits, point,
// exponent, as JSON writes them, and also "+1", ".5" and "1.".
func ParseDecimal(b []byte) (Decimal, error) {
	d, n, err := scanDecimal(b)
	if err == nil && n != len(b) {
		err = ErrNotNumber
	}
	return d, err
}

// scanDecimal reads the number at the start of b and returns its length.
func scanDecimal(b []byte) (d Decimal, n int, err error) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.Negative = b[i] == '-'
		i++
	}
	from := i
	i = d.digits(b, i, false)
	count := i - from
	if i < len(b) && b[i] == '.' {
		end := d.digits(b, i+1, true)
		count += end - i - 1
		i = end
	}
	if count == 0 {
		return d, 0, ErrNotNumber
	}
	i = d.scanExponent(b, i)
	return d, i, nil
}

func (d *Decimal) digits(b []byte, i int, fraction bool) int {
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		d.digit(b[i]-'0', fraction)
	}
	return i
}

func (d *Decimal) digit(v byte, fraction bool) {
	if fraction {
		d.decimals++
	}
	if !d.full && (d.Mantissa < roomForDigit || d.Mantissa == roomForDigit && v <= lastDigit) {
		d.Mantissa = d.Mantissa*10 + uint64(v)
		if fraction {
			d.exponent--
		}
		return
	}
	if !d.full {
		d.full, d.half = true, v >= 5
	}
	d.rest = d.rest || v != 0
	if !fraction {
		d.exponent++
	}
}

// scanExponent reads "e±n" at b[i:], if it is there whole.
func (d *Decimal) scanExponent(b []byte, i int) int {
	if i >= len(b) || b[i]|0x20 != 'e' {
		return i
	}
	j, negative := i+1, false
	if j < len(b) && (b[j] == '-' || b[j] == '+') {
		negative = b[j] == '-'
		j++
	}
	from, e := j, 0
	for ; j < len(b) && b[j]-'0' <= 9; j++ {
		e = min(e*10+int(b[j]-'0'), maxExponent)
	}
	if j == from {
		return i
	}
	if negative {
		e = -e
	}
	d.exponent += e
	d.decimals = max(0, d.decimals-e)
	return j
}

// Nanoseconds is d × 10^digits, the unit's power of ten over a nanosecond. What
// is finer than a nanosecond is rounded half up, and exact is then false.
func (d Decimal) Nanoseconds(digits int) (ns int64, exact bool, err error) {
	return d.scale(1, digits)
}

// scale is nanoseconds for units that are a multiple of a power of ten.
func (d Decimal) scale(times uint64, digits int) (ns int64, exact bool, err error) {
	if d.Mantissa == 0 {
		return 0, true, nil
	}
	if d.Negative {
		return 0, false, ErrNegative
	}
	e := d.exponent + digits
	if e < 0 {
		return d.shrink(times, -e)
	}
	if e > 18 {
		return 0, false, ErrTooLarge
	}
	over, lo := bits.Mul64(d.Mantissa, times)
	hi, lo := bits.Mul64(lo, Pow10[e])
	if d.half && e == 0 {
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	if over != 0 || hi != 0 || lo > math.MaxInt64 {
		return 0, false, ErrTooLarge
	}
	return int64(lo), !d.rest, nil
}

// shrink is d.mantissa × times / 10^e, rounded half up.
func (d Decimal) shrink(times uint64, e int) (ns int64, exact bool, err error) {
	hi, lo := bits.Mul64(d.Mantissa, times)
	if e > maxPower {
		var r uint64
		lo, r = bits.Div64(hi, lo, 1e4) // hi < times < 1e4
		d.rest = d.rest || r != 0
		hi, e = 0, e-4
	}
	if e > maxPower {
		return 0, false, nil
	}
	p := Pow10[e]
	if hi >= p {
		return 0, false, ErrTooLarge
	}
	q, r := bits.Div64(hi, lo, p)
	if r >= p-r {
		q++
	}
	if q > math.MaxInt64 {
		return 0, false, ErrTooLarge
	}
	return int64(q), r == 0 && !d.rest, nil
}

const maxPower = len(Pow10) - 1

var Pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// eight returns the eight bytes at the start of b, the first one lowest.
func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Digits is the value of up to 19 digits.
func Digits(b []byte) (v uint64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for ; len(b) >= 8; b = b[8:] {
		part, ok := eightDigits(eight(b))
		if !ok {
			return 0, false
		}
		v = v*1e8 + part
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, true
}

// eightDigits is the value of eight digits, the first one lowest in w: pairs are
// joined to twos, fours and eights.
func eightDigits(w uint64) (v uint64, ok bool) {
	const high = jsonscan.LowBits * 0xf0
	if w&high != jsonscan.LowBits*'0' || (w+jsonscan.LowBits*6)&high != jsonscan.LowBits*'0' {
		return 0, false
	}
	w -= jsonscan.LowBits * '0'
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return ((w&pairs)*(100+1e6<<32) + (w>>16&pairs)*(1+1e4<<32)) >> 32, true
}
