package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// lognormalFit is the lognormal distribution of a right-censored sample. In
// a = 1/sigma and b = mu/sigma its log-likelihood is concave. Logarithms are
// centred and scaled by those of the completed values. Source: Olsen, Econometrica
// 46 (1978); Lawless (2003), 5.3.
type lognormalFit struct {
	whole
	centre, unit float64
	cuts         []logMass // centred and scaled
	a, b         float64
	max          float64 // log-likelihood
}

// derivatives of the log-likelihood l at (a, b).
type derivatives struct{ l, a, b, aa, ab, bb float64 }

// fitLognormal needs completed values that are not all equal.
func fitLognormal(w whole) *lognormalFit {
	f := &lognormalFit{whole: w, centre: w.logs / w.d}
	squares := 0.0
	for _, m := range w.completed {
		d := m.log - f.centre
		squares += m.count * (d*d + m.spread*(1-d))
	}
	f.unit = math.Sqrt(squares / w.d)
	for _, m := range w.cut {
		f.cuts = append(f.cuts, logMass{log: (m.expected() - f.centre) / f.unit, count: m.count})
	}
	f.climb()
	return f
}

// at evaluates the log-likelihood. In these units the completed values have mean
// 0 and variance 1.
func (f *lognormalFit) at(a, b float64) derivatives {
	d := f.d
	v := derivatives{
		l: d*math.Log(a) - d*(a*a+b*b)/2,
		a: d/a - d*a, b: -d * b,
		aa: -d/a/a - d, bb: -d,
	}
	for _, c := range f.cuts {
		log, h := normalTail(a*c.log - b)
		curve := c.count * h * (h - a*c.log + b)
		v.l += c.count * log
		v.a -= c.count * h * c.log
		v.b += c.count * h
		v.aa -= curve * c.log * c.log
		v.ab += curve * c.log
		v.bb -= curve
	}
	return v
}

// climb is Newton's method for the maximum.
func (f *lognormalFit) climb() {
	f.a = 1
	now := f.at(f.a, f.b)
	for range 100 {
		da, db := now.step()
		length := f.uphill(now.l, da, db)
		if length == 0 || now.a*da+now.b*db <= 1e-13*f.d {
			break
		}
		f.a, f.b = f.a+length*da, f.b+length*db
		now = f.at(f.a, f.b)
	}
	f.max = now.l
}

// step is Newton's: the gradient over the curvature.
func (v derivatives) step() (da, db float64) {
	det := v.aa*v.bb - v.ab*v.ab
	return (v.b*v.ab - v.a*v.bb) / det, (v.a*v.ab - v.b*v.aa) / det
}

// uphill returns how much of a step goes up, 0 where none does.
func (f *lognormalFit) uphill(from, da, db float64) float64 {
	for length := 1.0; length > 1e-10; length /= 2 {
		if a := f.a + length*da; a > 0 && f.at(a, f.b+length*db).l >= from {
			return length
		}
	}
	return 0
}

// quantile returns that with the share beyond above it, in ns.
func (f *lognormalFit) quantile(beyond float64) float64 {
	return f.value((f.b - mathext.NormalQuantile(beyond)) / f.a)
}

// value turns a centred and scaled logarithm back.
func (f *lognormalFit) value(q float64) float64 { return f.mean * math.Exp(f.centre+f.unit*q) }

// bound is the profile upper bound of the quantile q = mu + sigma z.
func (f *lognormalFit) bound(beyond float64) float64 {
	z := -mathext.NormalQuantile(beyond)
	q := (f.b + z) / f.a
	a := f.a
	lost := func(q float64) bool {
		var l float64
		a, l = f.onLine(a, q, z)
		return f.max-l > halfDeviance
	}
	return f.value(edge(q, q+1e3*(1+math.Abs(q)), lost))
}

// onLine maximises the log-likelihood over b = q a - z, from a on.
func (f *lognormalFit) onLine(a, q, z float64) (best, l float64) {
	best = newton(a, func(a float64) (slope, curve float64) {
		v := f.at(a, q*a-z)
		l = v.l
		return v.a + q*v.b, v.aa + 2*q*v.ab + q*q*v.bb
	})
	return best, l
}

// normalTail returns the logarithm of the standard normal distribution's share
// beyond x, and its hazard there: density over share.
func normalTail(x float64) (log, hazard float64) {
	if x <= 30 {
		log = math.Log(.5 * math.Erfc(x/math.Sqrt2))
		return log, math.Exp(-x*x/2 - math.Log(2*math.Pi)/2 - log)
	}
	y := 1 / (x * x)
	series := 1 - y*(1-3*y*(1-5*y)) // Mills' ratio times x
	return -x*x/2 - math.Log(x*math.Sqrt(2*math.Pi)) + math.Log(series), x / series
}
