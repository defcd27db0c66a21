package spans_test

import (
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

func ExampleTrace() {
	hops := []spans.Hop{{Name: "gateway", Kind: spans.Server}, {Name: "stock", Kind: spans.Client}}
	const timed = spans.HasStart | spans.HasDuration
	t := spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{
		{ID: 3, Parent: 1, Hop: 1, Start: 60, Duration: 30, Flags: timed},
		{ID: 2, Parent: 1, Hop: 1, Start: 10, Duration: 40, Flags: timed, Outcome: spans.Truncated, CutBy: spans.Own},
		{ID: 1, Hop: 0, Start: 0, Duration: 100, Flags: timed},
	}, hops, nil)
	t.MarkRetries(spans.RetryOptions{})
	for _, i := range t.TopDown() {
		fmt.Println(t.HopOf(i), t.Spans[i].Start, t.Spans[i].Outcome, t.RetryOf[i])
	}
	// Output:
	// gateway (server) 0 completed -1
	// stock (client) 10 truncated -1
	// stock (client) 60 completed 1
}
