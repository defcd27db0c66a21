package fit

import "math"

// halfDeviance is how far below its maximum a log-likelihood may lie for a
// one-sided profile bound: half the square of the normal quantile of 0.95.
const halfDeviance = 1.3527717270428

const (
	lowestXi    = -.9   // below -1 the likelihood has no maximum
	lowestS     = -13.8 // log of 1e-6: t = -(1-1e-6)/y_max
	longestT    = 1e4   // over the mean excess
	gridStep    = .5
	shareValues = 9 // of the exceedances' share, in a bound
)

// paretoFit is the generalised Pareto distribution of the excesses over a
// threshold. In its likelihood t = xi/sigma is free and xi follows, so that
// fitting is a search along one line: t = e^s - 1 with excesses in units of the
// largest. Source: Grimshaw, Technometrics 35 (1993), here with censored excesses.
type paretoFit struct {
	exceedances
	table sumTable
	s     float64 // at the maximum
	max   float64 // of the log-likelihood, as returned by logLikelihood
}

// fitPareto needs completed exceedances.
func fitPareto(e exceedances) *paretoFit {
	f := &paretoFit{exceedances: e}
	f.table = sumTable{f.sums, map[int]*series{}}
	start := f.coarse()
	f.s = maximise(start-gridStep, start+gridStep, 1e-9, func(s float64) float64 {
		if s < lowestS || f.xi(s) <= lowestXi {
			return math.Inf(-1)
		}
		return f.logLikelihood(s)
	})
	f.max = f.logLikelihood(f.s)
	return f
}

// sums are the completed excesses' sum of log(1+ty), and sigma = xi/t over the
// largest excess, where xi = (that sum over all)/k. Both are smooth at t = 0.
func (f *paretoFit) sums(s float64) [2]float64 {
	a := logSum(f.completed, s)
	return [2]float64{a, (a + logSum(f.cut, s)) / float64(f.k) / math.Expm1(s)}
}

// coarse returns the best point of a grid, which leaves out s = 0: there only
// the limit of sigma exists.
func (f *paretoFit) coarse() (best float64) {
	top, most := f.highestS(), math.Inf(-1)
	best = gridStep / 2
	for s := best - gridStep*math.Floor((best-lowestS)/gridStep); s <= top; s += gridStep {
		sums := f.sums(s)
		if sums[1]*math.Expm1(s) <= lowestXi {
			continue
		}
		if l := f.likelihood(sums); l > most {
			best, most = s, l
		}
	}
	return best
}

func (f *paretoFit) highestS() float64 { return math.Log1p(longestT / f.mean) }

func (f *paretoFit) likelihood(sums [2]float64) float64 {
	return -float64(f.k)*math.Log(sums[1]) - sums[0] - float64(f.k)
}

// logLikelihood is that of excesses in units of the largest.
func (f *paretoFit) logLikelihood(s float64) float64 { return f.likelihood(f.table.at(s)) }

func (f *paretoFit) sigma(s float64) float64 { return f.table.at(s)[1] }

func (f *paretoFit) xi(s float64) float64 { return f.sigma(s) * math.Expm1(s) }

// shape is xi.
func (f *paretoFit) shape() float64 { return f.xi(f.s) }

// beyond returns the share of the exceedances that lie above a scaled excess,
// rest being one less that.
func (f *paretoFit) beyond(at, rest float64) float64 {
	t := math.Expm1(f.s)
	if t == 0 {
		return math.Exp(-at / f.sigma(f.s))
	}
	return math.Exp(-math.Log(rest+at*math.Exp(f.s)) / (f.sigma(f.s) * t))
}

// excess returns the scaled excess with a share r beyond it, for the given t and
// xi = w sigma t.
func excess(r, t, wSigma float64) float64 {
	a := -wSigma * math.Log(r)
	if t == 0 {
		return a
	}
	return math.Expm1(a*t) / t
}

// quantile returns that with the share beyond of all attempts above it, in ns;
// beyond is below share().
func (f *paretoFit) quantile(beyond float64) float64 {
	y := excess(beyond/f.share(), math.Expm1(f.s), f.sigma(f.s))
	return float64(f.threshold) + y*float64(f.largest)
}

// boundWithShare is the profile upper bound of the quantile, for a known share of
// exceedances and a budget of log-likelihood: the largest over all t and xi that
// lose no more than it.
func (f *paretoFit) boundWithShare(beyond, share, budget float64) float64 {
	r, k := beyond/share, float64(f.k)
	lo, hi := f.within(budget)
	largest := func(s float64) float64 {
		sums := f.table.at(s)
		slack := max(0, f.likelihood(sums)-f.max+budget)
		return excess(r, math.Expm1(s), sums[1]*scaleFactor(slack/k))
	}
	y := largest(maximiseFrom(lo, hi, largest))
	return float64(f.threshold) + y*float64(f.largest)
}

// within returns the interval around the maximum in which no more than budget is
// lost.
func (f *paretoFit) within(budget float64) (lo, hi float64) {
	lost := func(s float64) bool { return f.max-f.logLikelihood(s) > budget }
	return edge(f.s, lowestS, lost), edge(f.s, f.highestS(), lost)
}

// bound adds the uncertainty of the share to boundWithShare: what a share z loses
// against the observed h by the binomial deviance is taken off the budget.
func (f *paretoFit) bound(beyond float64) float64 {
	h, n := f.share(), float64(f.n)
	lost := func(z float64) float64 { return n * (h*math.Log(h/z) + (1-h)*math.Log((1-h)/(1-z))) }
	most := edge(h, 1, func(z float64) bool { return z >= 1 || lost(z) > halfDeviance })
	bound := 0.0
	for i := range shareValues {
		z := h + (most-h)*float64(i)/(shareValues-1)
		bound = max(bound, f.boundWithShare(beyond, z, halfDeviance-max(0, lost(z))))
	}
	return bound
}

// scaleFactor returns w >= 1 with log w + 1/w - 1 = d: how far a scale may be
// stretched for d of log-likelihood a completed value.
func scaleFactor(d float64) float64 {
	x := d + math.Sqrt(2*d) // log w, from above, and the function is convex
	for range 50 {
		over, slope := x+math.Expm1(-x)-d, -math.Expm1(-x)
		if slope == 0 || over <= 1e-16*x {
			break
		}
		x -= over / slope
	}
	return math.Exp(max(0, x))
}
