package fit

import (
	"math"

	"github.com/tailscope/tailscope/quantile"
)

// goodness compares exceedances with their fit.
type goodness struct {
	distance   float64 // largest between the Kaplan-Meier curve and the fit so far
	n          float64
	done       float64 // completed so far
	odds, logs float64 // sums of the Anderson-Darling statistic
}

// goodnessOf walks over the exceedances once more, value by value.
func goodnessOf(f *paretoFit, completed, cut quantile.Union) *goodness {
	g := &goodness{n: float64(f.k + f.c)}
	before := 1.0
	for now := range quantile.KMBeyond(completed, cut, f.threshold) {
		beyond := f.beyond(f.scaled(now.Time))
		g.distance = max(g.distance, math.Abs(before-beyond), math.Abs(now.Survival-beyond))
		g.complete(float64(now.Completed), beyond)
		before = now.Survival
	}
	return g
}

// scaled is an excess as a part of the largest, and what is missing of it.
func (e *exceedances) scaled(value int64) (at, rest float64) {
	y := value - e.threshold
	return float64(y) / float64(e.largest), float64(e.largest-y) / float64(e.largest)
}

// complete adds the terms of m completed exceedances of one value, with the ranks
// after done.
func (g *goodness) complete(m, beyond float64) {
	if m == 0 {
		return
	}
	log := math.Log(beyond)
	g.odds += m * (2*g.done + m) * (math.Log1p(-beyond) - log)
	g.logs += m * log
	g.done += m
}

// kolmogorovSmirnov is the restricted statistic: the root of the number of
// exceedances times the largest distance from the threshold to the largest of
// them.
func (g *goodness) kolmogorovSmirnov() float64 { return math.Sqrt(g.n) * g.distance }

// andersonDarling is A^2 of a sample cut at one time with the share beyond of the
// fit above it; without cuts that of a complete one. Source: Pettitt and Stephens, Biometrika
// 63 (1976), as in D'Agostino and Stephens, Goodness-of-Fit Techniques (1986),
// 4.7.
func (g *goodness) andersonDarling(beyond float64) float64 {
	left, cut := g.n-g.done, 1.0
	if left > 0 {
		cut = 1 - beyond
	}
	a := -g.odds/g.n - 2*g.logs - g.n*cut
	if left > 0 {
		a -= (left*left*math.Log(beyond) - g.done*g.done*math.Log(cut)) / g.n
	}
	return a
}
