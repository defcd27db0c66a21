package sampling

import (
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

// Both traces were kept with a known probability, so they can be weighted.
func Example() {
	var a Accumulator
	for id, weight := range []float64{10, 1000} {
		list := []spans.Span{{ID: 1, Weight: weight, Outcome: spans.Completed}}
		a.AddTrace(spans.NewTrace(spans.TraceID{Lo: uint64(id + 1)}, list, []spans.Hop{{Name: "checkout"}}, []string{""}))
	}
	v := a.Verdict(Stated{})
	fmt.Println(v.Kind, v.Weighted, v.Evidence)
	// Output:
	// probability true every trace carries the probability with which it was kept (tracestate ot=th, sampler.param or a weight tag): probabilities 0.001 to 0.1
}
