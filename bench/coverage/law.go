package main

import (
	"math"
	"slices"
	"sync"
)

// law is a distribution of the durations that attempts would have, had nothing ended
// them, in ms. It is drawn as a function of a standard normal number, so that attempts
// can go the same way.
type law struct {
	name string
	of   func(z float64) float64
	cdf  func(ms float64) float64
}

func normalCDF(z float64) float64 { return .5 * math.Erfc(-z/math.Sqrt2) }

// logNormal has this median, in ms, and this sigma of the logarithms.
func logNormal(median, sigma float64) law {
	return law{
		"lognormal",
		func(z float64) float64 { return median * math.Exp(sigma*z) },
		func(ms float64) float64 { return normalCDF(math.Log(ms/median) / sigma) },
	}
}

func pareto(alpha, least float64) law {
	return law{
		"Pareto",
		func(z float64) float64 { return least * math.Pow(normalCDF(-z), -1/alpha) },
		func(ms float64) float64 { return 1 - math.Pow(max(1, ms/least), -alpha) },
	}
}

// twoModes has so many in a hundred thousand of a slow mode among those of a fast one. Its
// quantiles stand in a table, 100 to the unit of z, between which it is geometric.
func twoModes(fast, slow law, share float64) law {
	const each, most = 100, 8
	l := law{name: "two modes", cdf: func(ms float64) float64 { return (1-share)*fast.cdf(ms) + share*slow.cdf(ms) }}
	table := make([]float64, 2*most*each+2)
	for i := range table {
		table[i] = math.Log(l.inverse(normalCDF(float64(i)/each - most)))
	}
	l.of = func(z float64) float64 {
		at := (min(max(z, -most), most) + most) * each
		i := int(at)
		return math.Exp(table[i] + (at-float64(i))*(table[i+1]-table[i]))
	}
	return l
}

// inverse is the quantile, found by halving.
func (l law) inverse(p float64) float64 {
	low, high := math.Log(1e-6), math.Log(1e12)
	for range 60 {
		if mid := (low + high) / 2; l.cdf(math.Exp(mid)) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp((low + high) / 2)
}

// laws are those of the table.
var laws = sync.OnceValue(func() []law {
	return []law{logNormal(60, 1), pareto(1.5, 21.37), twoModes(logNormal(50, .4), logNormal(600, .25), .03)}
})

// cleanLaws are smooth ones in which no timeout may be suspected; of one mode and of two,
// light tails and heavy ones.
func cleanLaws() []law {
	exponential := law{"exponential", func(z float64) float64 { return -60 * math.Log(normalCDF(-z)) }, func(ms float64) float64 { return -math.Expm1(-ms / 60) }}
	weibull := func(name string, shape float64) law {
		return law{name, func(z float64) float64 { return 60 * math.Pow(-math.Log(normalCDF(-z)), 1/shape) }, nil}
	}
	list := append(slices.Clip(laws()), exponential, weibull("Weibull, shape 0.7", .7), weibull("Weibull, shape 1.5", 1.5), weibull("Weibull, shape 3", 3))
	for _, l := range []struct {
		name  string
		sigma float64
	}{{"lognormal, σ 0.3", .3}, {"lognormal, σ 2", 2}} {
		one := logNormal(60, l.sigma)
		one.name = l.name
		list = append(list, one)
	}
	heavy := pareto(1.1, 20)
	heavy.name = "Pareto, α 1.1"
	return append(list, heavy)
}

// mixed is a law whose durations come with factors, of which each has a weight; the
// weights add up to 1.
func (l law) mixed(factors, weights []float64) law {
	if len(factors) == 0 {
		return l
	}
	return law{name: l.name, of: l.of, cdf: func(ms float64) (p float64) {
		for i, f := range factors {
			p += weights[i] * l.cdf(ms/f)
		}
		return p
	}}
}
