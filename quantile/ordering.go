package quantile

import (
	"slices"

	"github.com/tailscope/tailscope/quantile/runs"
)

// ordering is the one in which every attempt stands at what is proved of it: the
// completed values up to the first cut, then the cuts with unknown timeout, all at
// the largest of those, then everything else. Places in it are sums of weights;
// without weights each attempt has 1, and they are ranks.
type ordering struct {
	tails                Tails // counts and extremes
	provable             bool  // something is
	total, below, unseen Sum   // weights of all, of the first and of the second
	unseenCount          uint64
	questions            []question // in the known values
}

// question asks for the known value where the cumulative weight reaches target, and
// how many attempts stand before it: one more is added to rank.
type question struct {
	target Sum
	into   *int64
	rank   *uint64
}

// ordering is that of attempts without weights.
func (o Observed) ordering(t Tails) *ordering {
	l := o.counted(t)
	l.total, l.below, l.unseen = Sum{Lo: t.N}, Sum{Lo: t.Below}, Sum{Lo: l.unseenCount}
	return &l
}

// counted is the ordering without its weights.
func (o Observed) counted(t Tails) ordering {
	return ordering{tails: t, provable: t.N > 0 && (t.Cut < t.N || o.CutAt.N() > 0), unseenCount: o.CutSeen.N()}
}

// judge sets the status and asks for the values that go with it.
func (l *ordering) judge(q *Tail, confidence P) {
	if l.provable {
		target := l.total.Portion(q.P.Fraction())
		q.Status = AtLeast
		if target.AtMost(l.below) {
			q.Status = Exact
		}
		l.ask(target, &q.Value, &q.Rank)
	}
	l.limits(q, confidence)
}

// limits asks for the limits of so many equal attempts as q.Size says: that of rank k
// is the value whose cumulative weight reaches k/size of the total, a lower one the
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
		l.ask(l.total.After(q.LowerRank-1, size), q.Lower, new(uint64))
	}
	if q.UpperRank > size {
		return
	}
	if at := l.total.Portion(q.UpperRank, size); at.AtMost(l.below) {
		q.Upper = new(int64)
		l.ask(at, q.Upper, new(uint64))
	}
}

// ask has a read put the value at which the cumulative weight reaches target into to.
func (l *ordering) ask(target Sum, into *int64, rank *uint64) {
	switch {
	case target.AtMost(l.below):
	case target.AtMost(l.below.Plus(l.unseen)):
		if l.tails.SlowestBelow != nil {
			*into = *l.tails.SlowestBelow
		}
		*rank = l.tails.Below + 1
		return
	default:
		target, *rank = target.Minus(l.unseen), l.unseenCount
	}
	l.questions = append(l.questions, question{target, into, rank})
}

// read answers the questions where there are no weights, and other queries with them
// in the same walk. Ranks are left alone.
func (l *ordering) read(known Union, with ...*runs.RankQuery) {
	ranks := make([]uint64, len(l.questions))
	for i, q := range l.questions {
		ranks[i] = q.target.Lo
	}
	own := runs.NewRankQuery(known, ranks)
	runs.Answer(append(with, own)...)
	for i, q := range l.questions {
		*q.into = own.Values[i]
	}
}

// readByWeight answers the questions in one walk over the known values of classes,
// which ends at the largest target.
func (l *ordering) readByWeight(known []*runs.Cursor, units []int64) {
	slices.SortStableFunc(l.questions, func(a, b question) int { return a.target.Compare(b.target) })
	var before uint64
	var reached Sum
	for value, shares := range runs.Interleave(known...) {
		count := uint64(0)
		for _, s := range shares {
			count += s.Count
			reached.Add(units[s.From], s.Count)
		}
		for len(l.questions) > 0 && l.questions[0].target.AtMost(reached) {
			*l.questions[0].into = value
			*l.questions[0].rank += before + 1
			l.questions = l.questions[1:]
		}
		if len(l.questions) == 0 {
			return
		}
		before += count
	}
}
