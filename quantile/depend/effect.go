package depend

import (
	"math/big"
	"math/bits"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile/runs"
)

// Effect is a design effect: by how much the variance of a share is larger than
// that of as many independent attempts, because attempts of one cluster go the
// same way. It is an estimate. The zero value is one that is not known.
type Effect struct {
	// Hundredths is the effect in hundredths, at least 100; 0 is not known.
	Hundredths uint64
	// ByTime: the clusters are blocks of time, else traces.
	ByTime bool
	// Sure: it lies more than three standard errors above 1.
	Sure bool
	// Assumed: it is the most that it can be, as there are too few traces to tell.
	Assumed bool
}

const (
	fewestClusters = 10  // with fewer an effect is not known
	fewestOfAKind  = 5   // nor with fewer attempts on one side of the threshold
	tolerated      = 150 // hundredths: up to this, limits take attempts for independent
)

// Known reports whether there was enough to estimate the effect from.
func (e Effect) Known() bool { return e.Hundredths > 0 }

// Float returns the effect, 1 for independent attempts.
func (e Effect) Float() float64 { return float64(e.Hundredths) / 100 }

// MarshalJSON writes the effect, null where it is not known.
func (e Effect) MarshalJSON() ([]byte, error) {
	return jsontype.Marshal(jsontype.If(e.Known(), e.Float()))
}

// Counts reports whether limits have to take the effect into account: it is above
// 1.5, and surely above 1.
func (e Effect) Counts() bool { return e.Sure && e.Hundredths > tolerated }

// Size returns n_eff = n/effect, rounded down: n attempts know as much as so many
// independent ones. It is n unless the effect counts, and never 0 unless n is.
func (e Effect) Size(n uint64) uint64 {
	if !e.Counts() || n == 0 {
		return n
	}
	hi, lo := bits.Mul64(n, 100)
	size, _ := bits.Div64(hi, lo, e.Hundredths) // hi < 100, the effect is more
	return max(1, size)
}

// Larger returns the effect that says more: a sure one before one that is not.
func (e Effect) Larger(o Effect) Effect {
	if o.Sure && !e.Sure || o.Sure == e.Sure && o.Hundredths > e.Hundredths {
		return o
	}
	return e
}

// clustered is a sample of clusters, of which cluster i has m attempts, a of them
// beyond a threshold.
type clustered struct {
	clusters   uint64
	n, beyond  uint64   // sums of m and a
	aa, am, mm runs.Sum // sums of squares and products
}

// add adds one cluster.
func (c *clustered) add(m, a uint64) {
	c.clusters++
	c.n += m
	c.beyond += a
	c.aa.Add(int64(a), a)
	c.am.Add(int64(a), m)
	c.mm.Add(int64(m), m)
}

// effect is the variance of the ratio r = beyond/n over clusters,
//
//	K/(K-1) sum of (a - r m)^2 / n^2,
//
// over that of independent attempts, r(1-r)/(n-1): 1 where every cluster has one
// attempt. Source: Cochran, Sampling Techniques (1977), 6.3 and 9A; Kish, Survey
// Sampling (1965), 8.2. Over K independent clusters its standard error is about
// the root of 2/(K-1).
func (c clustered) effect() Effect {
	k, within := c.clusters, c.n-c.beyond
	if k < fewestClusters || c.beyond < fewestOfAKind || within < fewestOfAKind {
		return Effect{}
	}
	over := product(c.scatter(), big64(k), big64(c.n-1), big64(100))
	under := product(big64(k-1), big64(c.n), big64(c.n), big64(c.beyond), big64(within))
	rounded := product(over, big64(2))
	rounded.Add(rounded, under).Div(rounded, under.Lsh(under, 1))
	e := Effect{Hundredths: max(100, rounded.Uint64())}
	above := new(big.Int).SetUint64(e.Hundredths - 100)
	e.Sure = product(above, above, big64(k-1)).Cmp(big64(18*100*100)) > 0
	return e
}

// utmost is the effect where all attempts of a cluster go the same way, the sum of
// m^2 over that of m, rounded up: what too few clusters do not rule out.
func (c clustered) utmost() Effect {
	most := product(c.mm.Big(), big64(100))
	most.Add(most, big64(c.n-1)).Div(most, big64(max(1, c.n)))
	return Effect{Hundredths: max(100, most.Uint64()), Sure: true, Assumed: true}
}

// scatter returns n^2 times the sum of (a - r m)^2, without a rounding.
func (c clustered) scatter() *big.Int {
	n, a := big64(c.n), big64(c.beyond)
	s := product(c.aa.Big(), n, n)
	s.Sub(s, product(c.am.Big(), n, a, big64(2)))
	return s.Add(s, product(c.mm.Big(), a, a))
}

func big64(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func product(factors ...*big.Int) *big.Int {
	p := big.NewInt(1)
	for _, f := range factors {
		p.Mul(p, f)
	}
	return p
}
