package trace_test

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/trace"
)

func ExampleFormats() {
	for _, f := range trace.Formats() {
		fmt.Println(f.Name)
	}
	// Output:
	// jaeger
	// jaeger-jsonpb
	// otlp
	// jaeger-proto
}
