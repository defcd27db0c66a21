package assembly_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// The lines of two chains come mixed.
func Example() {
	b := spans.NewBuilder(memory.DefaultAllocator, spans.Traces|spans.Starts)
	defer b.Release()
	for start, line := range [][2]string{{"order-1", "gateway"}, {"order-2", "gateway"}, {"order-1", "stock"}} {
		b.Append(&spans.Row{Trace: []byte(line[0]), Hop: b.Hop([]byte(line[1])), Start: int64(start), HasStart: true, Duration: int64(9 - 2*start), HasDuration: true})
	}
	batch := b.Batch()
	defer batch.Release()

	chains := assembly.NewChains(assembly.ChainConfig{Keep: assembly.KeepAll})
	defer chains.Close()
	if err := chains.Worker(0).AddBatch(batch); err != nil {
		fmt.Println(err)
	}
	err := chains.Each(context.Background(), 1, func(_ int, c *spans.Chain) error {
		for _, a := range c.Attempts {
			fmt.Println(c.Name(), c.Hops[a.Hop], a.Duration)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// order-1 gateway 9
	// order-1 stock 5
	// order-2 gateway 7
}
