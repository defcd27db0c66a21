package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/explain"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans/assembly"
)

var explainKind = kind{
	name: explain.Key,
	command: cobra.Command{
		Use:   "explain HOP [FILE…]",
		Short: "Everything about one hop",
		Long: `explain tells all that is known of one hop, in sentences and small tables: how its
attempts ended, what each quantile stands on and what hides it, what is guessed
beyond its timeout, what that should be and how it follows, its retries, who calls
it and whom it calls, orphaned work, its share of slow requests and traces that show
it, and every rule that fired.

HOP is a name as the reports have it, caller and callee ('search -> catalog'), the
service that is called, or any part of a name that no other hop has. A call and the
span that serves it are one: the call is explained.

It runs the analyses of analyze and takes their flags.`,
		Example: `  tailscope explain catalog traces.json.gz
  tailscope explain 'search -> catalog' traces.json.gz
  tailscope explain generate --timeout generate=5s hops.ndjson`,
	},
	keep:  assembly.KeepAll,
	new:   func() settings { return new(explainSettings) },
	merge: func(_, _ any) {},
	rests: []string{neighborsKind.name},
}

type explainSettings struct{ hop string }

func (s *explainSettings) about(hop string) { s.hop = hop }

func (*explainSettings) declare(*options, *pflag.FlagSet, bool) {}

// check has all hops in the results: the one that is meant may be among the least.
func (*explainSettings) check(p *plan, _ bool) error {
	p.maxHops = 0
	return nil
}

// collect needs nothing: all others collect for it.
func (*explainSettings) collect(*plan) any { return nil }

func (s *explainSettings) result(r *results, _ any) func() report.Section {
	found, err := explain.Of(explain.Query{
		Written: s.hop, Hops: r.hops, Pairs: r.neighbors, Owner: r.owner, Retries: r.retries, Orphans: r.orphans, Advice: r.timeouts, Calls: r.calls, Name: r.names().Of,
	})
	if err != nil {
		r.err = asQuestion(err)
		return nil
	}
	found.Findings = slices.DeleteFunc(slices.Clone(r.found()), func(f findings.Finding) bool { return f.Call != found.Hop })
	return func() report.Section { return found.Section(&r.view) }
}
