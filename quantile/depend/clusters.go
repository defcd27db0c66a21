package depend

import (
	"slices"

	"github.com/tailscope/tailscope/quantile/runs"
)

// Clusters sums up clusters of attempts, such as those of one hop in one trace, for
// every log bucket as the threshold. The sums are integers, so the order of clusters
// does not matter. Clusters of one attempt follow from the counts of all and are
// not entered. The zero value is empty and ready.
type Clusters struct {
	count, members, squares uint64 // clusters, and sums of m and m^2

	first   LogBucket
	buckets []bucketSums // from first on
	cut     bucketSums
}

// bucketSums are what clusters add beyond a bucket: the sums over all buckets from a
// threshold on are those of a, a^2 and a m there.
type bucketSums struct{ a, aa, am uint64 }

func (s *bucketSums) add(o bucketSums) {
	s.a += o.a
	s.aa += o.aa
	s.am += o.am
}

// Empty reports whether no cluster was entered.
func (c *Clusters) Empty() bool { return c.count == 0 }

// Add enters one cluster of at least two attempts by their buckets, which it sorts.
func (c *Clusters) Add(buckets []LogBucket) {
	slices.Sort(buckets)
	m := uint64(len(buckets))
	c.count++
	c.members += m
	c.squares += m * m
	for i, s := range buckets {
		// Beyond this bucket there is one attempt less: a^2 falls by 2a - 1.
		a := m - uint64(i)
		c.at(s).add(bucketSums{1, 2*a - 1, m})
	}
}

// at returns the sums of a bucket, which come into being.
func (c *Clusters) at(s LogBucket) *bucketSums {
	switch {
	case s == CutBucket:
		return &c.cut
	case len(c.buckets) == 0:
		c.first = s
	case s < c.first:
		c.buckets = append(make([]bucketSums, c.first-s, int(c.first-s)+len(c.buckets)), c.buckets...)
		c.first = s
	}
	for int(s-c.first) >= len(c.buckets) {
		c.buckets = append(c.buckets, bucketSums{})
	}
	return &c.buckets[s-c.first]
}

// Merge adds the clusters of o.
func (c *Clusters) Merge(o *Clusters) {
	c.count += o.count
	c.members += o.members
	c.squares += o.squares
	c.cut.add(o.cut)
	for i, s := range o.buckets {
		c.at(o.first + LogBucket(i)).add(s)
	}
}

// beyond sums up all that lies in a bucket or above it.
func (c *Clusters) beyond(s LogBucket) bucketSums {
	sum := c.cut
	for i, at := range c.buckets {
		if c.first+LogBucket(i) >= s {
			sum.add(at)
		}
	}
	return sum
}

// clustered is the sample of n attempts, beyond of them in bucket s or above; those
// that were in none of the clusters are clusters of their own.
func (c *Clusters) clustered(s LogBucket, n, beyond uint64) clustered {
	sums := c.beyond(s)
	alone, slow := n-min(n, c.members), beyond-min(beyond, sums.a)
	return clustered{
		clusters: c.count + alone, n: n, beyond: beyond,
		aa: runs.Sum{Lo: sums.aa + slow}, am: runs.Sum{Lo: sums.am + slow}, mm: runs.Sum{Lo: c.squares + alone},
	}
}
