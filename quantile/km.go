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

// survival is what is left of n attempts. Between two cuts the product
// telescopes: with a at risk, S = last a/base. That leaves one rounding per cut
// time, not per time.
type survival struct {
	atRisk, base uint64  // now, and after the last cut
	last         float64 // S at the last cut
}

func survivalOf(n uint64) survival { return survival{atRisk: n, base: n, last: 1} }

// after returns S once n more have completed. It falls, or stays, with each.
func (s survival) after(n uint64) float64 {
	return s.last * (float64(s.atRisk-n) / float64(s.base))
}

// cut takes n cut attempts out.
func (s *survival) cut(n uint64) {
	s.last = s.after(0)
	s.atRisk -= n
	s.base = s.atRisk
}

// curve is a Kaplan-Meier estimate on its way through time.
type curve struct {
	survival  // after now
	total     uint64
	completed stream
	cuts      stream
	now       KMStep
	greenwood float64 // at the last cut; it telescopes too: more by (base-a)/(base a)
}

// stream is a walk with its next value in view.
type stream struct {
	tally
	more bool
	walk joint
}

// newStream begins behind the values up to a limit, of which it returns the
// number.
func newStream(u Union, behind int64) (s stream, passed uint64) {
	s.walk = u.walk()
	passed = s.walk.upTo(behind)
	s.advance()
	return s, passed
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

func newCurve(completed, cut Union) *curve { return newCurveBeyond(completed, cut, -1) }

// newCurveBeyond is the curve of the attempts that lie above a threshold, given
// that they do.
func newCurveBeyond(completed, cut Union, threshold int64) *curve {
	done, doneBelow := newStream(completed, threshold)
	cuts, cutBelow := newStream(cut, threshold)
	n := completed.N() + cut.N() - doneBelow - cutBelow
	return &curve{survival: survivalOf(n), total: n, completed: done, cuts: cuts, now: KMStep{Survival: 1}}
}

// peek returns the next time.
func (c *curve) peek() (t int64, ok bool) {
	t = math.MaxInt64
	if c.completed.more {
		t = c.completed.value
	}
	if c.cuts.more {
		t = min(t, c.cuts.value)
	}
	return t, c.completed.more || c.cuts.more
}

// step moves to the next time and fills now.
func (c *curve) step() bool {
	t, ok := c.peek()
	if !ok {
		return false
	}
	d, k := c.completed.take(t), c.cuts.take(t)
	c.now = KMStep{Time: t, AtRisk: c.atRisk, Completed: d, Cut: k, Survival: c.after(d)}
	c.atRisk -= d
	c.now.Greenwood = c.greenwood + float64(c.base-c.atRisk)/(float64(c.base)*float64(c.atRisk)) // +Inf at the end of the curve
	if k > 0 {
		c.cut(k)
		c.greenwood = c.now.Greenwood
	}
	return true
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

// kmQuantiles answers for several probabilities; nil is not identified.
func kmQuantiles(completed, cut Union, ps []P) []*int64 {
	q := newInquiry(completed, kmRanks(completed, cut, ps))
	answer(q)
	return q.kmValues()
}

// kmValues returns what was read for ranks from kmRanks.
func (q *inquiry) kmValues() []*int64 {
	values := make([]*int64, len(q.ranks))
	for i, rank := range q.ranks {
		if rank > 0 {
			values[i] = &q.values[i]
		}
	}
	return values
}

// kmRanks returns the ranks, among the completed values, at which the curve has
// fallen to 1-p; 0 where it never does. Between two cuts it falls with each
// completed value whatever that is, so only their numbers matter.
func kmRanks(completed, cut Union, ps []P) []uint64 {
	return kmRanksFrom(0, completed.walk(), completed.N(), cut, ps)
}

// kmRanksFrom goes on after so many of n completed values, none of them longer
// than the first cut.
func kmRanksFrom(below uint64, completed joint, n uint64, cut Union, ps []P) []uint64 {
	total := n + cut.N()
	f := &fall{survival: survivalOf(total), total: total, ps: ps, ranks: make([]uint64, len(ps)), missing: len(ps)}
	f.complete(below)
	if total > n {
		f.throughCuts(completed, cut.walk())
	}
	f.complete(n - f.done)
	return f.ranks
}

func (f *fall) throughCuts(completed, cuts joint) {
	for t, k, ok := cuts.next(); ok && f.missing > 0; t, k, ok = cuts.next() {
		f.complete(completed.upTo(t))
		f.cut(k)
		f.wasCut = true
	}
}

// fall is a Kaplan-Meier curve on its way down, from cut to cut.
type fall struct {
	survival
	total   uint64
	done    uint64
	wasCut  bool
	ps      []P
	ranks   []uint64
	missing int
}

// complete lets n attempts complete and finds the ranks among them.
func (f *fall) complete(n uint64) {
	for i, p := range f.ps {
		if f.ranks[i] > 0 {
			continue
		}
		if k := firstWhere(1, n, func(k uint64) bool { return f.reached(p, k) }); k <= n {
			f.ranks[i] = f.done + k
			f.missing--
		}
	}
	f.done += n
	f.atRisk -= n
}

// reached reports whether S <= 1-p after k more completions. Before the first
// cut the nearest rank decides, in integers.
func (f *fall) reached(p P, k uint64) bool {
	if !f.wasCut {
		return f.done+k >= p.Rank(f.total)
	}
	return f.after(k) <= p.Beyond()*reachedTolerance
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
