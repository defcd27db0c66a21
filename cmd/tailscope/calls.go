package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

var callsKind = kind{
	name: "calls",
	command: cobra.Command{
		Use:   "calls [FILE…]",
		Short: "Queue or slow: why each call is slow, and how busy its callee is, in full",
		Long: `calls holds each call against the server's span that answers it: how long it waited,
there and back, and how long it was worked on. It says of each call why the slow ones
are slow:

  slow_instance     one instance works several times as long as the others
  pool_full         calls wait until another one gives up its place
  network_or_clock  the time is between the two spans, and nothing queues
  slow_work         the time is the server's work
  unknown           the data do not tell, and what would

A full pool is shown by hand-overs, not by a plateau of calls open at once, which a
load generator makes too. It needs traces with spans of both sides.`,
		Example: `  tailscope calls traces.json.gz
  tailscope calls --format json traces.json | jq '.calls.pairs[] | {call, verdict}'`,
	},
	reads: spans.Hosts | spans.Instances,
	new:   func() settings { return new(callSettings) },
	merge: merges[*calls.Accumulator],
}

type callSettings struct{}

func (*callSettings) declare(*options, *pflag.FlagSet, bool) {}

func (*callSettings) check(*plan, bool) error { return nil }

// callShare is what part of --memory the moments of calls have, and the samples of one
// callee after them.
const callShare = 8

func (*callSettings) collect(p *plan) any {
	return calls.NewAccumulator(calls.Config{Memory: p.memory / callShare / int64(p.jobs), TempDir: p.tempDir})
}

func (*callSettings) result(r *results, collected any) func() report.Section {
	kind := r.sampling.Kind
	result := collected.(*calls.Accumulator).Result(calls.Query{
		Quantiles: r.plan.quantiles, Memory: r.plan.memory / callShare,
		Biased: kind == sampling.Biased, Sampled: kind == sampling.Biased || kind == sampling.Probability || r.sampling.Weighted,
	})
	r.calls = &result
	return func() report.Section { return result.Section(&r.view) }
}
