package fit

import "math"

// weibullFit is the Weibull distribution of a right-censored sample. For each
// shape the scale has its maximum in closed form, and the profile is concave in
// the shape. Source: Lawless, Statistical Models and Methods for Lifetime Data,
// 2nd ed. (2003), 5.2.
type weibullFit struct {
	whole
	shape  float64
	max    float64 // log-likelihood
	lo, hi float64 // shapes between which it loses no more than halfDeviance
	sums   *series // of log sum of x^k, k from lo to hi; its features are as wide as k, the interval is not
}

// fitWeibull needs completed values that are not all equal.
func fitWeibull(w whole) *weibullFit {
	f := &weibullFit{whole: w}
	f.shape = newton(f.start(), func(k float64) (value, slope float64) {
		_, first, second := f.powers(k)
		return f.d/k + f.logs - f.d*first, -f.d/k/k - f.d*second
	})
	logSum, _, second := f.powers(f.shape)
	f.max, _ = f.likelihood(f.shape, logSum)
	wald := math.Sqrt(2 * halfDeviance / (f.d/f.shape/f.shape + f.d*second))
	f.lo, f.hi = f.limit(max(f.shape-wald, f.shape/2)), f.limit(f.shape+wald)
	f.sums = interpolate(f.lo, f.hi, func(k float64) [2]float64 {
		logSum, _, _ := f.powers(k)
		return [2]float64{logSum}
	})
	return f
}

// powers returns the logarithm of the sum of x^k over all values, and its first
// two derivatives.
func (f *weibullFit) powers(k float64) (logSum, first, second float64) {
	top := f.highest() * k
	var sum, logs, squares float64
	for _, list := range [...][]logMass{f.completed, f.cut} {
		for _, m := range list {
			p := m.count * math.Exp(k*m.log-top)
			q := p * (1 + k*(k-1)/2*m.spread)
			sum += q
			logs += q*m.log + p*(k-.5)*m.spread
			squares += q * m.log * m.log
		}
	}
	first = logs / sum
	return math.Log(sum) + top, first, squares/sum - first*first
}

// highest is the largest logarithm: powers are taken relative to it.
func (f *weibullFit) highest() float64 {
	top := f.completed[len(f.completed)-1].log
	if n := len(f.cut); n > 0 {
		top = max(top, f.cut[n-1].log)
	}
	return top
}

// likelihood is the logarithm of it with the scale at its maximum for this shape,
// and that of theta, the scale to the power of the shape.
func (f *weibullFit) likelihood(k, logSum float64) (l, logTheta float64) {
	logTheta = logSum - math.Log(f.d)
	return f.d*math.Log(k) - f.d*logTheta + (k-1)*f.logs - f.d, logTheta
}

// start is the shape that a complete sample with this variance of the logarithms
// would have.
func (f *weibullFit) start() float64 {
	mean, squares := f.logs/f.d, 0.0
	for _, m := range f.completed {
		d := m.expected() - mean
		squares += m.count * (d*d + m.spread)
	}
	return math.Pi / math.Sqrt(6*squares/f.d)
}

// limit returns the shape at which halfDeviance is lost, on the side of a first
// guess. The profile is concave, so Newton's method comes to it from outside.
func (f *weibullFit) limit(guess float64) float64 {
	return newton(guess, func(k float64) (value, slope float64) {
		logSum, first, _ := f.powers(k)
		l, _ := f.likelihood(k, logSum)
		return l - f.max + halfDeviance, f.d/k + f.logs - f.d*first
	})
}

// quantile returns that with the share beyond above it, in ns.
func (f *weibullFit) quantile(beyond float64) float64 {
	logSum, _, _ := f.powers(f.shape)
	_, logTheta := f.likelihood(f.shape, logSum)
	return f.mean * math.Exp((logTheta+math.Log(-math.Log(beyond)))/f.shape)
}

// bound is the profile upper bound of the quantile: the largest that any shape
// and scale give which lose no more than halfDeviance.
func (f *weibullFit) bound(beyond float64) float64 {
	log := func(k float64) float64 {
		l, logTheta := f.likelihood(k, f.sums.at(k)[0])
		w := scaleFactor(max(0, l-f.max+halfDeviance) / f.d)
		return (logTheta + math.Log(w) + math.Log(-math.Log(beyond))) / k
	}
	return f.mean * math.Exp(log(maximise(f.lo, f.hi, flat, log)))
}
