package buckets

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Ninety calls completed and ten were cut by their timeout of 300 ms: the p95 is not
// known, but it is no less than that.
func Example() {
	const ms = 1_000_000
	list := make([]spans.Span, 100)
	for i := range list {
		list[i] = spans.Span{ID: spans.SpanID(i + 1), Duration: int64(i+1) * ms, Flags: spans.HasDuration | spans.OutcomeMarked, Outcome: spans.Completed}
		if i >= 90 {
			list[i].Duration, list[i].Outcome, list[i].CutBy = 301*ms, spans.Truncated, spans.Own
		}
	}
	a := NewAccumulator(NewConfig(map[string]int64{"stock": 300 * ms}))
	a.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{{Name: "stock"}}, []string{""}), 0)
	for _, r := range a.Results(Query{Quantiles: []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.95")}, Confidence: quantile.MustP("0.95"), Marked: true}) {
		for _, t := range r.Tail {
			fmt.Println(r.Name, t.P.Label(), t.Status, t.Value/ms)
		}
	}
	// Output:
	// stock p50 exact 50
	// stock p95 at_least 300
}
