package timeouts

import (
	"fmt"
	"time"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

// Four thousand calls that all completed within 200 ms bound their p99.9, and the
// timeout is made of that.
func Example() {
	a, hops := buckets.NewAccumulator(buckets.NewConfig(nil)), []spans.Hop{{Name: "stock", Kind: spans.Client}}
	for i := range int64(4000) {
		call := spans.Span{ID: 1, Duration: i * 50_000, Flags: spans.HasDuration | spans.OutcomeMarked, Outcome: spans.Completed}
		a.AddTrace(spans.NewTrace(spans.TraceID{Lo: uint64(i + 1)}, []spans.Span{call}, hops, []string{""}), 0)
	}
	settings, graph := Settings{FalseTimeout: whole / 1000, Headroom: 133, Allowance: int64(10 * time.Millisecond)}, callgraph.NewAccumulator(callgraph.Config{}).Graph()
	target, confidence := settings.Target(graph), quantile.MustP("0.95")
	advice := Advise(Query{
		Settings: settings, Target: target, Confidence: confidence, Graph: graph, Retries: &retries.Result{},
		Hops: a.Results(buckets.Query{Confidence: confidence, Marked: true, Target: &target}), FirstCompleted: a.FirstCompleted(),
	})
	for _, h := range advice.Hops {
		fmt.Println(h.Hop, h.Evidence, time.Duration(*h.Bound), time.Duration(*h.Timeout))
	}
	// Output:
	// stock (client) certified 199.95ms 300ms
}
