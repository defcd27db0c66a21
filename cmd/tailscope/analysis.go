package main

import (
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

// sections are the parts of the report that a command asks for.
type sections uint8

const (
	sectionHops sections = 1 << iota
	sectionOrphans
	sectionOwner
	sectionRetries
)

func (s sections) has(want sections) bool { return s&want == want }

// analysis is what one worker collects; the workers' are merged at the end.
type analysis struct {
	set   *buckets.Classes
	watch *sampling.Watch
	// Chains of hop logs whose nesting was inferred, and those too long for it.
	nested, unnested int64
	orphans          *orphans.Watch     // nil where nobody asked
	owner            *attribution.Watch // the same
	retries          *retries.Watch     // the same
}

func (p *plan) newAnalysis(c buckets.Config) *analysis {
	a := &analysis{set: buckets.NewClasses(c), watch: new(sampling.Watch)}
	if p.sections.has(sectionOrphans) {
		a.orphans = orphans.NewWatch(p.orphans)
	}
	if p.sections.has(sectionOwner) {
		a.owner = attribution.NewWatch(p.owner.watch)
	}
	if p.sections.has(sectionRetries) {
		a.retries = retries.NewWatch(p.retries)
	}
	return a
}

// addTrace looks at a whole trace: retries and cuts from below are marked first,
// then everything that asks for traces sees it.
func (a *analysis) addTrace(p *plan, t *spans.Trace) {
	rules := p.ingest.Fields
	t.MarkRetries(spans.RetryOptions{NoMarks: !rules.On(ingest.RuleRetryMark), NoSiblings: !rules.On(ingest.RuleSibling)})
	ofLog := p.infer && t.OfLog()
	if ofLog {
		a.nest(t)
	}
	if rules.On(ingest.RuleBelow) {
		t.PassUpCuts()
	}
	a.set.AddTrace(t, a.weigh(p, t, ofLog))
	if a.orphans != nil {
		a.orphans.Add(t)
	}
	if a.owner != nil {
		a.owner.Add(t)
	}
	if a.retries != nil {
		a.retries.Add(t)
	}
}

// nest infers what called what in a chain of a hop log.
func (a *analysis) nest(t *spans.Trace) {
	if len(t.Spans) > spans.MostNested {
		a.unnested++
		return
	}
	a.nested++
	t.InferNesting()
}

// weigh returns how many traces one stands for, 0 where nothing says so. A hop
// log holds every attempt, also where it is read as traces.
func (a *analysis) weigh(p *plan, t *spans.Trace, ofLog bool) float64 {
	if ofLog {
		return 0
	}
	weight := a.watch.Add(t)
	if !p.sampling.ReadsWeights() {
		return 0
	}
	return weight
}

func (a *analysis) merge(o *analysis) {
	a.set.Merge(o.set)
	a.watch.Merge(o.watch)
	a.nested += o.nested
	a.unnested += o.unnested
	if a.orphans != nil {
		a.orphans.Merge(o.orphans)
	}
	if a.owner != nil {
		a.owner.Merge(o.owner)
	}
	if a.retries != nil {
		a.retries.Merge(o.retries)
	}
}

// report puts the results together.
func (p *plan) report(f *found) *report.Report {
	r := &report.Report{
		Input: f.ledger.Summary(len(p.timeouts) > 0), Quantiles: p.quantiles,
		Paths: f.paths, TraceURL: p.traceURL, InFull: !p.sections.has(sectionHops),
	}
	verdict := f.watch.Verdict(p.sampling)
	describeTraces(&r.Input, f, verdict)
	r.Input.Warnings = append(r.Input.Warnings, f.notes...)
	r.Input.Warnings = append(r.Input.Warnings, p.inputWarnings(f)...)
	hops := f.set.Results(buckets.Query{
		Quantiles: p.quantiles, Confidence: p.confidence, Marked: f.ledger.Marked(), MaxHops: p.maxHops, Jobs: p.jobs,
		Biased: verdict.Kind == sampling.Biased, Weighted: verdict.Weighted,
		Simultaneous: p.simultaneous,
	})
	if f.orphans != nil {
		found := f.orphans.Result(orphans.Query{Quantiles: p.quantiles, Wall: wallsOf(hops)})
		found.Inferred = f.nested > 0 && found.Checkable
		r.Orphans = &found
		if verdict.Kind != sampling.Biased {
			f.addServerSide(hops, p.quantiles)
		}
	}
	if f.owner != nil {
		owner := f.owner.Result(p.ownerQuery(verdict))
		r.Owner = &owner
	}
	if f.retries != nil {
		worth := f.retries.Result(p.retriesQuery(verdict, hops, f.set.Completed()))
		r.Retries = &worth
	}
	if p.sections.has(sectionHops) {
		r.Hops = hops
	}
	return r
}

// wallsOf tells the timeout of a hop: of several the one that cut most, of an
// inferred one the upper end.
func wallsOf(hops []buckets.Result) func(spans.Hop) (int64, bool) {
	walls := map[hopKey]buckets.Wall{}
	for _, h := range hops {
		for _, w := range h.Walls {
			if most, known := walls[hopKey{h.Hop, h.Kind}]; !known || w.Count > most.Count {
				walls[hopKey{h.Hop, h.Kind}] = w
			}
		}
	}
	return func(h spans.Hop) (int64, bool) {
		w, known := walls[hopKey{h.Name, h.Kind.String()}]
		if w.Timeout != nil {
			return *w.Timeout, known
		}
		return w.To, known
	}
}

// hopKey is a row of the report.
type hopKey struct{ name, kind string }

// addServerSide puts beside the tails of calls what their servers took.
func (f *found) addServerSide(hops []buckets.Result, ps []quantile.P) {
	for id, completed := range f.set.FirstCompleted() {
		for _, side := range f.orphans.ServerSide(id, completed, ps) {
			for i := range hops {
				if hops[i].Hop == id.Name && hops[i].Kind == id.Kind.String() {
					hops[i].SetServerSide(side.P, buckets.ServerSide{Value: side.Value, N: side.N, Of: side.Of, Selected: side.Selected})
				}
			}
		}
	}
}
