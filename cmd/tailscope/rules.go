package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/retries"
)

func newRules(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "The named rules: what counts as truncated or as a retry, who owns the tail, what retries are worth",
		Long: `rules lists the rules in their order: the first whose evidence says "truncated"
decides. --not-rule NAME of the other commands switches one off; the ones that
are off here have a flag that switches them on.

The rules after them say who owns the tail and where failures sit, and then what
retries are worth, and how much each needs to say it.`,
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
	for _, r := range ingest.Rules {
		state := "on"
		if !r.On {
			state = "off"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, state, r.Evidence, r.Verdict)
	}
	fmt.Fprintln(w, "\nowner\tneeds\tsays")
	for _, r := range attribution.Rules {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Needs, r.Says)
	}
	fmt.Fprintln(w, "\nretries\tneeds\tsays")
	for _, r := range retries.Rules {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, r.Needs, r.Says)
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
	type sectionRule struct {
		Name  string `json:"name"`
		Needs string `json:"needs"`
		Says  string `json:"says"`
	}
	list := struct {
		SchemaVersion int           `json:"schema_version"`
		Rules         []rule        `json:"rules"`
		OwnerRules    []sectionRule `json:"owner_rules"`
		RetryRules    []sectionRule `json:"retry_rules"`
	}{SchemaVersion: 1}
	for _, r := range ingest.Rules {
		list.Rules = append(list.Rules, rule{r.Name, r.On, r.Evidence, r.Verdict})
	}
	for _, r := range attribution.Rules {
		list.OwnerRules = append(list.OwnerRules, sectionRule(r))
	}
	for _, r := range retries.Rules {
		list.RetryRules = append(list.RetryRules, sectionRule(r))
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}
