package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

var orphansKind = kind{
	name: "orphans",
	command: cobra.Command{
		Use:   "orphans [FILE…]",
		Short: "Work that goes on after its caller gave up, in full",
		Long: `An orphan is a child span that runs on after its parent gave up. It is not a
span whose parent is absent: that is a missing parent, though many tools call it
an orphan.

orphans counts them, says how much time they wasted, which calls reach them, how
many callees honour a cancellation, which timeouts are inverted, and lists the
worst cases. It needs parent ids, so a hop log is not checkable.`,
		Example: `  tailscope orphans traces.json.gz
  tailscope orphans --trace-url 'https://jaeger.example.com/trace/{trace}' traces.json
  tailscope orphans --fail-on 'orphans>0' traces.json`,
	},
	rests: []string{neighborsKind.name, "calls"},
	reads: spans.Hosts,
	shows: spans.Positions | spans.Texts,
	new:   func() settings { return new(orphanSettings) },
	merge: merges[*orphans.Accumulator],
}

const usualTolerance = time.Millisecond

// What --sort orders orphans by.
const byWasted, byOverrun = "wasted", "overrun"

type orphanSettings struct {
	tolerance time.Duration
}

func (s *orphanSettings) declare(o *options, f *pflag.FlagSet, alone bool) {
	f.DurationVar(&s.tolerance, "tolerance", usualTolerance, "how long a child may outlast its parent and still count as contained")
	o.limitFlag(f, "orphans")
	o.traceURLFlag(f)
	if alone {
		f.StringVar(&o.sort, "sort", byWasted, "what makes an orphan worse: wasted or overrun")
	}
}

func (s *orphanSettings) check(p *plan, _ bool) error {
	if s.tolerance < 0 {
		return fmt.Errorf("--tolerance %s: at least 0", s.tolerance)
	}
	if !p.whole() {
		if err := oneOf("--sort", p.sort, "", byWasted, byOverrun); err != nil {
			return err
		}
	}
	return nil
}

func (s *orphanSettings) collect(p *plan) any {
	return orphans.NewAccumulator(orphans.Config{Tolerance: int64(s.tolerance), Limit: p.limit, ByOverrun: p.sort == byOverrun})
}

func (*orphanSettings) result(r *results, collected any) func() report.Section {
	w := collected.(*orphans.Accumulator)
	result := w.Result(orphans.Query{Quantiles: r.plan.quantiles, Confidence: r.plan.confidence, Wall: r.wallOf(), Why: r.whyOrphans})
	result.Inferred = r.merged.nested > 0 && result.Checkable
	r.orphans = &result
	if r.sampling.Kind != sampling.Biased {
		r.addServerSide(w)
	}
	return func() report.Section { return result.Section(&r.view) }
}

// addServerSide puts beside the tails of calls what their servers took.
func (r *results) addServerSide(w *orphans.Accumulator) {
	ps := r.query.Quantiles
	if r.query.Target != nil {
		ps = append(slices.Clip(ps), *r.query.Target)
	}
	for id, completed := range r.merged.hops().FirstCompleted() {
		for _, side := range w.ServerSide(id, completed, ps) {
			for i := range r.hops {
				if r.hops[i].Hop == id {
					r.hops[i].SetServerSide(side.P, side.ServerSide)
				}
			}
		}
	}
}
