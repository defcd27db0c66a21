package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// kinds are the analyses, in the order of the page: a command, a section of
// analyze and a table of --table each. What one of them rests on may stand behind
// it, but its result may use only those of the kinds before.
var kinds []*kind

// The list is made here, as analyses look things up in it.
func init() {
	kinds = []*kind{&hopsKind, &neighborsKind, &ownerKind, &callsKind, &retriesKind, &orphansKind, &timeoutsKind}
	questions = []*kind{&explainKind, &traceKind}
	for _, k := range commanded() {
		explainKind.with = append(explainKind.with, k.name)
	}
}

// questions are the analyses with a command of their own only: each answers a question
// about one thing, and its page holds nothing else.
var questions []*kind

// kind is an analysis as the tool knows it.
type kind struct {
	name    string // of its section: its member of the JSON document
	command cobra.Command
	rests   []string // other analyses whose results it uses
	with    []string // those of which a question needs all that is shown
	reads   spans.Columns
	shows   spans.Columns // what its section needs besides
	keep    assembly.Keep // the lines of hop logs whose chains it looks at
	new     func() settings
	merge   func(into, from any) // what two workers collected
	rules   sectionRules
	asked   bool      // others ask for what it collected
	about   [2]string // of a question: what it is about, and the command with an example of that
}

// settings are the flags of an analysis in one run, and what follows from them.
type settings interface {
	// declare declares the flags, alone in the command of this analysis or among
	// those of all.
	declare(o *options, f *pflag.FlagSet, alone bool)
	// check looks at the flags, which were declared if the analysis is shown.
	check(p *plan, shown bool) error
	// collect returns what one worker collects. It is told of what it has a method
	// for: AddBatch of lines of hop logs, AddChain of their whole chains, AddTrace of
	// whole traces. Err and Close are those of files that it writes.
	collect(p *plan) any
	// result makes the result of what was collected, and returns how to make a
	// section of it once all results are there.
	result(r *results, collected any) func() report.Section
}

// merges is a kind's merge for what merges with its like.
func merges[C interface{ Merge(C) }](into, from any) { into.(C).Merge(from.(C)) }

// selected is an analysis of a run.
type selected struct {
	*kind
	settings
	shown bool // it was asked for; else another rests on it
}

// choose returns the analyses that a command shows, with those that they rest on.
func choose(names ...string) (list []selected) {
	needed := slices.Clone(names)
	for i := 0; i < len(needed); i++ {
		needed = append(needed, kindOf(needed[i]).rests...)
	}
	for _, k := range slices.Concat(kinds, questions) {
		if k == &hopsKind || slices.Contains(needed, k.name) {
			list = append(list, selected{k, k.new(), slices.Contains(names, k.name)})
		}
	}
	return list
}

// needed are the analyses of the command, and with names for hops what tells of which hop
// a part of a name is: a name means the same to every command.
func (o *options) needed() []selected {
	if o.hop == nil && len(o.timeouts) == 0 && len(o.failOn) == 0 || slices.ContainsFunc(o.analyses, func(a selected) bool { return a.kind == &neighborsKind }) {
		return o.analyses
	}
	return slices.Insert(slices.Clone(o.analyses), 1, selected{&neighborsKind, neighborsKind.new(), false})
}

func kindOf(name string) *kind {
	all := slices.Concat(kinds, questions)
	return all[slices.IndexFunc(all, func(k *kind) bool { return k.name == name })]
}

func (p *plan) shows(name string) bool {
	return slices.ContainsFunc(p.analyses, func(a selected) bool { return a.shown && a.name == name })
}

func (p *plan) runs(name string) bool {
	return slices.ContainsFunc(p.analyses, func(a selected) bool { return a.name == name })
}

// columns are the optional ones that the run needs.
func (p *plan) columns() (c spans.Columns) {
	for _, a := range p.analyses {
		c |= a.reads
		if a.shown {
			c |= a.shows
		}
	}
	if p.strata {
		c |= spans.Strata
	}
	if p.keep() != assembly.KeepNone {
		c |= spans.Traces | spans.Starts
	}
	return c
}

// keep is what all analyses need of the lines of hop logs.
func (p *plan) keep() (k assembly.Keep) {
	for _, a := range p.analyses {
		k = max(k, a.keep)
	}
	return k
}

// commands returns the command of every analysis, and the one that shows all.
func commands(s streams) []*cobra.Command {
	list := []*cobra.Command{newWhole(s)}
	for _, k := range commanded() {
		list = append(list, newCommand(s, k.command, k.name))
	}
	for _, k := range questions {
		list = append(list, newCommand(s, k.command, append(slices.Clip(k.with), k.name)...))
	}
	return list
}

// newWhole returns the command that shows all analyses.
func newWhole(s streams) *cobra.Command {
	return newCommand(s, analyze, namesOf(commanded())...)
}

func namesOf(kinds []*kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// commanded are the kinds with a command of their own, which are sections of analyze.
func commanded() []*kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.command.Use == "" })
}

func newCommand(s streams, cmd cobra.Command, names ...string) *cobra.Command {
	return declared(&options{streams: s}, cmd, names...)
}

// declared declares the flags of a command that shows these analyses, and runs it.
func declared(o *options, cmd cobra.Command, names ...string) *cobra.Command {
	o.analyses = choose(names...)
	o.given = cmd.Flags().Changed
	o.declare(cmd.Flags())
	if slices.ContainsFunc(kinds, func(k *kind) bool { return k.name == names[0] }) && !o.asks() {
		o.gateFlag(cmd.Flags())
	}
	if len(names) > 1 {
		o.wholeFlags(cmd.Flags(), names)
	}
	for _, a := range o.analyses {
		if a.shown {
			a.declare(o, cmd.Flags(), len(names) == 1)
		}
	}
	o.topFlag(cmd.Flags(), "hops")
	if len(names) > 1 {
		hide(cmd.Flags(), elsewhere...)
	}
	if len(names) > 1 && o.asks() {
		hide(cmd.Flags(), "table")
	}
	complete(&cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files, err := o.takeWhat(args)
		if err == nil {
			err = o.configure(cmd.Flags())
		}
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), files)
	}
	return &cmd
}

// asks reports whether the command answers a question.
func (o *options) asks() bool { return asks(o.analyses) }

func (p *plan) asks() bool { return asks(p.analyses) }

func asks(list []selected) bool {
	return slices.ContainsFunc(list, func(a selected) bool { return a.shown && slices.Contains(questions, a.kind) })
}

// takeWhat gives a question what it is about, the first argument, and returns the others.
func (o *options) takeWhat(args []string) (files []string, err error) {
	for _, a := range o.analyses {
		if question, ok := a.settings.(interface{ about(string) }); ok && a.shown {
			if len(args) == 0 || args[0] == "" {
				return nil, usageError{fmt.Errorf("say what it is about: tailscope %s", a.command.Use)}
			}
			if _, err := os.Stat(args[0]); err == nil && len(args) == 1 {
				return nil, usageError{fmt.Errorf("say which %s: tailscope %s %s", a.kind.about[0], a.kind.about[1], args[0])}
			}
			question.about(args[0])
			return args[1:], nil
		}
	}
	return args, nil
}

var analyze = cobra.Command{
	Use:   "analyze [FILE…]",
	Short: "The summary: what is wrong, the latency of every hop, and what to do; the default",
	Long: `analyze reads hop logs and traces and prints what is wrong, why, what it costs and
what to do; then a table of all hops: how many attempts timed out, and the latency,
exact where the timeout does not touch it and a lower bound (≥) where it does. Without
a command tailscope is analyze.

A FILE is a path, a glob, a folder or - for stdin; plain, gzip or zstd; NDJSON,
CSV or TSV with a header, Jaeger or OTLP. Without a FILE it reads stdin.`,
	Example: `  tailscope hops.ndjson.gz
  tailscope --timeout 'orders=300ms' --timeout 'orders -> stock=400ms' logs/
  kubectl logs deploy/gateway | tailscope --unit ms
  tailscope --fail-on 'timed_out(orders) > 1%' -o report.md traces.json.gz`,
}
