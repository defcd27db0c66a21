package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/timeouts"
)

func newRules(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "The named rules: what counts as truncated or as a retry, who owns the tail, what retries are worth, what timeouts stand on",
		Long: `rules lists the rules in their order: the first whose evidence says "truncated"
decides. --not-rule NAME of the other commands switches one off; the ones that
are off here have a flag that switches them on.

The rules after them say who owns the tail and where failures sit, what retries are
worth and what timeouts stand on, and how much each needs to say it.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("--format", format, "text", "json"); err != nil {
				return usageError{err}
			}
			if format == "json" {
				return rulesJSON(s.out)
			}
			return rulesText(s.out)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "output: text, json")
	return cmd
}

func rulesText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "rule\tdefault\tevidence\tverdict")
	for _, r := range outcome.Rules {
		state := "on"
		if !r.On {
			state = "off"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, state, r.Evidence, r.Verdict)
	}
	for _, section := range sectionRules() {
		fmt.Fprintf(w, "\n%s\tneeds\tsays\n", section.name)
		for _, r := range section.rules {
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Needs, r.Says)
		}
	}
	return w.Flush()
}

func rulesJSON(out io.Writer) error {
	type rule struct {
		Name     string `json:"name"`
		On       bool   `json:"on"`
		Evidence string `json:"evidence"`
		Verdict  string `json:"verdict"`
	}
	list := struct {
		SchemaVersion int           `json:"schema_version"`
		Rules         []rule        `json:"rules"`
		OwnerRules    []sectionRule `json:"owner_rules"`
		RetryRules    []sectionRule `json:"retry_rules"`
		TimeoutRules  []sectionRule `json:"timeout_rules"`
	}{SchemaVersion: 1}
	for _, r := range outcome.Rules {
		list.Rules = append(list.Rules, rule{r.Name, r.On, r.Evidence, r.Verdict})
	}
	sections := sectionRules()
	list.OwnerRules, list.RetryRules, list.TimeoutRules = sections[0].rules, sections[1].rules, sections[2].rules
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}

// sectionRule is a rule by which a section of the report says something.
type sectionRule struct {
	Name  string `json:"name"`
	Needs string `json:"needs"`
	Says  string `json:"says"`
}

// namedRules are the rules of one section.
type namedRules struct {
	name  string
	rules []sectionRule
}

// sectionRules lists the rules of the owner, of retries and of timeouts.
func sectionRules() [3]namedRules {
	owner, again, advice := namedRules{name: "owner"}, namedRules{name: "retries"}, namedRules{name: "timeouts"}
	for _, r := range attribution.Rules {
		owner.rules = append(owner.rules, sectionRule(r))
	}
	for _, r := range retries.Rules {
		again.rules = append(again.rules, sectionRule(r))
	}
	for _, r := range timeouts.Rules {
		advice.rules = append(advice.rules, sectionRule(r))
	}
	return [3]namedRules{owner, again, advice}
}
