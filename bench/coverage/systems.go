package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// distribution is one of durations, in units of its own.
type distribution struct {
	draw     func(r *rand.Rand) float64
	quantile func(p float64) float64
}

func lognormal(sigma float64) distribution {
	return distribution{
		func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) },
		func(p float64) float64 { return math.Exp(sigma * mathext.NormalQuantile(p)) },
	}
}

// inverse draws by the quantile function.
func inverse(quantile func(p float64) float64) distribution {
	return distribution{func(r *rand.Rand) float64 { return quantile(r.Float64()) }, quantile}
}

func weibull(shape float64) distribution {
	return inverse(func(p float64) float64 { return math.Pow(-math.Log1p(-p), 1/shape) })
}

func lomax(alpha float64) distribution {
	return inverse(func(p float64) float64 { return math.Expm1(-math.Log1p(-p) / alpha) })
}

// gamma of a whole shape is a sum of exponentials.
func gamma(shape int) distribution {
	return distribution{
		func(r *rand.Rand) float64 {
			sum := 0.0
			for range shape {
				sum += r.ExpFloat64()
			}
			return sum
		},
		func(p float64) float64 { return mathext.GammaIncRegInv(float64(shape), p) },
	}
}

// mixture of a fast mode and a slow one.
func mixture(fast, slow distribution, slowShare float64) distribution {
	return distribution{
		func(r *rand.Rand) float64 {
			if r.Float64() < slowShare {
				return slow.draw(r)
			}
			return fast.draw(r)
		},
		func(p float64) float64 { return mixedQuantile(fast, slow, slowShare, p) },
	}
}

// mixedQuantile needs modes that do not overlap beyond p: what is not slow lies
// below what is.
func mixedQuantile(fast, slow distribution, slowShare, p float64) float64 {
	if p < 1-slowShare {
		return fast.quantile(p / (1 - slowShare))
	}
	return slow.quantile((p - (1 - slowShare)) / slowShare)
}

// around is a narrow mode at some value.
func around(centre float64) distribution {
	narrow := lognormal(.1)
	return distribution{
		func(r *rand.Rand) float64 { return centre * narrow.draw(r) },
		func(p float64) float64 { return centre * narrow.quantile(p) },
	}
}

// system is what a hop may be like.
type system struct {
	name string
	distribution
	// cut is the share that lies beyond each of the walls, one hop a wall; where a
	// system has two timeouts, every second attempt has one twice as far.
	cut      []float64
	twoWalls bool
	// Attempts of one trace depend on each other: so many, with this correlation
	// of their logarithms, which are normal.
	perTrace    int
	correlation float64
	effect      bool // limits take the design effect of traces into account
	kind        kind
}

// kind is what is asked of a system.
type kind uint8

const (
	oneMode      kind = iota // estimates must hold
	slowMode                 // nothing in the data shows it
	dependent                // not what the limits assume
	counteracted             // dependent, and the limits know it
	manyWalls                // no estimate is allowed
)

var cutShares = []float64{.02, .05, .1}

func systems() []system {
	one := func(name string, d distribution) system {
		return system{name: name, distribution: d, cut: cutShares, perTrace: 1}
	}
	list := []system{
		one("lognormal, σ 1", lognormal(1)), one("lognormal, σ 0.5", lognormal(.5)),
		one("Weibull, shape 0.7", weibull(.7)), one("Weibull, shape 1.5", weibull(1.5)),
		one("Lomax, α 3", lomax(3)), one("Lomax, α 2", lomax(2)), one("gamma, shape 2", gamma(2)),
	}
	for _, walls := range []float64{2, 5, 10} {
		list = append(list, withSlowMode(walls))
	}
	for _, calls := range []int{10, 50} {
		independent, counted := clustered(calls), clustered(calls)
		independent.name += ", taken for independent"
		counted.name += ", with the design effect"
		counted.effect, counted.kind = true, counteracted
		list = append(list, independent, counted)
	}
	two := one("lognormal, σ 1, two timeouts", lognormal(1))
	two.twoWalls, two.kind = true, manyWalls
	return append(list, two)
}

// withSlowMode has one attempt in fifty at so many walls. The wall lies where it
// cuts two in a hundred of the others.
func withSlowMode(walls float64) system {
	const slow, alsoCut = .02, .02
	fast := lognormal(1)
	wall := fast.quantile(1 - alsoCut)
	return system{
		name: "lognormal, σ 1, and a slow mode of 2 % at " + decimal(walls) + " timeouts", kind: slowMode, perTrace: 1,
		distribution: mixture(fast, around(walls*wall), slow), cut: []float64{slow + alsoCut*(1-slow)},
	}
}

func clustered(calls int) system {
	return system{
		name: "lognormal, σ 1, " + decimal(float64(calls)) + " calls a trace, correlation 0.3", distribution: lognormal(1), cut: cutShares,
		perTrace: calls, correlation: .3, kind: dependent,
	}
}

// attempts draws n durations.
func (s system) attempts(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	shared := 0.0
	for i := range values {
		if s.correlation == 0 {
			values[i] = s.draw(r)
			continue
		}
		if i%s.perTrace == 0 {
			shared = math.Sqrt(s.correlation) * r.NormFloat64()
		}
		values[i] = math.Exp(shared + math.Sqrt(1-s.correlation)*r.NormFloat64())
	}
	return values
}

// wall of a hop of which this share is cut.
func (s system) wall(cut float64) float64 {
	if s.kind == slowMode {
		return lognormal(1).quantile(.98)
	}
	return s.quantile(1 - cut)
}
