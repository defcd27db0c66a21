// Package screen makes the first page of a run of what the analyses found: one line of what
// was read, the verdict, one table of all hops, what each timeout should be, retries,
// orphans, and what changes an answer.
//
//  1. New makes a report.Screen, which the writers of package report draw.
//  2. Verdicts are findings; this package finds nothing itself.
//  3. A table has one unit, three digits and at most one mark a row. Lower bounds are
//     rounded down.
package screen

import (
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// Sort is by what the rows of the table are sorted.
type Sort string

// The orders: by the share of the extra time of slow requests, the p99, calls, or names.
const (
	ByShare Sort = "share"
	ByP99   Sort = "p99"
	ByN     Sort = "n"
	ByName  Sort = "name"
)

// Input is what a page is made of.
type Input struct {
	Read      *ingest.Summary
	Findings  []findings.Finding
	Names     *findings.Names
	Links     []neighbors.Pair
	Quantiles []quantile.P
	Hops      []buckets.Result
	Owner     *attribution.Result
	Calls     *calls.Result
	Retries   *retries.Result
	Orphans   *orphans.Result
	Timeouts  *timeouts.Result
	// Completed returns the durations of a hop's completed first attempts.
	Completed func(spans.Hop) quantile.Union

	Shows func(hop string) bool // those to show; nil: all
	Top   int                   // most rows of the table; 0 for all
	Sort  Sort                  // "" for the tree of traces, and by share for hop logs
	Files []string              // as the run was given them
	// Settings is the file of settings that the run keeps to, "" for none.
	Settings string
}

// New makes the page.
func New(in Input) *report.Screen {
	b := &builder{Input: in}
	b.rows = b.tree()
	s := &report.Screen{Read: b.readLine(), Verdicts: b.verdicts(), Caveats: b.caveats(), More: b.more()}
	for _, block := range []*report.Block{b.table(), b.histogram(), b.timeouts(), b.retries(), b.orphans()} {
		if block != nil {
			s.Blocks = append(s.Blocks, *block)
		}
	}
	s.Fit()
	return s
}

// builder makes the parts.
type builder struct {
	Input
	rows []*line // of the table, in its order
	left int     // rows that are not shown
}
