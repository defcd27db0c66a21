package quantile

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/runs"
)

// Class is what is known of those first attempts of a hop that each stand for
// Weight of the population. Weight is above 0 and finite.
type Class struct {
	Weight float64
	Observed
}

// WeightedTails is Tails where attempts stand for different numbers of others.
// N, Cut and Below count attempts; the quantiles, the share and Certifiable are
// weighted.
type WeightedTails struct {
	Tails
	// Effective is (sum of w)^2 / sum of w^2, rounded down: the limits are those
	// of so many equal attempts.
	Effective uint64
	// CutShare is the weight of the cut attempts over that of all, with
	// one-sided limits at the confidence asked for.
	CutShare, CutLower, CutUpper float64
	// Certifiable is HighestCertifiable by weight.
	Certifiable float64
}

// TailsByWeight returns the weighted quantiles ps with one-sided limits: the
// smallest value whose cumulative weight reaches p of the total, in the ordering
// of Observed.Tails and with its statuses. Where all weights are equal that is
// the nearest rank, and Observed.Tails says more. The order of classes does not
// matter. There is no Kaplan-Meier value.
//
// An upper limit of rank k out of n_eff is the value whose cumulative weight
// reaches k/n_eff of the total, a lower one the first whose weight goes beyond
// (k-1)/n_eff: with equal weights both are the k-th value. The limits of the
// share are those of Clopper and Pearson for n_eff attempts, the count rounded
// away from the share on both sides.
func TailsByWeight(classes []Class, ps []P, confidence P) WeightedTails {
	return WidenedByWeight(classes, ps, confidence, make([]depend.Dependent, len(ps)), depend.Dependent{})
}

// WidenedByWeight is TailsByWeight with limits of n_eff over the design effects of
// the quantiles, and of the cut share.
func WidenedByWeight(classes []Class, ps []P, confidence P, effects []depend.Dependent, cut depend.Dependent) WeightedTails {
	l := newWeighing(classes)
	t := WeightedTails{Tails: l.tails, Effective: l.effective, CutUpper: 1}
	l.shares(&t, confidence, cut.Effect.Size(l.effective))
	t.Tails.Tails = make([]Tail, len(ps))
	last := new(reading)
	l.ask(l.total, last)
	readings := make([]asked, len(ps))
	for i, p := range ps {
		size := effects[i].Effect.Size(l.effective)
		t.Tails.Tails[i] = Tail{
			P: p, N: t.N, Effective: size, Effect: effects[i].Effect,
			LowerRank: LowerRank(size, p, confidence),
			UpperRank: UpperRank(size, p, confidence),
		}
		readings[i] = l.judge(&t.Tails.Tails[i])
	}
	l.read()
	for i := range readings {
		readings[i].fill(&t.Tails.Tails[i], last.value)
	}
	return t
}

// weighing is the lower-bounded ordering by weight: the completed values up to
// the first cut, then the cuts with unknown timeout, all at the largest of
// those, then everything else.
type weighing struct {
	classes     []Class
	units       []int64 // of the classes
	tails       Tails   // counts and extremes
	effective   uint64
	unseenCount uint64
	answerable  bool

	total, cut    Sum // weights
	below, unseen Sum
	floor         int64
	questions     []question // in the known values
}

// question asks for the value where the cumulative weight of the known values
// reaches target.
type question struct {
	target Sum
	skip   uint64 // attempts that stand before it and are not among the known
	into   *reading
}

// reading is a value and how many attempts stand before it.
type reading struct {
	value  int64
	before uint64
}

// asked is what is read for one quantile; nil where there is no such value.
type asked struct{ value, lower, upper *reading }

func newWeighing(classes []Class) *weighing {
	all := combined(classes)
	tails, _ := all.shared()
	l := &weighing{classes: classes, tails: tails, unseenCount: all.CutSeen.N()}
	l.answerable = l.tails.N > 0 && (l.tails.Cut < l.tails.N || all.CutAt.N() > 0)
	if l.tails.SlowestBelow != nil {
		l.floor = *l.tails.SlowestBelow
	}
	weights, counts := make([]float64, len(classes)), make([]uint64, len(classes))
	for i, c := range classes {
		weights[i], counts[i] = c.Weight, c.Completed.N()+c.Cuts().N()
	}
	l.units = unitsOf(weights)
	l.effective = effective(l.units, counts)
	for i, c := range classes {
		l.weigh(c.Observed, l.units[i])
	}
	return l
}

// combined is the attempts of all classes without their weights.
func combined(classes []Class) Observed {
	var all Observed
	for _, c := range classes {
		all.Completed = append(all.Completed, c.Completed...)
		all.CutAt = append(all.CutAt, c.CutAt...)
		all.CutSeen = append(all.CutSeen, c.CutSeen...)
	}
	return all
}

// weigh adds the weights of one class.
func (l *weighing) weigh(o Observed, unit int64) {
	l.total.Add(unit, o.Completed.N()+o.Cuts().N())
	l.cut.Add(unit, o.Cuts().N())
	l.unseen.Add(unit, o.CutSeen.N())
	l.below.Add(unit, o.Completed.UpTo(limit(l.tails.FirstCut)))
}

// shares fills what is said of the cut share, with the limits of size attempts.
func (l *weighing) shares(t *WeightedTails, confidence P, size uint64) {
	if l.tails.N == 0 {
		return
	}
	t.CutShare = l.cut.Share(l.total)
	down, up := l.cut.OutOf(l.total, size)
	t.CutLower, _ = ClopperPearson(down, size, confidence)
	_, t.CutUpper = ClopperPearson(up, size, confidence)
	_, beyond := l.total.Minus(l.below).OutOf(l.total, size)
	t.Certifiable = HighestCertifiable(beyond, size, confidence)
}

// judge sets the status and asks for the values that go with it.
func (l *weighing) judge(q *Tail) asked {
	if !l.answerable {
		return asked{}
	}
	target := l.total.Portion(q.P.Fraction())
	q.Status = AtLeast
	if target.AtMost(l.below) {
		q.Status = Exact
	}
	a := asked{value: l.ask(target, new(reading))}
	if q.LowerRank > 0 {
		a.lower = l.ask(l.total.After(q.LowerRank-1, q.Effective), new(reading))
	}
	if q.UpperRank > q.Effective {
		return a
	}
	if at := l.total.Portion(q.UpperRank, q.Effective); at.AtMost(l.below) {
		a.upper = l.ask(at, new(reading))
	}
	return a
}

// ask has read fill in the value at which the cumulative weight reaches target.
func (l *weighing) ask(target Sum, into *reading) *reading {
	q := question{target: target, into: into}
	beyond := l.below.Plus(l.unseen)
	switch {
	case target.AtMost(l.below):
	case target.AtMost(beyond):
		*into = reading{l.floor, l.tails.Below}
		return into
	default:
		q.target, q.skip = target.Minus(l.unseen), l.unseenCount
	}
	l.questions = append(l.questions, q)
	return into
}

// fill enters what was read; last is the largest value of the ordering.
func (a asked) fill(q *Tail, last int64) {
	if a.value == nil {
		return
	}
	q.Value, q.Rank = a.value.value, a.value.before+1
	q.IsMaximum = q.P.beyondLessThanOne(q.Effective) && q.Value == last
	if a.lower != nil {
		q.Lower = &a.lower.value
	}
	if a.upper != nil {
		q.Upper = &a.upper.value
	}
}

// read answers all questions in one walk over the known values, which ends at
// the largest target.
func (l *weighing) read() {
	slices.SortStableFunc(l.questions, func(a, b question) int {
		return cmp.Or(cmp.Compare(a.target.Hi, b.target.Hi), cmp.Compare(a.target.Lo, b.target.Lo))
	})
	var before, count uint64 // attempts below value, and up to it
	var reached Sum
	value := int64(-1)
	runs.Interleave(l.known(), func(v int64, n uint64, class int) bool {
		if v != value {
			value, before = v, count
		}
		count += n
		reached.Add(l.units[class], n)
		l.answer(reached, reading{value, before})
		return len(l.questions) > 0
	})
}

// answer gives the reading to all questions that have been reached.
func (l *weighing) answer(reached Sum, r reading) {
	for len(l.questions) > 0 && l.questions[0].target.AtMost(reached) {
		q := l.questions[0]
		*q.into = reading{r.value, r.before + q.skip}
		l.questions = l.questions[1:]
	}
}

// known are the known values of each class.
func (l *weighing) known() (values []Union) {
	for _, c := range l.classes {
		values = append(values, append(append(Union(nil), c.Completed...), c.CutAt...))
	}
	return values
}
