package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/gates"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/configfile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// declare declares the flags that all commands have that read input.
func (o *options) declare(f *pflag.FlagSet) {
	f.StringVar(&o.inputFormat, "input-format", "", "format of all inputs: "+strings.Join(ingest.FormatNames(), ", ")+" (default: from the content)")
	f.StringArrayVar(&o.fields, "field", nil, "where a field is: `NAME=KEY[:UNIT]`, NAME one of "+field.Settable()+"; time=KEY:start is a start, attempt=KEY:1 counts from 1; repeatable")
	f.StringVar(&o.preset, "preset", "", "how the lines of a tool's log are read: "+strings.Join(ingest.PresetNames(), ", ")+" (default: from the keys)")
	f.StringVar(&o.unit, "unit", "", "unit of bare durations: ns, us, ms or s")
	f.StringVar(&o.by, "by", "", "`KEY` whose values are strata with timeouts of their own, such as a canary's: for the Kaplan-Meier value, and for what each tells of a timeout")
	f.StringArrayVar(&o.where, "where", nil, "only lines, and whole traces of which a span does: `KEY=VALUE`, KEY!=VALUE or KEY~GLOB; repeatable, all must hold")
	f.StringVar(&o.since, "since", "", "only attempts, and traces, begun at that `TIME` or later: RFC 3339, a date, or an offset such as -2h")
	f.StringVar(&o.until, "until", "", "only attempts, and traces, begun before that `TIME`")
	f.StringArrayVar(&o.timeouts, "timeout", nil, "timeout of a hop: `HOP=5s`, HOP its name, caller -> callee, or a part that no other has; repeatable")
	f.StringVar(&o.maxLine, "max-line", "16MiB", "longest line, or value of a document, that is read; longer ones are rejected")

	f.StringVar(&o.hopName, "hop-name", "service-operation", "what names a hop of a trace: service, operation or service-operation")
	f.StringVar(&o.foldIDs, "fold-ids", "auto", fmt.Sprintf("make one hop of names that differ only in ids, /user/123 being /user/{id}: auto (with more than %d hops), always or never", spans.MostHops))
	f.BoolVar(&o.matchMessages, "match-messages", false, "an error message that speaks of a timeout marks its attempt as timed out")
	f.StringArrayVar(&o.truncatedIf, "truncated-if", nil, "another mark of an attempt that timed out: `KEY=VALUE`; repeatable")
	f.StringArrayVar(&o.notRules, "not-rule", nil, "a rule that does not count, by its `NAME` ('tailscope rules' lists them); repeatable")
	f.StringVar(&o.sampling, "sampling", "", "how traces, or lines of hop logs, were chosen: all (none were left out; none says the same), probability=P, or biased (default: from the input)")
	f.StringVar(&o.memory, "memory", "", "memory for durations and for traces that are being put together; the rest waits in --temp-dir (default: 32MiB for each worker)")
	f.StringVar(&o.tempDir, "temp-dir", "", "folder for what does not fit in memory (default: the system's)")

	f.StringSliceVar(&o.quantiles, "quantiles", []string{"0.5", "0.9", "0.95", "0.99", "0.999"}, "quantiles to report: p99, 0.99 and 99% are the same")
	f.StringVar(&o.confidence, "confidence", "0.95", "confidence of all limits, one-sided; of a share of the tail, two-sided")
	f.StringArrayVar(&o.hop, "hop", nil, "only show hops like `GLOB`, or that a part of a name means, of whatever was read and counted; repeatable")

	f.StringVar(&o.format, "format", "text", "output: "+report.Names(o.ownFormats()...))
	f.StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`, whole or not at all; its name may choose the format: "+strings.Join(extensions(), " "))
	f.StringVar(&o.rejects, "rejects", "", "write every rejected record's place and reason to `FILE`, as NDJSON")
	f.StringVar(&o.maxRejects, "max-rejects", "", "exit 4 above `N` rejects, or above a share of the records such as 0.1% (default: as many as were accepted, lines that are no records left out)")
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "workers")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print the page in full, and say on stderr how each file was read")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	f.StringVar(&o.configFile, "config", "", "settings: a YAML `FILE`, or none (default: "+usualConfig+" where it is there)")
	o.declareOld(f)
}

// declareOld declares flags that have another name or place now. They mean what they
// meant, and no help shows them.
func (o *options) declareOld(f *pflag.FlagSet) {
	f.StringVar(&o.timeIs, "time-is", "", "what a bare timestamp is of its attempt: start or end (default end: a line is logged when it is done); now --field time=KEY:start")
	f.StringVar(&o.firstAttempt, "first-attempt", "", "number of a call's first attempt: 0 or 1 (default 1 for the key \"attempt\", else 0); now --field attempt=KEY:1")
	f.StringVar(&o.weightField, "weight-field", "", "tag whose value says how many traces one stands for: `KEY`; now --field weight=KEY")
	f.BoolVar(&o.inferNesting, "infer-nesting", false, "hop logs with start times are read as traces: callers are found by whose attempts end together")
	f.StringVar(&o.hops, "hops", "1000", "most hops to list, or all; now --top")
	f.StringVar(&o.progress, "progress", "auto", "progress on stderr: auto (on a terminal), always or never; now -q")
	hide(f, "time-is", "first-attempt", "weight-field", "infer-nesting", "hops", "progress")
	hide(f, rare...)
}

// orders are those of the hops on a page of all analyses.
var orders = []string{"p99", "share", "n", "name"}

// elsewhere are the flags that belong to one analysis: analyze takes them, and the help of
// that analysis shows them.
var elsewhere = []string{"simultaneous", "tail-from", "write-hop", "tolerance", "trace-url", "false-timeout", "false-timeout-per", "headroom", "allowance", "floor", "entry-budget"}

// rare are the flags that only 'help flags' and docs/cli.md show.
var rare = []string{"jobs", "memory", "temp-dir", "max-line"}

// hide takes flags out of the help and the completion of a command.
func hide(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f.Lookup(name).Hidden = true
	}
}

// limitFlags declares the flags of the commands that show tails, or make timeouts of
// them.
func (o *options) limitFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.simultaneous, "simultaneous", false, "limits of all hops and quantiles together have the confidence, instead of each")
	f.BoolVar(&o.noEstimate, "no-estimate", false, "no models of what lies beyond the timeout")
	hide(f, "no-estimate")
}

// topFlag declares how much of a list is shown.
func (o *options) topFlag(f *pflag.FlagSet, what string) {
	if f.Lookup("top") == nil {
		f.StringVar(&o.top, "top", "", "most "+what+" to list, or all: `N`")
	}
}

// limitFlag and traceURLFlag are those of the analyses that list single cases.
func (o *options) limitFlag(f *pflag.FlagSet, what string) {
	o.topFlag(f, what)
	o.listsCases = true
	f.IntVar(&o.limit, "limit", usualLimit, "most "+what+" to list; now --top")
	hide(f, "limit")
}

// usualLimit is how many single cases are listed.
const usualLimit = 20

func (o *options) traceURLFlag(f *pflag.FlagSet) {
	f.StringVar(&o.traceURL, "trace-url", "", "address of a trace, with {trace} for its id: `URL`")
}

// gateFlag is that of the commands with figures to hold rules against.
func (o *options) gateFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&o.failOn, "fail-on", nil, "exit 3 if it holds, or if nobody knows: `RULE`, such as 'timed_out(orders) > 1%', 'p99(checkout) > 2s' or 'orphans > 0'; names: "+strings.Join(gates.Names(), ", ")+"; repeatable")
}

// wholeFlags declares those of a page of all analyses.
func (o *options) wholeFlags(f *pflag.FlagSet, names []string) {
	o.topFlag(f, "hops")
	f.StringVar(&o.sort, "sort", "", "order of the hops: "+strings.Join(orders, ", ")+" (default: callees under callers, or by share of the extra time)")
	f.StringVar(&o.table, "table", "", "table that --format csv writes: `NAME`, one of "+strings.Join(names, ", ")+" (default: the first)")
}

// words are the values of flags that are words, for completion.
var words = map[string]func() []string{
	"input-format": ingest.FormatNames,
	"preset":       ingest.PresetNames,
	"unit":         func() []string { return []string{"ns", "us", "ms", "s"} },
	"hop-name":     func() []string { return []string{"service", "operation", "service-operation"} },
	"fold-ids":     func() []string { return []string{"auto", "always", "never"} },
	"sampling":     func() []string { return []string{"none", "biased", "probability="} },
	"format":       func() []string { return strings.Split(report.Names(), ", ") },
	"quantiles":    func() []string { return []string{"p50", "p90", "p95", "p99", "p99.9"} },
	"tail-from":    func() []string { return []string{"p90", "p95", "p99", "p99.9"} },
	"field":        func() []string { return afterEach(strings.Split(field.Settable(), ", "), "=") },
	"not-rule":     ruleWords,
	"table":        tableWords,
}

func afterEach(list []string, end string) []string {
	for i := range list {
		list[i] += end
	}
	return list
}

func ruleWords() (list []string) {
	for _, r := range outcome.Rules {
		list = append(list, r.Name)
	}
	return list
}

func tableWords() (list []string) {
	for _, k := range kinds {
		if k.command.Use != "" {
			list = append(list, k.name)
		}
	}
	return list
}

// complete has the shell complete the values of a command's flags: words as they are,
// files where a flag names one, and else nothing.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if of, ok := words[f.Name]; ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				list := of()
				if slices.ContainsFunc(list, func(w string) bool { return strings.HasSuffix(w, "=") }) {
					return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
				}
				return list, cobra.ShellCompDirectiveNoFileComp
			})
		}
	})
}

// parseTop reads --top; 0 is all.
func parseTop(s string) (int, error) {
	if s == "all" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("--top %q: a number above 0, or all", s)
	}
	return n, nil
}

// oneOf checks a flag whose values are words.
func oneOf(flag, value string, words ...string) error {
	var named []string
	for _, w := range words {
		if w == value {
			return nil
		}
		if w != "" {
			named = append(named, w)
		}
	}
	return fmt.Errorf("%s %q: one of %s%s", flag, value, strings.Join(named, ", "), didYouMean(value, named, ""))
}

// parseBytes reads "64MiB", "1GB" or a plain number of bytes.
func parseBytes(s string) (int, error) {
	units := [...]struct {
		suffix string
		scale  int
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}
	digits, scale := s, 1
	for _, u := range units {
		if d, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, scale = d, u.scale
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || n > (1<<40)/scale {
		return 0, errors.New("a size such as 64MiB or 1GB")
	}
	return n * scale, nil
}

// chosenFormat is the format of --format, else that of the output's name. A name without
// an extension chooses none; of one with another extension the format is not known.
func (o *options) chosenFormat() (name string, known bool) {
	extension := filepath.Ext(o.output)
	if o.given("format") || len(extension) < 2 || strings.HasPrefix(o.output, "/dev/") {
		return o.format, true
	}
	if format, ok := report.OfExtension(extension); ok {
		return format, true
	}
	return o.format, false
}

// misnamed is a warning that a file's name ends as those of another format do.
func (o *options) misnamed(format string) string {
	extension, own := filepath.Ext(o.output), report.ExtensionOf(format)
	if _, known := report.OfExtension(extension); !known || own == "" || strings.EqualFold(own, extension) {
		return ""
	}
	return fmt.Sprintf("warning: %s holds %s, as --format says, and not what its name says", o.output, o.format)
}

// extensions lists those that choose a format.
func extensions() (list []string) {
	for _, e := range report.Extensions {
		list = append(list, e.Extension)
	}
	return list
}

// usualConfig is the file of settings that is read where it is there.
const usualConfig = ".tailscope.yaml"

// fileFlags are the flags that keys of a file of settings stand for where they are called
// otherwise.
var fileFlags = map[string]string{"fields": "field", "timeouts": "timeout", "gates": "fail-on"}

// fileKeys are the keys of a file of settings. What chooses records or writes files is no
// setting.
var fileKeys = map[string]configfile.Shape{
	"fields": configfile.Map, "timeouts": configfile.Map, "gates": configfile.List,
	"truncated-if": configfile.List, "not-rule": configfile.List, "write-hop": configfile.List, "quantiles": configfile.List,
	"unit": configfile.Value, "preset": configfile.Value, "input-format": configfile.Value, "by": configfile.Value, "hop-name": configfile.Value,
	"fold-ids": configfile.Value, "match-messages": configfile.Value, "sampling": configfile.Value, "confidence": configfile.Value,
	"simultaneous": configfile.Value, "tail-from": configfile.Value, "tolerance": configfile.Value, "trace-url": configfile.Value,
	"false-timeout": configfile.Value, "false-timeout-per": configfile.Value, "headroom": configfile.Value, "allowance": configfile.Value,
	"floor": configfile.Value, "entry-budget": configfile.Value, "max-rejects": configfile.Value, "max-line": configfile.Value,
}

// config is what a run took from a file of settings.
type config struct {
	File     string   `json:"file"`
	Settings []string `json:"settings"`

	hops map[string]bool // those of its timeouts
}

// configure sets the flags that the file of settings has and the command line has not.
// Of fields and timeouts the command line wins by name, of all else by flag.
func (o *options) configure(f *pflag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	o.given = func(flag string) bool { return given[flag] }
	path := o.configFile
	if _, err := os.Stat(usualConfig); path == "" && err == nil {
		path = usualConfig
	}
	if path == "" || path == "none" {
		return nil
	}
	list, err := configfile.Read(path, fileKeys)
	if err != nil {
		return usageError{err}
	}
	o.config = &config{File: path, Settings: []string{}, hops: map[string]bool{}}
	for _, s := range list {
		if err := o.set(f, s); err != nil {
			return usageError{fmt.Errorf("%s: %s: %w", path, s.Key, err)}
		}
	}
	return nil
}

// set gives a flag the values of a setting. A command without the flag leaves it.
func (o *options) set(f *pflag.FlagSet, s configfile.Setting) error {
	flag := f.Lookup(cmp.Or(fileFlags[s.Key], s.Key))
	if flag == nil {
		return nil
	}
	values := s.Values
	if fileKeys[s.Key] == configfile.Map {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return names(flag.Value.(pflag.SliceValue).GetSlice(), v) })
	} else if flag.Changed {
		return nil
	}
	for _, v := range values {
		if err := f.Set(flag.Name, v); err != nil {
			return fmt.Errorf("%q is not what it takes", v)
		}
		if s.Key == "timeouts" {
			o.config.hops[v[:strings.LastIndexByte(v, '=')]] = true
		}
	}
	if len(values) > 0 {
		o.config.Settings = append(o.config.Settings, configfile.Setting{Key: s.Key, Values: values}.String())
	}
	return nil
}

// names reports whether one of NAME=VALUE has the name of another.
func names(given []string, setting string) bool {
	name := setting[:strings.LastIndexByte(setting, '=')]
	return slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, name+"=") })
}

// section says what came from the file.
func (c *config) section() report.Section {
	line := "Settings of " + c.File + ": " + strings.Join(c.Settings, "; ") + "."
	if len(c.Settings) == 0 {
		line = "Settings of " + c.File + ": none for this command, or the command line has others."
	}
	return report.Section{Key: "config", JSON: func() any { return c }, Lines: []string{line}}
}
