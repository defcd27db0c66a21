package runs

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Sum is an unsigned 128-bit sum of nanoseconds: Hi*2^64 + Lo.
type Sum struct{ Hi, Lo uint64 }

// Add adds a value so many times; it is not negative.
func (s *Sum) Add(value int64, count uint64) {
	hi, lo := bits.Mul64(uint64(value), count)
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, lo, 0)
	s.Hi += hi + carry
}

// times returns the sum of s taken n times over.
func (s Sum) times(n uint64) Sum {
	hi, lo := bits.Mul64(s.Lo, n)
	return Sum{hi + s.Hi*n, lo}
}

// Mean returns the sum over n, rounded half up. n is not 0, and as every
// value is below 2^63 the quotient fits.
func (s Sum) Mean(n uint64) int64 {
	lo, carry := bits.Add64(s.Lo, n/2, 0)
	q, _ := bits.Div64(s.Hi+carry, lo, n)
	return int64(q)
}

// Plus returns s + o.
func (s Sum) Plus(o Sum) Sum {
	lo, carry := bits.Add64(s.Lo, o.Lo, 0)
	return Sum{s.Hi + o.Hi + carry, lo}
}

// Minus returns s - o; o is not above s.
func (s Sum) Minus(o Sum) Sum {
	lo, borrow := bits.Sub64(s.Lo, o.Lo, 0)
	return Sum{s.Hi - o.Hi - borrow, lo}
}

// AtMost reports s <= o.
func (s Sum) AtMost(o Sum) bool { return s.Compare(o) <= 0 }

// Compare returns -1, 0 or +1 as s is below, equal to or above o.
func (s Sum) Compare(o Sum) int { return cmp.Or(cmp.Compare(s.Hi, o.Hi), cmp.Compare(s.Lo, o.Lo)) }

// Portion returns max(1, ceil(s num/den)), the nearest rank of a sum of weights.
// num is at most den, and s below 2^127.
func (s Sum) Portion(num, den uint64) Sum {
	r := s.scaled(num, den, den-1)
	if r.Hi == 0 {
		r.Lo = max(1, r.Lo)
	}
	return r
}

// After returns floor(s num/den) + 1: what comes first after that portion.
func (s Sum) After(num, den uint64) Sum { return s.scaled(num, den, den) }

// scaled returns (s num + more)/den rounded down; num and more are at most den.
func (s Sum) scaled(num, den, more uint64) Sum {
	mid, lo := bits.Mul64(s.Lo, num)
	top, high := bits.Mul64(s.Hi, num)
	mid, carry := bits.Add64(mid, high, 0)
	top += carry
	lo, carry = bits.Add64(lo, more, 0)
	mid, carry = bits.Add64(mid, 0, carry)
	top += carry
	// As s is below 2^127, top is below den and no division overflows.
	hi, rest := bits.Div64(top, mid, den)
	lo, _ = bits.Div64(rest, lo, den)
	return Sum{hi, lo}
}

// Big returns s as a big.Int.
func (s Sum) Big() *big.Int {
	hi := new(big.Int).SetUint64(s.Hi)
	return hi.Lsh(hi, 64).Or(hi, new(big.Int).SetUint64(s.Lo))
}

// Float returns the float64 next to s.
func (s Sum) Float() float64 { return float64(s.Hi)*(1<<64) + float64(s.Lo) }

// Share returns the float64 nearest to s/o; o is not 0.
func (s Sum) Share(o Sum) float64 {
	ratio, _ := new(big.Rat).SetFrac(s.Big(), o.Big()).Float64()
	return ratio
}

// OutOf returns n s/o rounded down and up; o is not 0.
func (s Sum) OutOf(o Sum, n uint64) (down, up uint64) {
	product := new(big.Int).Mul(s.Big(), new(big.Int).SetUint64(n))
	whole, rest := product.DivMod(product, o.Big(), new(big.Int))
	down = whole.Uint64()
	if rest.Sign() > 0 {
		return down, down + 1
	}
	return down, down
}
