package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
)

// Estimates of a hop with a million values, of which one in a hundred was cut.
func BenchmarkEstimates(b *testing.B) {
	for _, n := range []int{1000, 10_000, 1_000_000} {
		for _, unit := range []int64{1, 1000} {
			done, cut := new(quantile.Sample), new(quantile.Sample)
			r := rand.New(rand.NewPCG(1, 1))
			for range n {
				if v := int64(2e8 * math.Exp(.8*r.NormFloat64())); v < 1_200_000_000 {
					done.Add(v / unit * unit)
				} else {
					cut.Add(1_200_000_000)
				}
			}
			o := quantile.Observed{Completed: quantile.Union{done}, CutAt: quantile.Union{cut}}
			tails := o.Tails([]quantile.P{quantile.MustP("0.5"), quantile.MustP("0.9"), quantile.MustP("0.95"), quantile.MustP("0.99"), quantile.MustP("0.999")}, ninetyFive).Tails
			b.Run(fmt.Sprintf("n=%d unit=%d", n, unit), func(b *testing.B) {
				for b.Loop() {
					Estimates(o, tails)
				}
			})
		}
	}
}
