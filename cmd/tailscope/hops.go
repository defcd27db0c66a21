package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

// hopsKind counts attempts by hop. Every run has it: other analyses ask for the
// timeouts that it finds, and the account of what was read for what it counted.
var hopsKind = kind{
	name: "hops",
	command: cobra.Command{
		Use:   "quantiles [FILE…]",
		Short: "Only the hop table: buckets and quantiles per hop, the fastest path",
		Long: `quantiles prints the hop table of analyze and nothing else, and decodes only
the fields that it needs.`,
		Example: `  tailscope quantiles --quantiles 0.5,0.99 --format csv hops.ndjson`,
	},
	reads: spans.Resolutions | spans.Starts,
	new:   func() settings { return new(hopSettings) },
	merge: merges[*hopCollector],
	asked: true,
}

// hopSettings has the config that all workers share, once the first of them asked.
type hopSettings struct{ config *buckets.Config }

func (*hopSettings) declare(o *options, f *pflag.FlagSet, _ bool) { o.limitFlags(f) }

func (s *hopSettings) check(*plan, bool) error {
	s.config = nil // of an earlier plan
	return nil
}

func (s *hopSettings) collect(p *plan) any {
	if s.config == nil {
		s.config = configOf(p)
	}
	return &hopCollector{Accumulator: buckets.NewAccumulator(*s.config), plan: p, clusters: p.runs("timeouts")}
}

func configOf(p *plan) *buckets.Config {
	c := buckets.NewConfig(p.timeouts)
	c.Naming = p.naming
	c.MaxWeights = sampling.MaxWeights
	c.Memory, c.TempDir = max(1, p.sampleMemory()/int64(p.jobs)), p.tempDir
	c.KeepFailures = !p.ingest.Fields.On(outcome.RuleBelow)
	return &c
}

// hopCollector counts what one worker sees, and how its traces were chosen.
type hopCollector struct {
	*buckets.Accumulator
	plan     *plan
	sampling sampling.Accumulator
	clusters bool // calls of one chain may count as dependent
}

func (c *hopCollector) AddChain(chain *spans.Chain) {
	if c.clusters {
		c.Accumulator.AddChain(chain)
	}
}

func (c *hopCollector) AddTrace(t *spans.Trace) { c.Accumulator.AddTrace(t, c.weigh(t)) }

// weigh returns how many traces one stands for, 0 where nothing says so. A hop
// log holds every attempt, also where it is read as traces.
func (c *hopCollector) weigh(t *spans.Trace) float64 {
	if c.plan.infer && t.OfLog() {
		return 0
	}
	weight := c.sampling.AddTrace(t)
	if !c.plan.sampling.ReadsWeights() {
		return 0
	}
	return weight
}

func (c *hopCollector) Merge(o *hopCollector) {
	c.Accumulator.Merge(o.Accumulator)
	c.sampling.Merge(&o.sampling)
}

func (*hopSettings) result(r *results, collected any) func() report.Section {
	p := r.plan
	r.query = buckets.Query{
		Quantiles: p.quantiles, Confidence: p.confidence, Marked: r.merged.ledger.Marked(), MaxHops: p.maxHops, Jobs: p.jobs,
		Biased: r.sampling.Kind == sampling.Biased, Weighted: r.sampling.Weighted, NoEstimate: p.noEstimate, Simultaneous: p.simultaneous,
		NoneLeftOut: p.sampling.Kind == sampling.None,
	}
	if s, graph := collectedBy[*timeoutSettings, *callgraph.Accumulator](r); s != nil {
		target := s.advice.Target(graph.Graph())
		r.query.Target = &target
	}
	r.hops = collected.(*hopCollector).Results(r.query)
	return func() report.Section { return buckets.Section(r.hops, &r.view) }
}

// wallOf tells the timeout of a hop: of several the one that cut most, of an
// inferred one the upper end.
func (r *results) wallOf() func(spans.Hop) (int64, bool) {
	walls := map[spans.Hop]buckets.Wall{}
	for _, h := range r.hops {
		if w, known := h.MainWall(); known {
			walls[h.Hop] = w
		}
	}
	return func(h spans.Hop) (int64, bool) {
		w, known := walls[h]
		if w.Timeout != nil {
			return *w.Timeout, known
		}
		return w.To, known
	}
}

// garbageOfMany is what mostGarbage is where there are many hops, or a very large trace.
const garbageOfMany = 25

// saveMemory lets less garbage pile up where there are many hops, unless the
// environment says how much.
func (l *pipeline) saveMemory() {
	if l.saving || !l.plan.naming.Many() {
		return
	}
	l.saving = true
	lessGarbage()
}

// lessGarbage is for runs that need much memory. Any worker may call it, more than once.
func lessGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageOfMany)
	}
}

// gather hands what was collected of lines to the first worker where there are many hops:
// they are in memory once then when chains and traces are looked at. The others collect
// anew, as whoever sees what makes no difference.
func (l *pipeline) gather() {
	if !l.plan.naming.Many() {
		return
	}
	first := l.workers[0]
	first.endBatches()
	for _, w := range l.workers[1:] {
		first.mergeCollected(w)
		w.collect()
	}
}
