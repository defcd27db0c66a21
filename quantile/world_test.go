package quantile

import "github.com/tailscope/tailscope/internal/durationtest"

// sampleOf returns a sample of the values.
func sampleOf(values ...int64) *Sample {
	s := new(Sample)
	s.AddAll(values)
	return s
}

func talliesOf(u Union) []durationtest.Tally { return durationtest.Tallies(u.All()) }
