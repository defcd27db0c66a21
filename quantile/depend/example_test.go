package depend_test

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile/depend"
)

// In ten of a hundred traces all ten calls are slow: a thousand calls know as much of
// the share of slow ones as a hundred independent calls do.
func Example() {
	var traces depend.Clusters
	slow := depend.LogBucketOf(50e6)
	for trace := range 100 {
		calls := make([]depend.LogBucket, 10)
		if trace%10 == 0 {
			for i := range calls {
				calls[i] = slow
			}
		}
		traces.Add(calls)
	}
	d := depend.Dependence{Traces: &traces, Blocks: depend.NewWindow().New(), CutFrom: depend.CutBucket}
	at := []depend.Threshold{{From: slow, Beyond: 100}}
	e := d.At(1000, at, at)[0]
	fmt.Println(e.Float(), e.Size(1000))
	// Output: 10.28 97
}
