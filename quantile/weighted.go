package quantile

import (
	"math"
	"math/big"

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
// N, Cut and Known count attempts; the quantiles, the share and Certifiable are
// weighted.
type WeightedTails struct {
	Tails
	// Effective is (sum of w)^2 / sum of w^2, rounded down: the limits of the share are those
	// of so many equal attempts. Those of quantiles have an Effective of their own.
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
	var last int64
	l.lower = append(l.lower, question{l.total, &last, new(uint64)})
	for i, p := range ps {
		t.Tails.Tails[i] = Tail{P: p, N: t.N, Effective: effects[i].Effect.Size(l.effective), Effect: effects[i].Effect}
		l.judge(&t.Tails.Tails[i], confidence)
	}
	l.readByWeight(l.cursors(), l.units)
	l.limitsByTail(t.Tails.Tails, confidence)
	for i := range t.Tails.Tails {
		q := &t.Tails.Tails[i]
		q.IsMaximum = q.Status != NoValue && q.P.beyondLessThanOne(q.Effective) && q.Value == last
		q.settle()
		q.widen(l.step)
	}
	return t
}

// weighing is the ordering of attempts by weight.
type weighing struct {
	ordering
	tails     Tails   // counts and extremes
	step      int64   // of the clock
	units     []int64 // of the classes
	ends      []Union // their completed values and the lower ends of their cuts
	effective uint64
	cut       Sum // weight of the cut attempts
	ended     Sum // of these and of those that count as completed
}

func newWeighing(classes []Class) *weighing {
	var all Observed
	weights, counts := make([]float64, len(classes)), make([]uint64, len(classes))
	for i, c := range classes {
		all.Completed = append(all.Completed, c.Completed...)
		all.CutAt = append(all.CutAt, c.CutAt...)
		all.Open = append(all.Open, c.Open...)
		all.CutSeen = append(all.CutSeen, c.CutSeen...)
		all.Doubtful = append(all.Doubtful, c.Doubtful...)
		all.DoubtfulFailures = append(all.DoubtfulFailures, c.DoubtfulFailures...)
		all.Step = max(all.Step, c.Step)
		weights[i], counts[i] = c.Weight, c.Completed.N()+c.Cuts().N()
	}
	l := &weighing{tails: all.shared(), step: all.Step, units: unitsOf(weights)}
	l.provable, l.effective = all.provable(), effective(l.units, counts)
	for i, c := range classes {
		l.weigh(c.Observed, all.Completed, l.units[i])
	}
	return l
}

// weigh adds the weights of one class. What its cuts of unknown timeout prove rests on
// the completed values of all.
func (l *weighing) weigh(o Observed, completed Union, unit int64) {
	lowest := Observed{Completed: completed, CutSeen: o.unplaced()}.lowerEnds()
	l.ends = append(l.ends, o.Completed, append(Union{lowest}, o.placed()...))
	l.total.Add(unit, o.Completed.N()+o.Cuts().N())
	l.ended.Add(unit, o.Completed.N()+o.Doubtful.N()+o.CutAt.N()+o.CutSeen.N())
	l.cut.Add(unit, o.CutAt.N()+o.CutSeen.N())
	l.known.Add(unit, o.Completed.N())
}

// cursors are at the beginning of all ends.
func (l *weighing) cursors() []*runs.Cursor {
	list := make([]*runs.Cursor, len(l.ends))
	for i, u := range l.ends {
		list[i] = new(u.Cursor())
	}
	return list
}

// limitsByTail puts the limits of quantiles where the attempts beyond them put them: n_eff is
// that of the share beyond the lower limit. Weights of the others say little of it.
func (l *weighing) limitsByTail(tails []Tail, confidence P) {
	l.lower, l.upper = nil, nil
	for i, size := range l.sizesBeyond(tails) {
		q := &tails[i]
		if size = q.Effect.Size(size); size > 0 && size != q.Effective {
			q.Effective = size
			l.limits(q, confidence)
		}
	}
	if len(l.lower)+len(l.upper) > 0 {
		l.readByWeight(l.cursors(), l.units)
	}
}

// sizesBeyond returns how many equal attempts know as much of the share beyond each lower
// limit, 0 where there is none: r (1-r) over the variance of the share r, which is the sum of
// w^2 (1-r)^2 over the attempts beyond and of w^2 r^2 over the others, by the square of the sum
// of w. Source: Horvitz-Thompson, Cochran, Sampling Techniques (1977), 9A.7.
func (l *weighing) sizesBeyond(tails []Tail) []uint64 {
	sizes := make([]uint64, len(tails))
	for i := range tails {
		if tails[i].Lower == nil {
			continue
		}
		var beyond, all, beyondSquares, squares float64
		for k, u := range l.ends {
			w, n := float64(l.units[k/2]), float64(u.N())
			above := n - float64(u.UpTo(*tails[i].Lower))
			all, squares = all+w*n, squares+w*w*n
			beyond, beyondSquares = beyond+w*above, beyondSquares+w*w*above
		}
		if r := beyond / all; r > 0 && r < 1 {
			sizes[i] = uint64(r*(1-r)*all*all/(beyondSquares*(1-r)*(1-r)+(squares-beyondSquares)*r*r) + 1e-6)
		}
	}
	return sizes
}

// shares fills what is said of the cut share, with the limits of size attempts.
func (l *weighing) shares(t *WeightedTails, confidence P, size uint64) {
	if l.ended == (Sum{}) {
		return
	}
	t.CutShare = l.cut.Share(l.ended)
	down, up := l.cut.OutOf(l.ended, size)
	t.CutLower, _ = ClopperPearson(down, size, confidence)
	_, t.CutUpper = ClopperPearson(up, size, confidence)
	_, beyond := l.total.Minus(l.known).OutOf(l.total, size)
	t.Certifiable = HighestCertifiable(beyond, size, confidence)
}

// unitBits is the size of the largest weight in units: with counts below 2^63
// every sum of weights stays below 2^126.
const unitBits = 62

// unitsOf turns weights, which are above 0 and finite, into integers in the same
// ratio, so that sums of them depend on no order and compare exactly. A weight
// below 2^-62 of the largest counts as that; whole weights, and all others whose
// digits span 62 bits, lose nothing.
func unitsOf(weights []float64) []int64 {
	largest := 0.0
	for _, w := range weights {
		largest = max(largest, w)
	}
	_, exponent := math.Frexp(largest)
	units := make([]int64, len(weights))
	for i, w := range weights {
		units[i] = max(1, int64(math.RoundToEven(math.Ldexp(w, unitBits-exponent))))
	}
	return units
}

// effective returns n_eff = (sum of w)^2 / sum of w^2 rounded down, of counts[i]
// values of weight units[i]: so many equal ones know as much. Source: Kish,
// Survey Sampling (1965), 11.7.
func effective(units []int64, counts []uint64) uint64 {
	sum, squares := new(big.Int), new(big.Int)
	for i, u := range units {
		w, all := big.NewInt(u), new(big.Int).SetUint64(counts[i])
		all.Mul(all, w)
		sum.Add(sum, all)
		squares.Add(squares, all.Mul(all, w))
	}
	if squares.Sign() == 0 {
		return 0
	}
	return sum.Mul(sum, sum).Div(sum, squares).Uint64()
}
