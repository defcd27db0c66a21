package quantile

import (
	"iter"
	"math"
)

// reachedTolerance absorbs the rounding of a product of survival ratios, so
// that a curve which equals 1-p in real numbers counts as having reached it.
const reachedTolerance = 1 + 1e-9

// KMStep is the Kaplan-Meier curve at one distinct time. At equal times
// completions come before cuts.
type KMStep struct {
	Time      int64  // nanoseconds
	AtRisk    uint64 // completions and cuts at or after Time
	Completed uint64 // at Time
	Cut       uint64 // at Time
	Survival  float64
	Greenwood float64 // sum of d/(n(n-d)); +Inf once d = n
}

// KaplanMeier yields the survival curve of right-censored durations, one step
// for each distinct time, ascending. It streams: its memory does not depend
// on the number of values. Source: Kaplan and Meier, JASA 53 (1958);
// variance by Greenwood (1926).
func KaplanMeier(completed, cut Union) iter.Seq[KMStep] {
	return func(yield func(KMStep) bool) {
		c := newCurve(completed, cut)
		for c.step() {
			if !yield(c.now) {
				return
			}
		}
	}
}

// curve is a Kaplan-Meier estimate on its way through time.
type curve struct {
	total     uint64
	completed stream
	cut       stream
	now       KMStep

	atRisk    uint64 // after now
	done      uint64 // completions up to now
	cutBefore uint64 // cuts before now

	// Between two cuts the product telescopes: with a at risk after the step,
	// S = sBase a/base and G = gBase + (base-a)/(base a). That leaves one
	// rounding per cut time, not per time.
	base         uint64
	sBase, gBase float64
}

// stream is a walk with its next value in view.
type stream struct {
	tally
	more bool
	walk *walker
}

func newStream(u Union) stream {
	s := stream{walk: u.walk()}
	s.advance()
	return s
}

func (s *stream) advance() { s.value, s.count, s.more = s.walk.next() }

// take returns the count at time t and moves past it.
func (s *stream) take(t int64) uint64 {
	if !s.more || s.value != t {
		return 0
	}
	n := s.count
	s.advance()
	return n
}

func newCurve(completed, cut Union) *curve {
	n := completed.N() + cut.N()
	return &curve{
		total: n, completed: newStream(completed), cut: newStream(cut),
		atRisk: n, base: n, sBase: 1, now: KMStep{Survival: 1},
	}
}

// peek returns the next time.
func (c *curve) peek() (t int64, ok bool) {
	t = math.MaxInt64
	if c.completed.more {
		t = c.completed.value
	}
	if c.cut.more {
		t = min(t, c.cut.value)
	}
	return t, c.completed.more || c.cut.more
}

// step moves to the next time and fills now.
func (c *curve) step() bool {
	t, ok := c.peek()
	if !ok {
		return false
	}
	c.cutBefore += c.now.Cut
	d, k := c.completed.take(t), c.cut.take(t)
	c.now = KMStep{Time: t, AtRisk: c.atRisk, Completed: d, Cut: k}
	c.done += d
	c.atRisk -= d
	a, base := float64(c.atRisk), float64(c.base)
	c.now.Survival = c.sBase * (a / base)
	c.now.Greenwood = c.gBase + float64(c.base-c.atRisk)/(base*a) // +Inf at the end of the curve
	if k > 0 {
		c.atRisk -= k
		c.base, c.sBase, c.gBase = c.atRisk, c.now.Survival, c.now.Greenwood
	}
	return true
}

// reached reports whether the step just taken is the first, for a caller
// that asks at every step, with S <= 1-p. Before the first cut the nearest
// rank decides, in integers; the curve falls only at completions.
func (c *curve) reached(p P) bool {
	if c.now.Completed == 0 {
		return false
	}
	if c.cutBefore == 0 {
		return c.done >= p.Rank(c.total)
	}
	return c.now.Survival <= p.Beyond()*reachedTolerance
}

// KMQuantile returns the Kaplan-Meier quantile inf{t: S(t) <= 1-p} in
// nanoseconds; ok is false where the curve does not fall that far. It holds
// if cuts do not depend on how slow the attempt was.
func KMQuantile(completed, cut Union, p P) (value int64, ok bool) {
	q := kmQuantiles(completed, cut, []P{p})[0]
	if q == nil {
		return 0, false
	}
	return *q, true
}

// kmQuantiles answers for several probabilities in one walk; nil is not
// identified.
func kmQuantiles(completed, cut Union, ps []P) []*int64 {
	found, missing := make([]*int64, len(ps)), len(ps)
	for c := newCurve(completed, cut); missing > 0 && c.step(); {
		for i, p := range ps {
			if found[i] == nil && c.reached(p) {
				found[i] = new(c.now.Time)
				missing--
			}
		}
	}
	return found
}

// Limits names a transformation for the limits of a survival curve.
type Limits uint8

// The limits that R's survfit calls plain, log and log-log. Log limits come
// nearest to their nominal coverage from above and are the ones for bounds.
const (
	Plain Limits = iota
	Log
	LogLog
)

// Limits returns the lower and upper limit of the survival at this step, z
// standard errors away (1.6449 one-sided 95 %, 1.96 two-sided 95 %), clipped
// to [0,1]. Where nothing has completed both are 1. Once the curve is at 0 its
// variance is unknown and the limits are 0 and 1, which claim nothing (R
// gives NA there, and for log-log at 1 too). Source: Kalbfleisch and
// Prentice, The Statistical Analysis of Failure Time Data, 1.4.
func (s KMStep) Limits(kind Limits, z float64) (lower, upper float64) {
	if s.Greenwood == 0 {
		return 1, 1
	}
	if s.Survival <= 0 || math.IsInf(s.Greenwood, 1) {
		return 0, 1
	}
	err := z * math.Sqrt(s.Greenwood)
	switch kind {
	case Log:
		lower, upper = s.Survival*math.Exp(-err), s.Survival*math.Exp(err)
	case LogLog:
		logS := math.Log(s.Survival)
		centre := math.Log(-logS)
		lower = math.Exp(-math.Exp(centre - err/logS))
		upper = math.Exp(-math.Exp(centre + err/logS))
	default:
		lower, upper = s.Survival*(1-err), s.Survival*(1+err)
	}
	return max(0, lower), min(1, upper)
}

// KMUpper returns the upper limit of the Kaplan-Meier quantile in
// nanoseconds, the first time at which the upper limit of the survival is at
// most 1-p; ok is false where there is none. Source: Brookmeyer and Crowley,
// Biometrics 38 (1982).
func KMUpper(completed, cut Union, p P, kind Limits, z float64) (value int64, ok bool) {
	for s := range KaplanMeier(completed, cut) {
		if s.Completed == 0 {
			continue
		}
		if _, upper := s.Limits(kind, z); upper <= p.Beyond()*reachedTolerance {
			return s.Time, true
		}
	}
	return 0, false
}
