package ingest

import (
	"errors"
	"math"
	"math/bits"
)

// Faults of a number or a duration. They choose the reason of a reject.
var (
	errNotNumber = errors.New("not a number")
	errInfinite  = errors.New("not a finite number")
	errNegative  = errors.New("negative")
	errTooLarge  = errors.New("larger than 292 years")
	errNoUnit    = errors.New("no unit")
)

// decimal is ±mantissa × 10^exponent. Digits that do not fit are dropped and
// remembered in rest, so that rounding stays right.
type decimal struct {
	negative bool
	mantissa uint64
	exponent int
	rest     bool // a dropped digit was not zero
	decimals int  // digits written after the point, less the exponent
}

// roomForDigit is the first mantissa to which no digit can be appended within
// 64 bits.
const roomForDigit = math.MaxUint64 / 10

// maxExponent keeps the exponent's arithmetic far from overflow; anything
// beyond it is zero or too large in any unit.
const maxExponent = 10000

// parseDecimal reads a decimal number, the whole of b: sign, digits, point,
// exponent, as JSON writes them, and also "+1", ".5" and "1.".
func parseDecimal(b []byte) (decimal, error) {
	d, n, err := scanDecimal(b)
	if err == nil && n != len(b) {
		err = errNotNumber
	}
	return d, err
}

// scanDecimal reads the number at the start of b and returns its length.
func scanDecimal(b []byte) (d decimal, n int, err error) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.negative = b[i] == '-'
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
		return d, 0, errNotNumber
	}
	i = d.scanExponent(b, i)
	return d, i, nil
}

func (d *decimal) digits(b []byte, i int, fraction bool) int {
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		d.digit(b[i]-'0', fraction)
	}
	return i
}

func (d *decimal) digit(v byte, fraction bool) {
	if fraction {
		d.decimals++
	}
	if d.mantissa < roomForDigit {
		d.mantissa = d.mantissa*10 + uint64(v)
		if fraction {
			d.exponent--
		}
		return
	}
	d.rest = d.rest || v != 0
	if !fraction {
		d.exponent++
	}
}

// scanExponent reads "e±n" at b[i:], if it is there whole.
func (d *decimal) scanExponent(b []byte, i int) int {
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

// nanoseconds scales d by 10^digits, the unit's power of ten over a
// nanosecond. What is finer than a nanosecond is rounded half up, and exact is
// then false.
func (d decimal) nanoseconds(digits int) (ns int64, exact bool, err error) {
	if d.mantissa == 0 {
		return 0, true, nil
	}
	if d.negative {
		return 0, false, errNegative
	}
	e := d.exponent + digits
	if e < 0 {
		ns, exact = d.shrink(-e)
		return ns, exact, nil
	}
	if e > 18 {
		return 0, false, errTooLarge
	}
	hi, lo := bits.Mul64(d.mantissa, pow10[e])
	if hi != 0 || lo > 1<<63-1 {
		return 0, false, errTooLarge
	}
	return int64(lo), !d.rest, nil
}

func (d decimal) shrink(e int) (ns int64, exact bool) {
	if e > 19 {
		return 0, false
	}
	p := pow10[e]
	q, r := d.mantissa/p, d.mantissa%p
	if r >= p-r {
		q++
	}
	return int64(min(q, 1<<63-1)), r == 0 && !d.rest
}

var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
