package quantile

import (
	"slices"

	"github.com/tailscope/tailscope/quantile/depend"
)

// Effects returns, for each quantile of t and then for the cut share, how the
// attempts that were cut or lie beyond it hang together: as between the log buckets next to
// it, by the attempts that lie beyond them, n-k beyond the quantile, k its rank. Whether there
// is any dependence is told by thresholds of their own, whatever was asked. Where fewer
// than 20 lie beyond the quantile, the effect is not below that of the highest bucket with
// so many: slow attempts that come together do not turn independent because the slowest
// are few.
func (o Observed) Effects(t Tails, d depend.Dependence) (tails []depend.Dependent, cut depend.Dependent) {
	b := o.beyondBuckets(t, d)
	all := d.At(t.N, b.thresholds(b.asked), b.thresholds(b.telling))
	few := func(e depend.Effect, beyond uint64) depend.Effect {
		if b.largestAreTail(t.N) && beyond < enoughBeyond {
			return e.Larger(all[len(all)-1])
		}
		return e
	}
	for _, l := range b.lines {
		tails = append(tails, depend.Dependent{Effect: few(b.between(l, all), l.want), Drift: d.Drift(b.nearest(l))})
	}
	cuts := b.asked[len(all)-2]
	cut = depend.Dependent{Effect: all[len(all)-2], Drift: d.Drift(cuts)}
	if t.Cut > 0 {
		cut.Effect = few(cut.Effect, b.counts[cuts])
	}
	return tails, cut
}

// between is the effect at a line, from those of all thresholds asked about: in
// proportion between two buckets with more and fewer beyond, else as at the nearest.
func (b beyondBuckets) between(l line, all []depend.Effect) depend.Effect {
	at := func(s depend.LogBucket) depend.Effect { return all[slices.Index(b.asked, s)] }
	one := at(b.nearest(l))
	for i, s := range l.buckets[1:] {
		more, fewer := at(l.buckets[i]), at(s)
		if over, under := b.counts[l.buckets[i]], b.counts[s]; over > l.want && under < l.want && more.Known() && fewer.Known() {
			one = more.Larger(fewer)
			one.Hundredths = (more.Hundredths*(l.want-under) + fewer.Hundredths*(over-l.want)) / (over - under)
		}
	}
	return one
}

// enoughBeyond is how many attempts beyond a threshold show an effect well: of
// fewer, one that is there often goes unseen.
const enoughBeyond = 20

// landmarks are the quantiles at which dependence is looked for, besides the largest and
// the cut ones, so that no limit depends on what else was asked.
var landmarks = [...]P{MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.99"), MustP("0.999")}

// beyondBuckets counts the attempts that were cut or lie in a bucket or above it.
type beyondBuckets struct {
	top    depend.LogBucket
	counts map[depend.LogBucket]uint64
	lines  []line // of the quantiles asked for
	// Thresholds: those next to the lines, of the cut ones and of the largest; and those
	// that tell of dependence.
	asked, telling []depend.LogBucket
}

func (o Observed) beyondBuckets(t Tails, d depend.Dependence) beyondBuckets {
	b := beyondBuckets{top: d.CutFrom, counts: map[depend.LogBucket]uint64{}}
	cuts := b.capped(depend.CutBucket)
	ranks := landmarkRanks(t)
	values := o.Completed.At(ranks...)
	largest := b.capped(depend.LogBucketOf(values[0]))
	if t.Cut >= enoughBeyond || t.N < enoughBeyond {
		largest = cuts
	}
	var telling []line
	for _, q := range t.Tails {
		b.lines = append(b.lines, b.nextTo(q.Value, t.N-q.Rank, q.Status != Exact))
	}
	for i, k := range ranks[1:] {
		telling = append(telling, b.nextTo(values[1+i], t.N-k, k > o.Completed.N()))
	}
	b.count(o, t, append([]depend.LogBucket{cuts, largest}, bucketsOf(b.lines, telling)...))
	for _, l := range telling {
		b.telling = append(b.telling, b.nearest(l))
	}
	b.asked, b.telling = append(bucketsOf(b.lines), cuts, largest), append(b.telling, cuts, largest)
	return b
}

// landmarkRanks returns the first rank of the largest, and the ranks of landmarks with
// enough attempts on both sides.
func landmarkRanks(t Tails) []uint64 {
	ranks := []uint64{t.N - min(t.N, enoughBeyond) + 1}
	for _, p := range landmarks {
		if k := p.Rank(t.N); k >= enoughBeyond && t.N-k >= enoughBeyond {
			ranks = append(ranks, k)
		}
	}
	return ranks
}

// line is where attempts are to be told apart, near some buckets, which ascend: want of them
// lie beyond.
type line struct {
	buckets []depend.LogBucket
	want    uint64
}

// nextTo is the line next to a value. One that the cut attempts hide may be nearest to all
// of them.
func (b beyondBuckets) nextTo(value int64, want uint64, hidden bool) line {
	s := depend.LogBucketOf(value)
	l := line{[]depend.LogBucket{b.capped(s), b.capped(s + 1)}, want}
	if hidden {
		l.buckets = append(l.buckets, b.capped(depend.CutBucket))
	}
	return l
}

func bucketsOf(lists ...[]line) (all []depend.LogBucket) {
	for _, lines := range lists {
		for _, l := range lines {
			all = append(all, l.buckets...)
		}
	}
	return all
}

// count counts the attempts beyond some buckets in one walk.
func (b beyondBuckets) count(o Observed, t Tails, buckets []depend.LogBucket) {
	slices.Sort(buckets)
	completed := o.Completed.Cursor()
	var below uint64
	for _, s := range slices.Compact(buckets) {
		if s == depend.CutBucket {
			b.counts[s] = t.Cut
			continue
		}
		below += completed.UpTo(s.From() - 1)
		b.counts[s] = t.N - below
	}
}

// nearest returns the bucket with nearest to so many attempts beyond it as a line wants, the
// higher of two.
func (b beyondBuckets) nearest(l line) depend.LogBucket {
	best := l.buckets[0]
	for _, s := range l.buckets[1:] {
		if distance(b.counts[s], l.want) <= distance(b.counts[best], l.want) {
			best = s
		}
	}
	return best
}

func (b beyondBuckets) thresholds(buckets []depend.LogBucket) []depend.Threshold {
	list := make([]depend.Threshold, len(buckets))
	for i, s := range buckets {
		list[i] = depend.Threshold{From: s, Beyond: b.counts[s]}
	}
	return list
}

// largestAreTail reports whether the bucket of the largest holds no more than a tail.
func (b beyondBuckets) largestAreTail(n uint64) bool {
	beyond := b.counts[b.asked[len(b.asked)-1]]
	return beyond < 2*enoughBeyond || beyond <= n/10
}

// capped returns the bucket that tells the same attempts apart: from top on all are
// cut.
func (b beyondBuckets) capped(s depend.LogBucket) depend.LogBucket { return min(s, b.top) }

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// Widen puts the limits of the quantiles of t where so many attempts as their
// effects leave would put them. A limit of rank k out of n_eff is the value at the
// rank ceil(k n/n_eff), a lower one that at floor((k-1) n/n_eff) + 1: without an
// effect both are k.
func (o Observed) Widen(t *Tails, effects []depend.Dependent, confidence P) {
	order := o.ordering(*t)
	for i := range t.Tails {
		q := &t.Tails[i]
		if q.Effect = effects[i].Effect; q.Effect.Counts() {
			q.Effective = q.Effect.Size(q.N)
			order.limits(q, confidence)
		}
	}
	if len(order.lower)+len(order.upper) == 0 {
		return
	}
	order.read(o)
	for i := range t.Tails {
		if q := t.Tails[i : i+1]; q[0].Effect.Counts() {
			o.conclude(q, confidence)
		}
	}
}

// EffectiveShare returns c of n as counts of size attempts, rounded down and up.
func EffectiveShare(c, n, size uint64) (down, up uint64) {
	return Sum{Lo: c}.OutOf(Sum{Lo: n}, size)
}
