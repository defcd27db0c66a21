package depend

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile/runs"
	"gonum.org/v1/gonum/mathext"
)

// Effect is a design effect: by how much the variance of a share is larger than
// that of as many independent attempts, because attempts of one cluster go the
// same way. It is an estimate, larger the fewer clusters it is made from. The zero value
// is one that is not known.
type Effect struct {
	// Hundredths is the effect in hundredths, at least 100; 0 is not known.
	Hundredths uint64
	// Minutes is the width of the blocks of time that are the clusters; of traces, and
	// where the effect is 1, it is 0.
	Minutes uint32
	// Assumed: it is the most that it can be, as there are too few traces to tell.
	Assumed bool
}

const (
	fewestClusters = 6 // with fewer an effect is not known
	fewestOfAKind  = 5 // nor with fewer attempts on one side of the threshold
	// fewestToTell is how many attempts there must be on each side for an effect to tell
	// that attempts are dependent.
	fewestToTell = 20
	// byChance is how often an effect of independent attempts is taken for more than
	// chance, at one threshold, for clusters of one kind.
	byChance = .0003
)

// Known reports whether there was enough to estimate the effect from.
func (e Effect) Known() bool { return e.Hundredths > 0 }

// Float returns the effect, 1 for independent attempts.
func (e Effect) Float() float64 { return float64(e.Hundredths) / 100 }

// MarshalJSON writes the effect, null where it is not known.
func (e Effect) MarshalJSON() ([]byte, error) {
	return jsontype.Marshal(jsontype.If(e.Known(), e.Float()))
}

// Cluster names what attempts come together in: a trace, a minute, or so many of them.
func (e Effect) Cluster() string {
	switch e.Minutes {
	case 0:
		return "trace"
	case 1:
		return "minute"
	}
	return fmt.Sprintf("%d minutes", e.Minutes)
}

// Counts reports whether limits have to take the effect into account.
func (e Effect) Counts() bool { return e.Hundredths > 100 }

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

// Larger returns the larger of two effects.
func (e Effect) Larger(o Effect) Effect {
	if o.Hundredths > e.Hundredths {
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

// rarer is the number of attempts on the side of the threshold that has fewer.
func (c *clustered) rarer() uint64 { return min(c.beyond, c.n-c.beyond) }

func (c *clustered) known() bool { return c.clusters >= fewestClusters && c.rarer() >= fewestOfAKind }

// ratio is the design effect, the variance of the ratio r = beyond/n over clusters,
//
//	K/(K-1) sum of (a - r m)^2 / n^2,
//
// over that of independent attempts, r(1-r)/(n-1): 1 where every cluster has one
// attempt. Source: Cochran, Sampling Techniques (1977), 6.3 and 9A; Kish, Survey
// Sampling (1965), 8.2.
func (c *clustered) ratio() float64 {
	k, n, r := float64(c.clusters), float64(c.n), c.share()
	return k / (k - 1) * c.scatter() / n / n / (r * (1 - r) / (n - 1))
}

// dependent reports whether the effect is more than chance. That of independent attempts
// in K clusters, x of them on the rarer side, is spread as chi-squared over its degrees of
// freedom nu, 1/nu = 1/(K-1) + 1/(2x): few clusters and few attempts scatter alike.
func (c *clustered) dependent() bool {
	x := c.rarer()
	if c.clusters < fewestClusters || x < fewestToTell {
		return false
	}
	e, nu := c.ratio(), 1/(1/float64(c.clusters-1)+.5/float64(x))
	return e > 1+3*math.Sqrt(2/nu) && mathext.GammaIncRegComp(nu/2, e*nu/2) < byChance
}

// hundredths is the effect for limits: as much larger than the ratio as a limit that has
// its variance from K clusters is wider than one that knows it.
func (c *clustered) hundredths() uint64 {
	wider := studentAbove(float64(c.clusters-1)) / studentAbove(math.Inf(1))
	return uint64(math.Round(100 * max(1, c.ratio()*wider*wider)))
}

// studentAbove returns the 0.95 quantile of Student's t with nu degrees of freedom. It is
// where I_x(nu/2, 1/2) = 0.1 with x = nu/(nu + t^2).
func studentAbove(nu float64) float64 {
	if nu > 1e6 {
		return 1.6448536269514722 // that of the normal law
	}
	x := mathext.InvRegIncBeta(nu/2, .5, .1)
	return math.Sqrt(nu * (1 - x) / x)
}

// utmost is the effect where all attempts of a cluster go the same way, the sum of
// m^2 over that of m, rounded up: what too few clusters do not rule out.
func (c *clustered) utmost() Effect {
	most := product(c.mm.Big(), big64(100))
	most.Add(most, big64(c.n-1)).Div(most, big64(max(1, c.n)))
	return Effect{Hundredths: max(100, most.Uint64()), Assumed: true}
}

// scatter returns the sum of (a - r m)^2.
func (c *clustered) scatter() float64 {
	r := c.share()
	return max(0, c.aa.Float()-2*r*c.am.Float()+r*r*c.mm.Float())
}

func big64(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func product(factors ...*big.Int) *big.Int {
	p := big.NewInt(1)
	for _, f := range factors {
		p.Mul(p, f)
	}
	return p
}
