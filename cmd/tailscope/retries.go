package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

var retriesKind = kind{
	name: "retries",
	command: cobra.Command{
		Use:   "retries [FILE…]",
		Short: "What retries are worth and what they cost downstream, in full",
		Long: `retries says, per hop, how many of the calls whose first attempt timed out a
retry completed, and whether retries help, help in part or do not; whether
failing calls last whole multiples of their timeout; which calls a server ran to
a good end more than once (traces only); how many attempts one request becomes;
retries over requests in the worst minute; and whether retries wait with jitter.

A retry belongs to the latest attempt of its hop that timed out or failed, in its
chain or under its parent, and ended before it. 'tailscope rules' lists the rules and what
each needs.`,
		Example: `  tailscope retries hops.ndjson.gz
  tailscope retries --timeout 'orders=300ms' --write-hop 'orders' traces.json.gz`,
	},
	rests: []string{"calls"},
	shows: spans.Texts,
	keep:  assembly.KeepRetried,
	new:   func() settings { return new(retrySettings) },
	merge: merges[*retries.Accumulator],
	rules: rulesOf("retry_rules", retries.Rules[:]),
}

type retrySettings struct{ writeHops []string }

func (s *retrySettings) declare(o *options, f *pflag.FlagSet, alone bool) {
	f.StringArrayVar(&s.writeHops, "write-hop", nil, "`HOP` or operation that writes, so that executing it twice is an error; repeatable")
	if alone {
		o.limitFlag(f, "calls that were executed twice")
		o.traceURLFlag(f)
	}
}

func (s *retrySettings) namedHops() []string { return s.writeHops }

func (*retrySettings) check(*plan, bool) error { return nil }

func (s *retrySettings) collect(p *plan) any {
	return retries.NewAccumulator(retries.Config{
		WriteHops: s.writeHops, Limit: p.limit, Timeouts: p.timeouts, Naming: p.naming,
	})
}

func (s *retrySettings) result(r *results, collected any) func() report.Section {
	p, completed := r.plan, r.merged.hops().Completed()
	worth := collected.(*retries.Accumulator).Result(retries.Query{
		Confidence: p.confidence, MaxHops: p.maxHops, Wall: r.wallOf(),
		Completed: func(h spans.Hop) quantile.Union { return completed[h] },
		Biased:    r.sampling.Kind == sampling.Biased, Weighted: r.sampling.Weighted, Queue: r.queueText,
	})
	r.retries = &worth
	return func() report.Section { return worth.Section(&r.view) }
}
