package retries_test

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

// Of ten calls that were cut, a retry completes seven.
func Example() {
	hops := []spans.Hop{{Name: "stock", Kind: spans.Client}}
	a := retries.NewAccumulator(retries.Config{})
	for i := range uint64(10) {
		list := []spans.Span{
			{ID: 1, Duration: 300e6, Outcome: spans.Truncated, CutBy: spans.Own},
			{ID: 2, Start: 310e6, Duration: 20e6, Outcome: spans.Completed},
		}
		if i >= 7 {
			list[1].Outcome, list[1].CutBy = spans.Truncated, spans.Own
		}
		for k := range list {
			list[k].Flags = spans.HasStart | spans.HasDuration
		}
		list = append(list, spans.Span{ID: 9, Duration: 400e6, Hop: 1, Outcome: spans.Completed, Flags: spans.HasStart | spans.HasDuration})
		list[0].Parent, list[1].Parent = 9, 9
		t := spans.NewTrace(spans.TraceID{Lo: i + 1}, list, append(hops, spans.Hop{Name: "gateway", Kind: spans.Server}), nil)
		t.MarkRetries(spans.RetryOptions{})
		a.AddTrace(t)
	}
	r := a.Result(retries.Query{Confidence: quantile.MustP("0.95"), Wall: func(spans.Hop) (int64, bool) { return 300e6, true }})
	fmt.Printf("%d of %d rescued\n", r.All.Rescue.N, r.All.Rescue.Of)
	// Output: 7 of 10 rescued
}
