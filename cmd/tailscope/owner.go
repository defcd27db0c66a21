package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/sampling"
)

func newOwner(s streams) *cobra.Command {
	o := newOptions(s)
	o.sections = sectionOwner
	cmd := &cobra.Command{
		Use:   "owner [FILE…]",
		Short: "Which hop owns the tail, and where failures sit, in full",
		Long: `owner takes the slowest requests apart: how much longer each hop takes in them
than in the usual ones. The hop with surely more than half of the difference owns
the tail; where no hop has, there is no owner, and the reason is given.

Traces are taken apart along their critical path, hop logs with start times by
what ran inside what, hop logs without by adding up. Failures are counted by the
deepest attempt that was cut or failed. 'tailscope rules' lists the rules and how
many traces each needs.`,
		Example: `  tailscope owner traces.json.gz
  tailscope owner --tail-from p99 hops.ndjson.gz`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	o.ownerFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.traceURL, "trace-url", "", "address of a trace, with {trace} for its id: `URL`")
	return cmd
}

// ownerFlags declares the flags of the commands that look for the tail's owner.
func (o *options) ownerFlags(f *pflag.FlagSet) {
	f.StringVar(&o.tailFrom, "tail-from", "p95", "quantile of the end-to-end time where the tail begins: p95 or 0.95")
}

// ownerPlan is what was asked for of the owner's section.
type ownerPlan struct {
	watch    attribution.Config
	tailFrom quantile.P
}

// planOwner checks the flags of ownerFlags.
func (o *options) planOwner(p *plan) error {
	p.owner.watch = attribution.Config{
		Memory: p.memory / 2 / int64(max(1, o.jobs)), TempDir: o.tempDir, PassUpCuts: p.ingest.Fields.On(outcome.RuleBelow),
	}
	if !p.sections.has(sectionOwner) {
		return nil
	}
	var err error
	p.owner.tailFrom, err = parseLabel(o.tailFrom)
	if f := p.owner.tailFrom.Float(); err != nil || f <= 0 || f >= 1 {
		return fmt.Errorf("--tail-from %q: a quantile between p0 and p100, such as p95 or 0.95", o.tailFrom)
	}
	return nil
}

// parseLabel reads a quantile as 0.999, as .999 or as p99.9.
func parseLabel(s string) (quantile.P, error) {
	percent, isLabel := strings.CutPrefix(s, "p")
	if !isLabel {
		if strings.HasPrefix(s, ".") {
			s = "0" + s // as it is printed
		}
		return quantile.ParseP(s)
	}
	whole, fraction, _ := strings.Cut(percent, ".")
	if len(whole) > 2 {
		return quantile.P{}, fmt.Errorf("%q is not below p100", s)
	}
	digits := strings.TrimRight(fmt.Sprintf("%02s", whole)+fraction, "0")
	return quantile.ParseP("0." + digits + strings.Repeat("0", max(0, 1-len(digits))))
}

func (p *plan) ownerQuery(v sampling.Verdict) attribution.Query {
	return attribution.Query{
		Quantiles: p.quantiles, TailFrom: p.owner.tailFrom, Confidence: p.confidence, MaxHops: p.maxHops, Jobs: p.jobs,
		Biased: v.Kind == sampling.Biased, Weighted: v.Weighted,
	}
}

// owners are the watches of all workers, none where nobody asked.
func owners(found []*analysis) []*attribution.Watch {
	var list []*attribution.Watch
	for _, a := range found {
		if a.owner != nil {
			list = append(list, a.owner)
		}
	}
	return list
}
