package fit_test

import (
	"fmt"
	"math"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/fit"
)

// Exponential durations of mean 1 s, cut at 3 s: p99 would be 4.605 s.
func Example() {
	var completed, cut quantile.Sample
	for i := range 2000 {
		if s := -math.Log1p(-(float64(i) + .5) / 2000); s < 3 {
			completed.Add(int64(s * 1e9))
		} else {
			cut.Add(3e9)
		}
	}
	o := quantile.Observed{Completed: quantile.Union{&completed}, CutAt: quantile.Union{&cut}}
	tails := o.Tails([]quantile.P{quantile.MustP("0.99")}, quantile.MustP("0.95")).Tails
	e := fit.Estimates(o, tails)[0]
	fmt.Printf("%v, %.1f s\n", e.Passed(), float64(*e.Value)/1e9)
	// Output: true, 4.6 s
}
