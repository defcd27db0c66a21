package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

var inspectCommand = cobra.Command{
	Use:   "inspect [FILE…]",
	Short: "How each file is understood, before any run: format, keys and their roles, units, marks",
	Long: `inspect reads the first records of each file as a run would and says how it
understood them: the format, what the records lie in, the preset, each key with
its role or that it is not used, units, how attempts ended and by which rules as
timed out, the time basis and the span of time, and three attempts. Of a file that
cannot be read it says what is nearest.

All flags by which a run reads its input hold here too.`,
	Example: `  tailscope inspect access.log
  tailscope inspect --format json --records 1000 hops.ndjson.gz`,
}

// newInspect is the command that shows how inputs are read.
func newInspect(s streams) *cobra.Command {
	cmd := inspectCommand
	o := &options{streams: s, analyses: choose(), given: cmd.Flags().Changed}
	o.declare(cmd.Flags())
	records := cmd.Flags().Int64("records", 100_000, "most records of a file to look at, about")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *records < 1 {
			return usageError{fmt.Errorf("--records %d: at least 1", *records)}
		}
		if err := o.configure(cmd.Flags()); err != nil {
			return err
		}
		return o.inspect(cmd.Context(), args, *records)
	}
	return &cmd
}

func (o *options) inspect(ctx context.Context, args []string, records int64) error {
	p, err := o.plan(args)
	if err != nil {
		return err
	}
	out, err := p.outputs().Create(p.output)
	if err != nil {
		return err
	}
	defer out.Cleanup()
	var files []*ingest.Inspection
	unread := 0
	for _, src := range p.sources {
		f, err := ingest.Inspect(src, p.ingest, records, o.streams.memory)
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if f.Error != "" {
			unread++
		}
		files = append(files, f)
	}
	page := &report.Report{Sections: []report.Section{ingest.InspectionSection(files)}}
	if p.config != nil {
		page.Sections = slices.Insert(page.Sections, 0, p.config.section())
	}
	if err := errors.Join(p.write(out, page, p.textOptions()), out.Sync()); err != nil {
		return err
	}
	if err := out.Replace(); err != nil {
		return err
	}
	if unread > 0 {
		return fmt.Errorf("%s cannot be read: see above", note.Count(unread, "file"))
	}
	return nil
}

// newRules is the command that lists the rules.
func newRules(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "The named rules: what counts as timed out or as a retry, who owns the tail, what retries are worth, what timeouts stand on",
		Long: `rules lists the rules in their order: the first whose evidence says "truncated"
decides. --not-rule NAME of the other commands switches one off; the ones that
are off here have a flag that switches them on.

The rules after them say who owns the tail and where failures sit, what retries are
worth and what timeouts stand on, and how much each needs to say it.`,
		Args: noFiles,
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
