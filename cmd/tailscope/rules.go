package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/report"
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
	for _, k := range kinds {
		if k.rules.list != nil {
			fmt.Fprintf(w, "\n%s\tneeds\tsays\n", k.name)
		}
		for _, r := range k.rules.list {
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
	var list []rule
	for _, r := range outcome.Rules {
		list = append(list, rule{r.Name, r.On, r.Evidence, r.Verdict})
	}
	all := []report.Section{{Key: "rules", JSON: func() any { return list }}}
	for _, k := range kinds {
		if k.rules.list != nil {
			all = append(all, report.Section{Key: k.rules.key, JSON: func() any { return k.rules.list }})
		}
	}
	return report.JSON(out, &report.Report{Sections: all}, report.Options{})
}

// sectionRules are the rules by which a section of the report says something.
type sectionRules struct {
	key  string // in the JSON of the command
	list []sectionRule
}

type sectionRule struct {
	Name  string `json:"name"`
	Needs string `json:"needs"`
	Says  string `json:"says"`
}

func rulesOf[R ~struct{ Name, Needs, Says string }](key string, list []R) (s sectionRules) {
	s.key = key
	for _, r := range list {
		s.list = append(s.list, sectionRule(r))
	}
	return s
}
