package orphans

import (
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

// A client gave up after 100 ms; its server worked on for 60 ms more, for nobody.
func Example() {
	const timed = spans.HasStart | spans.HasDuration
	list := []spans.Span{
		{ID: 1, Duration: 100e6, Hop: 0, Flags: timed, Outcome: spans.Truncated, CutBy: spans.Own},
		{ID: 2, Parent: 1, Start: 10e6, Duration: 150e6, Hop: 1, Flags: timed, Outcome: spans.Completed},
	}
	hops := []spans.Hop{{Name: "stock", Kind: spans.Client}, {Name: "stock", Kind: spans.Server}}
	a := NewAccumulator(Config{Limit: 1})
	a.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, list, hops, []string{""}))
	r := a.Result(Query{})
	fmt.Println(r.Orphaned, "orphan")
	for _, c := range r.Items {
		fmt.Println(c.Child.Hop, c.Kind, c.Wasted/1e6, c.Sure)
	}
	// Output:
	// 1 orphan
	// stock (server) overrun 60 certain
}
