package calls

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// stepBits is into how many steps a doubling is divided where values are ranked: 32, of
// some 2 or 3 % each.
const stepBits = 5

// step is the number of the step that a value is in; values below 64 have one each. A
// negative value counts as 0.
func step(v int64) int32 {
	u := uint64(max(0, v))
	if u < 2<<stepBits {
		return int32(u)
	}
	e := bits.Len64(u) - stepBits - 1
	return int32(e<<stepBits + int(u>>e))
}

// grid counts pairs of steps, for their rank correlation.
type grid map[[2]int32]uint64

func (g *grid) add(x, y int32) {
	if *g == nil {
		*g = grid{}
	}
	(*g)[[2]int32{x, y}]++
}

// correlation is Spearman's: that of the ranks, where values in one step share theirs. It
// is 0 where either side has one step only.
func (g grid) correlation() float64 {
	var n uint64
	sides := [2]map[int32]uint64{{}, {}}
	for k, count := range g {
		n += count
		sides[0][k[0]] += count
		sides[1][k[1]] += count
	}
	x, y := centered(sides[0], n), centered(sides[1], n)
	var xx, yy, xy float64
	for _, k := range slices.SortedFunc(maps.Keys(g), func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) }) {
		c, dx, dy := float64(g[k]), x[k[0]], y[k[1]]
		xx, yy, xy = xx+c*dx*dx, yy+c*dy*dy, xy+c*dx*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// centered gives each step the mean rank of its values less that of all.
func centered(counts map[int32]uint64, n uint64) map[int32]float64 {
	ranks, before := map[int32]float64{}, uint64(0)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		c := counts[k]
		ranks[k] = float64(before) + float64(c+1)/2 - float64(n+1)/2
		before += c
	}
	return ranks
}
