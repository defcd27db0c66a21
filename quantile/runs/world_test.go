package runs

import (
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
)

// sampleOf returns a sample of the values.
func sampleOf(values ...int64) *Sample {
	s := new(Sample)
	s.AddAll(values)
	return s
}

func talliesOf(u Union) []durationtest.Tally { return durationtest.Tallies(u.All()) }

// shorter is a quarter of a large size where tests are to be short.
func shorter(n int) int {
	if testing.Short() && n >= 100_000 {
		return n / 4
	}
	return n
}
