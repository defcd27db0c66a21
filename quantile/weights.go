package quantile

import (
	"math"
	"math/big"
	"math/bits"
)

// unitBits is the size of the largest weight in units: with counts below 2^63
// every sum of weights stays below 2^126.
const unitBits = 62

// unitsOf turns weights, which are above 0 and finite, into integers in the same
// ratio, so that sums of them depend on no order and compare exactly. A weight
// below 2^-62 of the largest counts as that; whole weights, and all others whose
// digits span 62 bits, lose nothing.
func unitsOf(weights []float64) []int64 {
	largest := 0.0
	for _, w := range weights {
		largest = max(largest, w)
	}
	_, exponent := math.Frexp(largest)
	units := make([]int64, len(weights))
	for i, w := range weights {
		units[i] = max(1, int64(math.RoundToEven(math.Ldexp(w, unitBits-exponent))))
	}
	return units
}

// plus returns s + o.
func (s Sum) plus(o Sum) Sum {
	lo, carry := bits.Add64(s.Lo, o.Lo, 0)
	return Sum{s.Hi + o.Hi + carry, lo}
}

// minus returns s - o; o is not above s.
func (s Sum) minus(o Sum) Sum {
	lo, borrow := bits.Sub64(s.Lo, o.Lo, 0)
	return Sum{s.Hi - o.Hi - borrow, lo}
}

// atMost reports s <= o.
func (s Sum) atMost(o Sum) bool {
	return s.Hi < o.Hi || s.Hi == o.Hi && s.Lo <= o.Lo
}

// portion returns max(1, ceil(s num/den)), the nearest rank of a sum of weights.
// num is at most den, and s below 2^127.
func (s Sum) portion(num, den uint64) Sum {
	r := s.scaled(num, den, den-1)
	if r.Hi == 0 {
		r.Lo = max(1, r.Lo)
	}
	return r
}

// after returns floor(s num/den) + 1: what comes first after that portion.
func (s Sum) after(num, den uint64) Sum { return s.scaled(num, den, den) }

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

func (s Sum) big() *big.Int {
	hi := new(big.Int).SetUint64(s.Hi)
	return hi.Lsh(hi, 64).Or(hi, new(big.Int).SetUint64(s.Lo))
}

// share returns the float64 nearest to s/o; o is not 0.
func (s Sum) share(o Sum) float64 {
	ratio, _ := new(big.Rat).SetFrac(s.big(), o.big()).Float64()
	return ratio
}

// outOf returns n s/o rounded down and up; o is not 0.
func (s Sum) outOf(o Sum, n uint64) (down, up uint64) {
	product := new(big.Int).Mul(s.big(), new(big.Int).SetUint64(n))
	whole, rest := product.DivMod(product, o.big(), new(big.Int))
	down = whole.Uint64()
	if rest.Sign() > 0 {
		return down, down + 1
	}
	return down, down
}

// effective returns n_eff = (sum of w)^2 / sum of w^2 rounded down, of counts[i]
// values of weight units[i]: so many equal ones know as much. Source: Kish,
// Survey Sampling (1965), 11.7.
func effective(units []int64, counts []uint64) uint64 {
	sum, squares := new(big.Int), new(big.Int)
	for i, u := range units {
		w, all := big.NewInt(u), new(big.Int).SetUint64(counts[i])
		all.Mul(all, w)
		sum.Add(sum, all)
		squares.Add(squares, all.Mul(all, w))
	}
	if squares.Sign() == 0 {
		return 0
	}
	return sum.Mul(sum, sum).Div(sum, squares).Uint64()
}
