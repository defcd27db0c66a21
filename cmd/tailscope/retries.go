package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

func newRetries(s streams) *cobra.Command {
	o := newOptions(s)
	o.sections = sectionRetries
	cmd := &cobra.Command{
		Use:   "retries [FILE…]",
		Short: "What retries are worth and what they cost downstream, in full",
		Long: `retries says, per hop, how many of the calls whose first attempt was cut a retry
completed, and whether that is a fresh draw or the same slowness again; whether
failing calls last whole multiples of their timeout; which calls a server ran to
a good end more than once (traces only); how many attempts one request becomes;
retries over requests in the worst minute; and whether retries wait with jitter.

A retry belongs to the latest cut or failed attempt of its hop, in its chain or
under its parent, that ended before it. 'tailscope rules' lists the rules and what
each needs.`,
		Example: `  tailscope retries hops.ndjson.gz
  tailscope retries --timeout 'orders=300ms' --write-hop 'orders' traces.json.gz`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	o.retryFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.limit, "limit", 20, "most calls to list that were executed twice")
	cmd.Flags().StringVar(&o.traceURL, "trace-url", "", "address of a trace, with {trace} for its id: `URL`")
	return cmd
}

// retryFlags declares the flags of the commands that look at retries.
func (o *options) retryFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.writeHops, "write-hop", nil, "`HOP` or operation that writes, so that executing it twice is an error; repeatable")
}

// planRetries takes over the flags of retryFlags; others check the limit.
func (o *options) planRetries(p *plan) error {
	p.retries = retries.Config{
		WriteHops: o.writeHops, Limit: o.limit, Timeouts: p.timeouts, FailedAtWall: p.ingest.Fields.On(outcome.RuleWall),
		Memory: p.memory / 4 / int64(max(1, o.jobs)), TempDir: o.tempDir,
	}
	return nil
}

func (p *plan) retriesQuery(v sampling.Verdict, hops []buckets.Result, completed map[spans.Hop]quantile.Union) retries.Query {
	return retries.Query{
		Confidence: p.confidence, MaxHops: p.maxHops, Wall: wallsOf(hops),
		Completed: func(h spans.Hop) quantile.Union { return completed[h] },
		Biased:    v.Kind == sampling.Biased, Weighted: v.Weighted,
	}
}

// retryWatches are the watches of all workers, none where nobody asked.
func retryWatches(found []*analysis) []*retries.Watch {
	var list []*retries.Watch
	for _, a := range found {
		if a.retries != nil {
			list = append(list, a.retries)
		}
	}
	return list
}
