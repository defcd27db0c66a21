package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

var ownerKind = kind{
	name: "owner",
	command: cobra.Command{
		Use:   "owner [FILE…]",
		Short: "Which hop owns the tail, and where failures sit, in full",
		Long: `owner takes the slowest requests apart: how much longer each hop takes in them
than in the usual ones. The hop with surely more than half of the difference owns
the tail; where no hop has, there is no owner, and the reason is given.

Traces are taken apart along their critical path, hop logs with start times by
what ran inside what, hop logs without by adding up. Failures are counted by the
deepest attempt that timed out or failed. 'tailscope rules' lists the rules and how
many traces each needs.`,
		Example: `  tailscope owner traces.json.gz
  tailscope owner --tail-from p99 hops.ndjson.gz`,
	},
	rests: []string{"calls"},
	shows: spans.Hosts | spans.Instances | spans.Texts,
	keep:  assembly.KeepAll,
	new:   func() settings { return new(ownerSettings) },
	merge: merges[*attribution.Accumulator],
	rules: rulesOf("owner_rules", attribution.Rules[:]),
}

type ownerSettings struct {
	tailFrom string
	from     quantile.P
}

func (s *ownerSettings) declare(o *options, f *pflag.FlagSet, alone bool) {
	f.StringVar(&s.tailFrom, "tail-from", "p95", "quantile of the end-to-end time where the tail begins: p95, 0.95 or 95%")
	if alone {
		o.traceURLFlag(f)
	}
}

func (s *ownerSettings) check(_ *plan, shown bool) (err error) {
	if !shown {
		return nil
	}
	s.from, err = quantile.ParseLabel(s.tailFrom)
	if f := s.from.Float(); err != nil || f <= 0 || f >= 1 {
		return fmt.Errorf("--tail-from %q: a quantile between p0 and p100, such as p95, 0.95 or 95%%", s.tailFrom)
	}
	return nil
}

func (*ownerSettings) collect(*plan) any { return attribution.NewAccumulator() }

func (s *ownerSettings) result(r *results, collected any) func() report.Section {
	p := r.plan
	if !p.shows("owner") {
		return nil
	}
	owner := collected.(*attribution.Accumulator).Result(attribution.Query{
		Quantiles: p.quantiles, TailFrom: s.from, Confidence: p.confidence, MaxHops: p.maxHops, Jobs: p.jobs,
		Biased: r.sampling.Kind == sampling.Biased, Weighted: r.sampling.Weighted, Why: r.causeOf,
	})
	r.owner = &owner
	return func() report.Section { return owner.Section(&r.view) }
}
