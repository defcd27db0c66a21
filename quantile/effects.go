package quantile

import (
	"slices"

	"github.com/tailscope/tailscope/quantile/depend"
)

// Effects returns, for each quantile of t and then for the cut share, how the
// attempts that were cut or lie beyond it hang together. The threshold is the log
// bucket that has nearest to n-k attempts beyond it, k the quantile's rank; where all
// buckets are far from that, as many attempts took the same time, nothing is known. Where fewer lie beyond it than show an effect, that of the
// highest bucket with enough counts if it is larger: slow attempts that come together
// do not turn independent because the slowest are few.
func (o Observed) Effects(t Tails, d depend.Dependence) (tails []depend.Dependent, cut depend.Dependent) {
	b := o.beyondBuckets(t, d)
	for i := range t.Tails {
		want := t.N - t.Tails[i].Rank
		var one depend.Dependent
		if s, near := b.nearest(b.candidates(&t.Tails[i]), want); near {
			one = d.At(s, t.N, b.counts[s])
		}
		tails = append(tails, b.rare(one, d, t.N, want))
	}
	s := b.capped(depend.CutBucket)
	cut = d.At(s, t.N, b.counts[s])
	if b.counts[s] > 0 {
		cut = b.rare(cut, d, t.N, b.counts[s])
	}
	return tails, cut
}

// enoughBeyond is how many attempts beyond a threshold show an effect well: of
// fewer, one that is there often goes unseen.
const enoughBeyond = 20

// rare puts the effect at the highest bucket with enough attempts beyond it for a
// smaller one of few, if these are in the tail.
func (b beyondBuckets) rare(one depend.Dependent, d depend.Dependence, n, few uint64) depend.Dependent {
	beyond := b.counts[b.enough]
	if few < enoughBeyond && (beyond < 2*enoughBeyond || beyond <= n/10) {
		one.Effect = one.Effect.Larger(d.Effect(b.enough, n, beyond))
	}
	return one
}

// beyondBuckets counts the attempts that were cut or lie in a bucket or above it.
type beyondBuckets struct {
	top    depend.LogBucket
	enough depend.LogBucket // the highest with enoughBeyond, where that is asked
	counts map[depend.LogBucket]uint64
}

func (o Observed) beyondBuckets(t Tails, d depend.Dependence) beyondBuckets {
	b := beyondBuckets{top: d.CutFrom, counts: map[depend.LogBucket]uint64{}}
	b.enough = b.capped(o.enoughBucket(t))
	buckets := []depend.LogBucket{b.capped(depend.CutBucket), b.enough}
	for i := range t.Tails {
		buckets = append(buckets, b.candidates(&t.Tails[i])...)
	}
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
	return b
}

// enoughBucket returns the highest bucket with enoughBeyond, CutBucket where no quantile
// has fewer or the cut ones are as many.
func (o Observed) enoughBucket(t Tails) depend.LogBucket {
	few := t.Cut > 0
	for i := range t.Tails {
		few = few || t.N-t.Tails[i].Rank < enoughBeyond
	}
	if !few || t.N < enoughBeyond || t.Cut >= enoughBeyond {
		return depend.CutBucket
	}
	return depend.LogBucketOf(o.Completed.At(t.N - enoughBeyond + 1)[0])
}

// capped returns the bucket that tells the same attempts apart: from top on all are
// cut.
func (b beyondBuckets) capped(s depend.LogBucket) depend.LogBucket { return min(s, b.top) }

// candidates are the thresholds next to a quantile. One that the cut attempts hide
// may be nearest to all of them.
func (b beyondBuckets) candidates(q *Tail) []depend.LogBucket {
	s := depend.LogBucketOf(q.Value)
	list := []depend.LogBucket{b.capped(s), b.capped(s + 1)}
	if q.Status != Exact {
		list = append(list, b.capped(depend.CutBucket))
	}
	return list
}

// nearest returns the candidate with nearest to so many attempts beyond it, the
// higher of two, and whether it is near: more than half and less than twice as many,
// or just those that were cut, where these are so many.
func (b beyondBuckets) nearest(candidates []depend.LogBucket, want uint64) (depend.LogBucket, bool) {
	best, least := candidates[0], distance(b.counts[candidates[0]], want)
	for _, s := range candidates[1:] {
		if d := distance(b.counts[s], want); d <= least {
			best, least = s, d
		}
	}
	n := b.counts[best]
	return best, n > want/2 && n/2 < want || best == b.top && n >= want
}

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
