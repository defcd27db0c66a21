package quantile

import "github.com/tailscope/tailscope/quantile/runs"

// What holds durations, and sums of them: see package runs.
type (
	Sample = runs.Sample
	Store  = runs.Store
	Union  = runs.Union
	Sum    = runs.Sum
)

// NewStore is runs.NewStore.
func NewStore(limit int64, dir string) *Store { return runs.NewStore(limit, dir) }
