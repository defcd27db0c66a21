package quantile

import (
	"slices"

	"github.com/tailscope/tailscope/quantile/runs"
)

// ordering is both ends of all attempts, each in ascending order: the lower ends of all,
// and the upper ends of those that completed. Places in it are sums of weights; without
// weights each attempt has 1, and they are ranks.
type ordering struct {
	provable     bool // something is
	total, known Sum  // weights of all attempts, and of those that completed
	lower, upper []question
}

// question asks for the end where the cumulative weight reaches target, and how many
// attempts stand before it: one more is added to rank.
type question struct {
	target Sum
	into   *int64
	rank   *uint64
}

// ordering is that of attempts without weights.
func (o Observed) ordering(t Tails) *ordering {
	return &ordering{provable: o.provable(), total: Sum{Lo: t.N}, known: Sum{Lo: t.Known}}
}

// provable reports whether anything is known of a quantile.
func (o Observed) provable() bool { return o.Completed.N() > 0 || o.CutAt.N() > 0 }

// judge asks for the values that go with a quantile. Its status is found when they were
// read.
func (l *ordering) judge(q *Tail, confidence P) {
	if l.provable {
		target := l.total.Portion(q.P.Fraction())
		q.Status = AtLeast
		l.lower = append(l.lower, question{target, &q.Value, &q.Rank})
		q.AtMost = l.above(target)
	}
	l.limits(q, confidence)
}

// above has a read put the upper end at which the cumulative weight reaches target into
// what it returns; nil where that is infinite.
func (l *ordering) above(target Sum) *int64 {
	if !target.AtMost(l.known) {
		return nil
	}
	end := new(int64)
	l.upper = append(l.upper, question{target, end, new(uint64)})
	return end
}

// limits asks for the limits of so many equal attempts as q.Size says: that of rank k
// is the end whose cumulative weight reaches k/size of the total, a lower one the
// first whose weight goes beyond (k-1)/size.
func (l *ordering) limits(q *Tail, confidence P) {
	size := q.Size()
	q.LowerRank, q.UpperRank = LowerRank(size, q.P, confidence), UpperRank(size, q.P, confidence)
	q.Lower, q.Upper = nil, nil
	if q.Status == NoValue {
		return
	}
	if q.LowerRank > 0 {
		q.Lower = new(int64)
		l.lower = append(l.lower, question{l.total.After(q.LowerRank-1, size), q.Lower, new(uint64)})
	}
	if q.UpperRank <= size {
		q.Upper = l.above(l.total.Portion(q.UpperRank, size))
	}
}

// read answers the questions where there are no weights, and other queries with them
// in the same walk. Ranks are left alone.
func (l *ordering) read(o Observed, with ...*runs.RankQuery) {
	known := append(append(Union{o.lowerEnds()}, o.Completed...), o.placed()...)
	lower, upper := runs.NewRankQuery(known, ranksIn(l.lower)), runs.NewRankQuery(o.Completed, ranksIn(l.upper))
	runs.Answer(append(with, lower, upper)...)
	answer(l.lower, lower.Values)
	answer(l.upper, upper.Values)
}

func ranksIn(questions []question) []uint64 {
	ranks := make([]uint64, len(questions))
	for i, q := range questions {
		ranks[i] = q.target.Lo
	}
	return ranks
}

func answer(questions []question, values []int64) {
	for i, q := range questions {
		*q.into = values[i]
	}
}

// readByWeight answers the questions in one walk over the ends of classes, which stops
// at the largest target. Cursors of even numbers are of completed values, those of odd
// ones of the lower ends of cuts; units are those of the classes.
func (l *ordering) readByWeight(ends []*runs.Cursor, units []int64) {
	var before uint64
	var lower, upper Sum
	inOrder(l.lower)
	inOrder(l.upper)
	for value, shares := range runs.Interleave(ends...) {
		count := uint64(0)
		for _, s := range shares {
			count += s.Count
			unit := units[s.From/2]
			lower.Add(unit, s.Count)
			if s.From%2 == 0 {
				upper.Add(unit, s.Count)
			}
		}
		l.lower = reached(l.lower, lower, value, before)
		l.upper = reached(l.upper, upper, value, before)
		if len(l.lower)+len(l.upper) == 0 {
			return
		}
		before += count
	}
}

func inOrder(questions []question) {
	slices.SortStableFunc(questions, func(a, b question) int { return a.target.Compare(b.target) })
}

// reached answers the questions whose target is reached, and returns the others.
func reached(questions []question, weight Sum, value int64, before uint64) []question {
	for len(questions) > 0 && questions[0].target.AtMost(weight) {
		*questions[0].into = value
		*questions[0].rank += before + 1
		questions = questions[1:]
	}
	return questions
}
