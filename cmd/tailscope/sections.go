package main

import (
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/report/mirror"
	"github.com/tailscope/tailscope/retries"
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

// results is what a run found; what nobody needed is nil.
type results struct {
	view     report.View
	input    ingest.Summary
	hops     []buckets.Result // sorted by hop, then kind
	owner    *attribution.Result
	retries  *retries.Result
	orphans  *orphans.Result
	timeouts *timeouts.Result
}

// kinds are the sections that can be asked for, in the order of the page.
var kinds = [...]struct {
	section sections
	name    string // the section's key
	make    func(*results) report.Section
	json    func(*results) any
}{
	{sectionHops, "hops", func(r *results) report.Section { return buckets.Section(r.hops, &r.view) }, func(r *results) any { return mirror.Hops(r.hops, r.view.Quantiles) }},
	{sectionOwner, "owner", func(r *results) report.Section { return r.owner.Section(&r.view) }, func(r *results) any { return mirror.Owner(r.owner, r.view.Quantiles) }},
	{sectionRetries, "retries", func(r *results) report.Section { return r.retries.Section(&r.view) }, func(r *results) any { return mirror.Retries(r.retries) }},
	{sectionOrphans, "orphans", func(r *results) report.Section { return r.orphans.Section(&r.view) }, func(r *results) any { return mirror.Orphans(r.orphans, &r.view) }},
	{sectionTimeouts, "timeouts", func(r *results) report.Section { return r.timeouts.Section(&r.view) }, func(r *results) any { return mirror.Timeouts(r.timeouts) }},
}

// names are those of the sections.
func (s sections) names() (list []string) {
	for _, k := range kinds {
		if s.has(k.section) {
			list = append(list, k.name)
		}
	}
	return list
}

// report puts the sections in the order of the page, what was read before all.
func (p *plan) report(r *results) *report.Report {
	input := r.input.Section()
	input.JSON = func() any { return mirror.Input(r.input) }
	all := []report.Section{input}
	for _, k := range kinds {
		if p.sections.has(k.section) {
			s := k.make(r)
			s.JSON = func() any { return k.json(r) }
			all = append(all, s)
		}
	}
	return &report.Report{Sections: all, Table: p.table}
}
