package main

import (
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// sections are the parts of the report that a command asks for.
type sections uint8

const (
	sectionHops sections = 1 << iota
	sectionOrphans
	sectionOwner
	sectionRetries
	sectionTimeouts
)

func (s sections) has(want sections) bool { return s&want == want }

// needs are the sections with those whose findings they rest on.
func (s sections) needs() sections {
	if s.has(sectionTimeouts) {
		s |= sectionOrphans | sectionOwner | sectionRetries
	}
	return s
}

// analysis is what one worker collects; the workers' are merged at the end.
type analysis struct {
	set   *buckets.Classes
	watch *sampling.Watch
	// Chains of hop logs whose nesting was inferred, and those too long for it.
	nested, unnested int64
	orphans          *orphans.Watch     // nil where nobody asked
	owner            *attribution.Watch // the same
	retries          *retries.Watch     // the same
	calls            *callgraph.Watch   // the same
}

func (p *plan) newAnalysis(c buckets.Config) *analysis {
	a := &analysis{set: buckets.NewClasses(c), watch: new(sampling.Watch)}
	needs, owner := p.sections.needs(), p.owner.watch
	if needs.has(sectionTimeouts) {
		a.calls = callgraph.NewWatch(p.calls)
		owner.EachChain = a.addChain
		if p.infer { // then chains come as traces, and their attempts are bound already
			owner.EachChain = a.calls.AddChain
		}
	}
	if needs.has(sectionOrphans) {
		a.orphans = orphans.NewWatch(p.orphans)
	}
	if needs.has(sectionOwner) {
		a.owner = attribution.NewWatch(owner)
	}
	if needs.has(sectionRetries) {
		a.retries = retries.NewWatch(p.retries)
	}
	return a
}

// addChain looks at a chain of a hop log.
func (a *analysis) addChain(hops []spans.Hop, chain []spans.Attempt) {
	a.calls.AddChain(hops, chain)
	a.set.BindChain(hops, chain)
}

// err returns the first error of the files that hold what memory does not.
func (a *analysis) err() error {
	if a.calls != nil {
		if err := a.calls.Err(); err != nil {
			return err
		}
	}
	return a.set.Err()
}

// close deletes these files. One that cannot be removed is in the temporary folder,
// and the report stands.
func (a *analysis) close() {
	_ = a.set.Close()
	if a.calls != nil {
		_ = a.calls.Close()
	}
}

// addTrace looks at a whole trace: retries and cuts from below are marked first,
// then everything that asks for traces sees it.
func (a *analysis) addTrace(p *plan, t *spans.Trace) {
	rules := p.ingest.Fields
	t.MarkRetries(spans.RetryOptions{NoMarks: !rules.On(outcome.RuleRetryMark), NoSiblings: !rules.On(outcome.RuleSibling)})
	ofLog := p.infer && t.OfLog()
	if ofLog {
		a.nest(t)
	}
	if rules.On(outcome.RuleBelow) {
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
	if a.calls != nil {
		a.calls.Add(t)
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
	if a.calls != nil {
		a.calls.Merge(o.calls)
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
	q := p.bucketsQuery(f, verdict)
	hops := f.set.Results(q)
	if f.orphans != nil {
		found := f.orphans.Result(orphans.Query{Quantiles: p.quantiles, Wall: wallsOf(hops)})
		found.Inferred = f.nested > 0 && found.Checkable
		r.Orphans = &found
		if verdict.Kind != sampling.Biased {
			f.addServerSide(hops, q)
		}
	}
	if f.owner != nil && p.sections.has(sectionOwner) {
		owner := f.owner.Result(p.ownerQuery(verdict))
		r.Owner = &owner
	}
	if f.retries != nil {
		worth := f.retries.Result(p.retriesQuery(verdict, hops, f.set.Completed()))
		r.Retries = &worth
	}
	if f.calls != nil {
		advice := timeouts.Advise(p.timeoutsQuery(f, verdict, hops, q, r.Retries))
		r.Timeouts = &advice
	}
	r.Hops = hops
	p.keepAsked(r)
	return r
}

// keepAsked takes out of a report what was only needed for something else.
func (p *plan) keepAsked(r *report.Report) {
	if !p.sections.has(sectionHops) {
		r.Hops = nil
	}
	if !p.sections.has(sectionOrphans) {
		r.Orphans = nil
	}
	if !p.sections.has(sectionRetries) {
		r.Retries = nil
	}
}

func (p *plan) bucketsQuery(f *found, v sampling.Verdict) buckets.Query {
	q := buckets.Query{
		Quantiles: p.quantiles, Confidence: p.confidence, Marked: f.ledger.Marked(), MaxHops: p.maxHops, Jobs: p.jobs,
		Biased: v.Kind == sampling.Biased, Weighted: v.Weighted, NoEstimate: p.noEstimate, Simultaneous: p.simultaneous,
	}
	if f.calls != nil {
		target := p.advice.Target(f.calls.Graph())
		q.Target = &target
	}
	return q
}

// wallsOf tells the timeout of a hop: of several the one that cut most, of an
// inferred one the upper end.
func wallsOf(hops []buckets.Result) func(spans.Hop) (int64, bool) {
	walls := map[rowKey]buckets.Wall{}
	for _, h := range hops {
		if w, known := h.MainWall(); known {
			walls[keyOfRow(&h)] = w
		}
	}
	return func(h spans.Hop) (int64, bool) {
		w, known := walls[keyOfHop(h)]
		if w.Timeout != nil {
			return *w.Timeout, known
		}
		return w.To, known
	}
}

// rowKey is a row of the report. Several may have one name, that of their service.
type rowKey struct{ name, kind, service, operation string }

func keyOfRow(r *buckets.Result) rowKey { return rowKey{r.Hop, r.Kind, r.Service, r.Operation} }

func keyOfHop(h spans.Hop) rowKey { return rowKey{h.Name, h.Kind.String(), h.Service, h.Operation} }

// addServerSide puts beside the tails of calls what their servers took.
func (f *found) addServerSide(hops []buckets.Result, q buckets.Query) {
	ps := q.Quantiles
	if q.Target != nil {
		ps = append(slices.Clip(ps), *q.Target)
	}
	for id, completed := range f.set.FirstCompleted() {
		for _, side := range f.orphans.ServerSide(id, completed, ps) {
			for i := range hops {
				if keyOfRow(&hops[i]) == keyOfHop(id) {
					hops[i].SetServerSide(side.P, buckets.ServerSide{Value: side.Value, N: side.N, Of: side.Of, Selected: side.Selected})
				}
			}
		}
	}
}
