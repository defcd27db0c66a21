package quantile

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// summedFrom is the size from which binomial tails are summed. The continued
// fraction behind RegIncBeta stops after 300 terms; near the mean it needs
// about the root of n, and its logarithms of gamma lose digits besides. For
// n = 10^9 and p = 1/2 ranks found with it are off by 26,000.
const summedFrom = 10_000

// chance is a probability with its complement, so that neither loses digits
// where the other is near 1.
type chance struct{ p, q float64 }

func (p P) chance() chance { return chance{p.Float(), p.Beyond()} }

// atLeast returns P(Bin(n, p) >= k) = I_p(k, n-k+1), for any k.
func (c chance) atLeast(k, n uint64) float64 {
	switch {
	case k == 0:
		return 1
	case k > n || c.p <= 0:
		return 0
	case c.q <= 0:
		return 1
	case k == n:
		return math.Exp(float64(n) * c.logP())
	case n < summedFrom:
		return mathext.RegIncBeta(float64(k), float64(n-k+1), c.p)
	case float64(k) < float64(n)*c.p:
		// Below the mean the other tail is the short one: at least n-k+1 that
		// fail.
		return 1 - chance{c.q, c.p}.upperTail(n-k+1, n)
	}
	return c.upperTail(k, n)
}

func (c chance) logP() float64 {
	if c.q < .5 {
		return math.Log1p(-c.q)
	}
	return math.Log(c.p)
}

// upperTail sums P(Bin(n, p) >= k) from k upwards, for k above the mean.
func (c chance) upperTail(k, n uint64) float64 {
	term := c.mass(k, n)
	sum, odds := 0.0, c.p/c.q
	for left := float64(n - k); term > sum*1e-17; left-- {
		sum += term
		term *= left / (float64(n) - left + 1) * odds
	}
	return min(1, sum)
}

// mass returns P(Bin(n, p) = k). Source: Loader, Fast and Accurate Computation
// of Binomial Probabilities (2000).
func (c chance) mass(k, n uint64) float64 {
	x, m := float64(k), float64(n)
	if k == n {
		return math.Exp(m * c.logP())
	}
	if k == 0 {
		return math.Exp(m * chance{c.q, c.p}.logP())
	}
	y := m - x
	exponent := stirlingError(m) - stirlingError(x) - stirlingError(y) - deviance(x, m*c.p) - deviance(y, m*c.q)
	return math.Exp(exponent) * math.Sqrt(m/(2*math.Pi*x*y))
}

// stirlingError returns log n! less Stirling's formula for it.
func stirlingError(n float64) float64 {
	if n < 16 {
		g, _ := math.Lgamma(n + 1)
		return g - (n+.5)*math.Log(n) + n - .5*math.Log(2*math.Pi)
	}
	const s0, s1, s2, s3 = 1. / 12, 1. / 360, 1. / 1260, 1. / 1680
	nn := n * n
	return (s0 - (s1-(s2-s3/nn)/nn)/nn) / n
}

// deviance returns x log(x/m) + m - x without cancellation near x = m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= .1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum, power := (x-m)*v, 2*x*v
	for j := 3.0; ; j += 2 {
		power *= v * v
		next := sum + power/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// shareWhere returns the p with P(Bin(n, p) >= k) = y, for 1 <= k <= n and
// 0 < y < 1, which is the y-quantile of the beta distribution (k, n-k+1).
func shareWhere(k, n uint64, y float64) float64 {
	if n < summedFrom {
		return mathext.InvRegIncBeta(float64(k), float64(n-k+1), y)
	}
	lo, hi := 0.0, 1.0
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if (chance{mid, 1 - mid}).atLeast(k, n) < y {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
