package runs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
)

func TestSortedByteByByteIsSorted(t *testing.T) {
	for name, next := range durationtest.Generators {
		for _, n := range []int{0, 1, fewToSort - 1, fewToSort, 1000, maxPending, maxPending + 1} {
			r := rand.New(rand.NewPCG(uint64(n), 3))
			got := durationtest.Generate(n, func() int64 { return next(r) })
			want := slices.Sorted(slices.Values(got))
			if SortDurations(got); !slices.Equal(got, want) {
				t.Errorf("%d of %s", n, name)
			}
		}
	}
}
