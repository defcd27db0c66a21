package quantile

import "sort"

// tie lets a probability that equals its limit in real numbers, such as
// 0.5^4 and 1-0.9375, pass in spite of the last digits of floats.
const tie = 1 + 1e-12

// firstWhere returns the smallest k in [lo, hi] for which a condition that
// turns from false to true holds; hi+1 if it never does.
func firstWhere(lo, hi uint64, holds func(k uint64) bool) uint64 {
	return lo + uint64(sort.Search(int(hi+1-lo), func(i int) bool { return holds(lo + uint64(i)) }))
}

// UpperRank returns the rank of the one-sided upper limit of the p-quantile
// among n values: the smallest k with I_p(k, n-k+1) <= 1-confidence, for any
// distribution. It is n+1 where no rank is enough, which is so while
// p^n > 1-confidence. Source: order-statistic limits, Conover, Practical
// Nonparametric Statistics, 3.2.
func UpperRank(n uint64, p, confidence P) uint64 { return upperRankIn(1, n, n, p, confidence) }

// upperRankIn is UpperRank where that is known to lie between lo and hi, or beyond n.
func upperRankIn(lo, hi, n uint64, p, confidence P) uint64 {
	if confidence.certain() && !p.impossible() {
		return n + 1
	}
	a, c := confidence.Beyond()*tie, p.chance()
	return firstWhere(lo, min(hi, n), func(k uint64) bool { return c.atLeast(k, n) <= a })
}

// LowerRank returns the rank of the one-sided lower limit of the p-quantile
// among n values: the largest k with P(Bin(n,p) >= k) >= confidence, 0 where
// there is none. Source: as UpperRank.
func LowerRank(n uint64, p, confidence P) uint64 {
	if confidence.certain() && !p.certain() {
		return 0
	}
	level, c := confidence.Float()/tie, p.chance()
	return firstWhere(1, n, func(k uint64) bool { return c.atLeast(k, n) < level }) - 1
}

// ClopperPearson returns the lower and the upper limit of a share of which c
// in n were observed, each one-sided at the given confidence. With n = 0 they
// are 0 and 1; a c above n counts as n. Source: Clopper and Pearson,
// Biometrika 26 (1934), as quantiles of the beta distribution.
func ClopperPearson(c, n uint64, confidence P) (lower, upper float64) {
	lower, upper = 0, 1
	c = min(c, n)
	if c > 0 {
		lower = betaQuantile(c, n, confidence.Beyond())
	}
	if c < n {
		upper = betaQuantile(c+1, n, confidence.Float())
	}
	return lower, upper
}

// betaQuantile is shareWhere for any level.
func betaQuantile(k, n uint64, y float64) float64 {
	if y <= 0 || y >= 1 {
		return y
	}
	return shareWhere(k, n, y)
}

// HighestCertifiable returns the highest p whose quantile is shown, at the
// given confidence, to lie at or below the wall when c of n attempts were cut
// there: one minus the upper limit of the cut share.
func HighestCertifiable(c, n uint64, confidence P) float64 {
	_, upper := ClopperPearson(c, n, confidence)
	return 1 - upper
}

// CanarySize returns how many attempts a canary needs to show that the
// p-quantile lies below its timeout although r of them may be cut: the
// smallest n with P(Bin(n, 1-p) <= r) <= 1-confidence. It is 0 where no
// number is enough (p = 1 or confidence 1) or the number exceeds 2^62.
func CanarySize(p P, r uint64, confidence P) uint64 {
	const limit = 1 << 62
	if p.certain() || confidence.certain() || r >= limit/2 {
		return 0
	}
	a, c := confidence.Beyond()*tie, p.chance()
	// At most r of n are cut where at least n-r are not.
	enough := func(n uint64) bool { return c.atLeast(n-r, n) <= a }
	hi := r + 1
	for !enough(hi) {
		if hi *= 2; hi > limit {
			return 0
		}
	}
	return firstWhere(r+1, hi, enough)
}
