package quantile

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortedByteByByteIsSorted(t *testing.T) {
	for name, next := range generators {
		for _, n := range []int{0, 1, fewToSort - 1, fewToSort, 1000, maxPending, maxPending + 1} {
			r := rand.New(rand.NewPCG(uint64(n), 3))
			got := generate(n, func() int64 { return next(r) })
			want := slices.Sorted(slices.Values(got))
			if sortDurations(got); !slices.Equal(got, want) {
				t.Errorf("%d of %s", n, name)
			}
		}
	}
}
