package calls

import (
	"math"
	"math/bits"
)

// stepBits is into how many steps a doubling is divided where values are ranked: 16, of
// some 4 to 6 % each.
const stepBits = 4

// step is the number of the step that a value is in; values below 32 have one each. A
// negative value counts as 0.
func step(v int64) int32 {
	u := uint64(max(0, v))
	if u < 2<<stepBits {
		return int32(u)
	}
	e := bits.Len64(u) - stepBits - 1
	return int32(e<<stepBits + int(u>>e))
}

// grid counts pairs of steps, for their rank correlation: by the first, then by the second.
type grid [][]uint32

func (g *grid) add(x, y int32) {
	for int(x) >= len(*g) {
		*g = append(*g, nil)
	}
	row := &(*g)[x]
	if int(y) >= len(*row) {
		*row = append(*row, make([]uint32, int(y)+1-len(*row))...)
	}
	if (*row)[y] < math.MaxUint32 {
		(*row)[y]++
	}
}

// correlation is Spearman's: that of the ranks, where values in one step share theirs. It
// is 0 where either side has one step only.
func (g grid) correlation() float64 {
	var n uint64
	var first, second []uint64
	for x, row := range g {
		first = append(first, 0)
		second = append(second, make([]uint64, max(0, len(row)-len(second)))...)
		for y, c := range row {
			n, first[x], second[y] = n+uint64(c), first[x]+uint64(c), second[y]+uint64(c)
		}
	}
	xs, ys := centered(first, n), centered(second, n)
	var xx, yy, xy float64
	for x, row := range g {
		for y, count := range row {
			c, dx, dy := float64(count), xs[x], ys[y]
			xx, yy, xy = xx+c*dx*dx, yy+c*dy*dy, xy+c*dx*dy
		}
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// centered gives each step the mean rank of its values less that of all.
func centered(counts []uint64, n uint64) []float64 {
	ranks, before := make([]float64, len(counts)), uint64(0)
	for i, c := range counts {
		ranks[i] = float64(before) + float64(c+1)/2 - float64(n+1)/2
		before += c
	}
	return ranks
}
