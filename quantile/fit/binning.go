package fit

import (
	"math/bits"

	"github.com/tailscope/tailscope/quantile/runs"
)

// exactUpTo is how many distinct values are kept one by one. Beyond, values that
// lie close together are taken as one bin with its mean and variance.
const exactUpTo = 2048

// bin is some values that lie close together: their number, and sums of what
// they are above the first. As it is filled in ascending order of the distinct
// values, the sums depend on the multiset alone.
type bin struct {
	first          int64
	count          uint64
	above, squares float64
}

func (c *bin) add(value int64, count uint64) {
	d, n := float64(value-c.first), float64(count)
	c.count += count
	c.above += n * d
	c.squares += n * d * d
}

// take adds all values of o, which come after those of c.
func (c *bin) take(o bin) {
	d, n := float64(o.first-c.first), float64(o.count)
	c.count += o.count
	c.squares += o.squares + 2*d*o.above + n*d*d
	c.above += o.above + n*d
}

// offset is how far the mean lies above the first value, and variance that of
// the values, in ns and ns^2.
func (c bin) offset() float64   { return c.above / float64(c.count) }
func (c bin) variance() float64 { return max(0, c.squares/float64(c.count)-c.offset()*c.offset()) }

// binning collects ascending values. key tells values apart once there are
// many: those of one key make a bin.
type binning struct {
	bins   []bin
	key    func(int64) uint64
	coarse bool
	last   uint64 // key of the last bin
}

func (g *binning) add(value int64, count uint64) {
	if !g.coarse && len(g.bins) == exactUpTo {
		g.coarsen()
	}
	if g.coarse {
		key := g.key(value)
		if key == g.last {
			g.bins[len(g.bins)-1].add(value, count)
			return
		}
		g.last = key
	}
	g.bins = append(g.bins, bin{first: value, count: count})
}

// coarsen joins what was collected one by one.
func (g *binning) coarsen() {
	g.coarse = true
	single := g.bins
	g.bins = append(make([]bin, 0, exactUpTo), single[0])
	g.last = g.key(single[0].first)
	for _, c := range single[1:] {
		if key := g.key(c.first); key != g.last {
			g.last = key
			g.bins = append(g.bins, c)
			continue
		}
		g.bins[len(g.bins)-1].take(c)
	}
}

// binned collects what a cursor still has to give.
func binned(from *runs.Cursor, key func(int64) uint64) []bin {
	g := binning{key: key}
	for v, c, ok := from.Next(); ok; v, c, ok = from.Next() {
		g.add(v, c)
	}
	return g.bins
}

// octave returns a key that values share which differ by less than 2^-digits of
// themselves; values below 2^digits have one each.
func octave(v uint64, digits int) uint64 {
	length := bits.Len64(v)
	if length <= digits {
		return v
	}
	return uint64(length)<<40 | v>>(length-1-digits)
}
