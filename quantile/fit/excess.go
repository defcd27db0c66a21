package fit

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/runs"
)

// exceedances are the values above a high threshold u, which is itself one of the
// values. They are scaled by the largest excess, so that all lie in (0, 1].
type exceedances struct {
	n         uint64 // attempts in all
	threshold int64  // u, in ns
	largest   int64  // excess, in ns
	completed []mass
	cut       []mass
	k, c      uint64 // how many those are
	mean      float64
	slowest   int64 // completed value, 0 where there is none
}

// mass is count excesses of one scaled value, or of some that lie close together:
// at is their mean, rest is 1-at without its rounding, spread count times their
// variance.
type mass struct{ at, rest, count, spread float64 }

// excessDigits makes bins of excesses less than 2^-7 as wide as they are away
// from 0 or from the largest, whichever is nearer. There the third derivative of
// log(1-y+y E), for any E > 0, is at most 2/distance^3, and with mean and variance
// right the error of a sum over log is below .032 x 2^-21 a value, 1.6e-8.
const excessDigits = 7

// thresholdSize is m, the number of values above the threshold when none are
// tied: a tenth of n or three times the cuts, but at most half.
func thresholdSize(n, cut uint64) uint64 {
	return min(n/2+n%2, max(n/10+min(1, n%10), 3*min(cut, n/2)))
}

// exceed reads the exceedances of a right-censored sample, cuts at their
// recorded or censoring time. Without values there are none.
func exceed(completed, cut quantile.Union) exceedances {
	e := exceedances{n: completed.N() + cut.N()}
	if e.n == 0 {
		return e
	}
	m := thresholdSize(e.n, cut.N())
	ends := runs.NewRankQuery(append(append(quantile.Union(nil), completed...), cut...), []uint64{max(1, e.n-m), e.n})
	last := runs.NewRankQuery(completed, []uint64{completed.N()})
	runs.Answer(ends, last)
	e.threshold, e.largest = ends.Values[0], ends.Values[1]-ends.Values[0]
	if completed.N() > 0 {
		e.slowest = last.Values[0]
	}
	if e.largest == 0 {
		return e
	}
	e.completed, e.k = e.read(completed)
	e.cut, e.c = e.read(cut)
	sum := 0.0
	for _, m := range slices.Concat(e.completed, e.cut) {
		sum += m.count * m.at
	}
	e.mean = sum / float64(e.k+e.c)
	return e
}

// read returns the excesses among the values, and their number.
func (e *exceedances) read(values quantile.Union) (masses []mass, count uint64) {
	cursor := values.Cursor()
	cursor.UpTo(e.threshold)
	for _, c := range binned(&cursor, e.key) {
		masses = append(masses, e.mass(c))
		count += c.count
	}
	return masses, count
}

// key is that of the bins: see excessDigits.
func (e *exceedances) key(value int64) uint64 {
	const upper = 1 << 63
	y, rest := uint64(value-e.threshold), uint64(e.largest-(value-e.threshold))
	if y <= rest {
		return octave(y, excessDigits)
	}
	return upper | octave(rest, excessDigits)
}

func (e *exceedances) mass(c bin) mass {
	all, y := float64(e.largest), c.first-e.threshold
	n := float64(c.count)
	return mass{
		at:     (float64(y) + c.offset()) / all,
		rest:   (float64(e.largest-y) - c.offset()) / all,
		count:  n,
		spread: n * c.variance() / all / all,
	}
}

// share is zeta, that of all attempts which lie above the threshold.
func (e *exceedances) share() float64 { return float64(e.k+e.c) / float64(e.n) }

// logSum returns the sum of log(1 + t y) over the masses, t = e^s - 1. As
// 1 + t y = (1-y) + y e^s, nothing cancels.
func logSum(list []mass, s float64) float64 {
	e, t := math.Exp(s), math.Expm1(s)
	sum, product := 0.0, 1.0
	for _, m := range list {
		x := m.rest + m.at*e
		if m.count != 1 {
			d := t / x
			sum += m.count*math.Log(x) - m.spread*d*d/2
			continue
		}
		// One logarithm for many factors: it is what a pass spends its time on.
		if product *= x; product > 1e200 || product < 1e-200 {
			sum, product = sum+math.Log(product), 1
		}
	}
	return sum + math.Log(product)
}
