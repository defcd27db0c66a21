package quantile

import (
	"math"
	"math/big"
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
