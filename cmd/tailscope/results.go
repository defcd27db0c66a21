package main

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/screen"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// results is what a run found, as far as one analysis uses what another found; nil
// where nobody asked.
type results struct {
	plan     *plan
	merged   *merged
	input    ingest.Summary
	sampling sampling.Verdict
	view     report.View
	query    buckets.Query
	hops     []buckets.Result // sorted by hop, then kind
	owner    *attribution.Result
	calls    *calls.Result
	retries  *retries.Result
	// neighbors are the hops of traces right above others.
	neighbors []neighbors.Pair
	orphans   *orphans.Result
	timeouts  *timeouts.Result
	sections  []func() report.Section // of the analyses that were asked for
	again     *otherNames             // names of hops that the run must be told before it reads
	err       error                   // why a question has no answer
}

// results makes the results of all analyses.
func (p *plan) results(f *merged) *results {
	r := &results{plan: p, merged: f, input: f.ledger.Summary(len(p.timeouts) > 0)}
	stated := p.sampling
	stated.SeveralFiles = len(r.input.Files) > 1
	r.sampling = f.hops().sampling.Verdict(stated)
	describeTraces(&r.input, f, r.sampling)
	r.input.Warnings = append(r.input.Warnings, f.notes...)
	r.input.Warnings = append(r.input.Warnings, p.taken...)
	r.input.Warnings = append(r.input.Warnings, p.inputWarnings(r.input, f)...)
	r.view = report.View{
		Quantiles: p.quantiles, Sampling: r.input.Sampling.Kind,
		Paths: f.paths, TraceURL: p.traceURL, InFull: !p.shows("hops"),
		Verbose: p.verbose, Top: p.top, Sort: p.sort,
	}
	names := f.hops().Names()
	f.end()
	for i, a := range p.analyses {
		if f.stop.Told() { // so that nobody looks at them
			break
		}
		if section := a.result(r, f.collected[i]); a.shown {
			r.sections = append(r.sections, section)
		}
		if !a.asked {
			f.collected[i] = nil // which takes room where there are many hops
		}
	}
	r.matchHops(names)
	return r
}

// describeTraces enters into the account how the input was chosen, and what only
// whole traces tell.
func describeTraces(in *ingest.Summary, f *merged, v sampling.Verdict) {
	in.Sampling = ingest.Sampling{Kind: string(v.Kind), Evidence: v.Evidence}
	in.Warnings = append(in.Warnings, v.Warnings...)
	if f.traces.Spans > 0 {
		traces, spans := f.traces.Traces-f.leftOut.Traces, f.traces.Spans-f.leftOut.Spans
		in.Traces, in.Spans, in.DuplicatesDropped = &traces, &spans, &f.traces.Duplicates
	}
}

// report puts the sections in the order of the page, what was read before all.
func (r *results) report() *report.Report {
	all := &report.Report{Sections: []report.Section{r.input.Section()}, Table: r.plan.table}
	if r.plan.config != nil {
		all.Sections = append(all.Sections, r.plan.config.section())
	}
	if r.plan.asks() {
		all.Sections = append(all.Sections, r.sections[len(r.sections)-1]()) // the others serve it
		return all
	}
	if r.plan.summarizes() {
		found := r.found()
		all.Sections = append(all.Sections, report.Section{Key: "findings", JSON: func() any { return found }})
		if !r.plan.verbose {
			all.Screen = r.screen(found)
		}
	}
	for _, section := range r.sections {
		all.Sections = append(all.Sections, section())
	}
	return all
}

// collectedBy returns the settings of an analysis and what it collected, nothing
// where it is not part of the run.
func collectedBy[S settings, C any](r *results) (s S, c C) {
	for i, a := range r.plan.analyses {
		if its, ok := a.settings.(S); ok {
			return its, r.merged.collected[i].(C)
		}
	}
	return s, c
}

// summarizes reports whether the run has all analyses, so that it says what is wrong.
func (p *plan) summarizes() bool {
	return !slices.ContainsFunc(commanded(), func(k *kind) bool { return !p.shows(k.name) })
}

// names are what hops are called on the page.
func (r *results) names() *findings.Names {
	var hops []spans.Hop
	for i := range r.hops {
		hops = append(hops, r.hops[i].Hop)
	}
	return findings.NewNames(hops, r.neighbors)
}

// screen is the first page of analyze.
func (r *results) screen(found []findings.Finding) *report.Screen {
	by, settings := screen.Sort(""), ""
	if slices.Contains(orders, r.plan.sort) {
		by = screen.Sort(r.plan.sort)
	}
	if r.plan.config != nil {
		settings = r.plan.config.File
	}
	return screen.New(screen.Input{
		Read: &r.input, Findings: found, Names: r.names(), Links: r.neighbors, Quantiles: r.plan.quantiles,
		Hops: r.hops, Owner: r.owner, Calls: r.calls, Retries: r.retries, Orphans: r.orphans, Timeouts: r.timeouts,
		Shows: r.view.Hops, Top: r.plan.top, Sort: by, Files: r.plan.files, Settings: settings,
		Completed: r.completed(),
	})
}

// completed returns the completed first attempts of a hop.
func (r *results) completed() func(spans.Hop) quantile.Union {
	all := r.merged.hops().FirstCompleted()
	return func(h spans.Hop) quantile.Union { return all[h] }
}

// found lists what is wrong, the worst first.
func (r *results) found() jsontype.List[findings.Finding] {
	return findings.List(findings.Input{
		Read: &r.input, Incomplete: r.plan.whyIncomplete(r.input), Confidence: r.plan.confidence,
		Hops: r.hops, Owner: r.owner, Calls: r.calls, Retries: r.retries, Orphans: r.orphans, Timeouts: r.timeouts, Names: r.names(),
	})
}

// ledgerAgrees checks that every accepted record became an attempt in a bucket.
func (f *merged) ledgerAgrees() error {
	accepted := f.ledger.Accepted()
	if n := f.hops().Attempts(); n+uint64(f.traces.Duplicates) != uint64(accepted) {
		return fmt.Errorf("%d records were accepted, but %d attempts counted and %d duplicates dropped: please report this fault",
			accepted, n, f.traces.Duplicates)
	}
	return nil
}
