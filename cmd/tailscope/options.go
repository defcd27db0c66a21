package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/gates"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"golang.org/x/term"
)

// options are the flags as given, before they are checked.
type options struct {
	streams streams

	inputFormat  string
	fields       []string
	unit         string
	preset       string
	timeIs       string
	firstAttempt string
	by           string
	where        []string
	hop          []string
	since, until string
	timeouts     []string
	maxLine      string

	hopName       string
	foldIDs       string
	inferNesting  bool
	matchMessages bool
	truncatedIf   []string
	notRules      []string
	sampling      string
	weightField   string
	memory        string
	tempDir       string

	quantiles    []string
	confidence   string
	simultaneous bool
	hops         string
	noEstimate   bool

	format     string
	table      string
	output     string
	rejects    string
	maxRejects string
	progress   string
	jobs       int
	verbose    bool

	limit    int
	traceURL string
	failOn   []string
	analyses []selected
}

// declare declares the flags that all commands have that read input.
func (o *options) declare(f *pflag.FlagSet) {
	f.StringVar(&o.inputFormat, "input-format", "", "format of all inputs: "+strings.Join(ingest.FormatNames(), ", ")+" (default: from the content)")
	f.StringArrayVar(&o.fields, "field", nil, "where a field is: `NAME=KEY[:UNIT]`, NAME one of "+field.Settable()+"; repeatable")
	f.StringVar(&o.preset, "preset", "", "how the lines of a tool's log are read: "+strings.Join(ingest.PresetNames(), ", ")+" (default: from the keys)")
	f.StringVar(&o.unit, "unit", "", "unit of bare durations: ns, us, ms or s")
	f.StringVar(&o.timeIs, "time-is", "", "what a bare timestamp is of its attempt: start or end (default end: a line is logged when it is done)")
	f.StringVar(&o.firstAttempt, "first-attempt", "", "number of a call's first attempt: 0 or 1 (default 1 for the key \"attempt\", else 0)")
	f.StringVar(&o.by, "by", "", "`KEY` whose values are strata with timeouts of their own, such as a canary's: for the Kaplan-Meier value, and for what each tells of a timeout")
	f.StringArrayVar(&o.where, "where", nil, "only lines, and whole traces of which a span does: `KEY=VALUE`, KEY!=VALUE or KEY~GLOB; repeatable, all must hold")
	f.StringVar(&o.since, "since", "", "only attempts, and traces, begun at that `TIME` or later: RFC 3339, a date, or an offset such as -2h")
	f.StringVar(&o.until, "until", "", "only attempts, and traces, begun before that `TIME`")
	f.StringArrayVar(&o.timeouts, "timeout", nil, "timeout of a hop: `HOP=5s`; repeatable")
	f.StringVar(&o.maxLine, "max-line", "16MiB", "longest line, or value of a document, that is read; longer ones are rejected")

	f.BoolVar(&o.inferNesting, "infer-nesting", false, "hop logs with start times are read as traces: callers are found by whose attempts end together")
	f.StringVar(&o.hopName, "hop-name", "service-operation", "what names a hop of a trace: service, operation or service-operation")
	f.StringVar(&o.foldIDs, "fold-ids", "auto", fmt.Sprintf("make one hop of names that differ only in ids, /user/123 being /user/{id}: auto (with more than %d hops), always or never", spans.MostHops))
	f.BoolVar(&o.matchMessages, "match-messages", false, "an error message that speaks of a timeout marks its attempt as truncated")
	f.StringArrayVar(&o.truncatedIf, "truncated-if", nil, "another mark of a truncated attempt: `KEY=VALUE`; repeatable")
	f.StringArrayVar(&o.notRules, "not-rule", nil, "a rule that does not count, by its `NAME` ('tailscope rules' lists them); repeatable")
	f.StringVar(&o.sampling, "sampling", "", "how traces were chosen: none (all are there), probability=P, or biased (default: from the input)")
	f.StringVar(&o.weightField, "weight-field", "", "tag whose value says how many traces one stands for: `KEY`")
	f.StringVar(&o.memory, "memory", "", "memory for durations and for traces that are being put together; the rest waits in --temp-dir (default: 32MiB for each worker)")
	f.StringVar(&o.tempDir, "temp-dir", "", "folder for what does not fit in memory (default: the system's)")

	f.StringSliceVar(&o.quantiles, "quantiles", []string{"0.5", "0.9", "0.95", "0.99", "0.999"}, "quantiles to report")
	f.StringVar(&o.confidence, "confidence", "0.95", "confidence of all limits, one-sided; of a share of the tail, two-sided")
	f.StringArrayVar(&o.hop, "hop", nil, "only show hops like `GLOB`, of whatever was read and counted; repeatable")
	f.StringVar(&o.hops, "hops", "1000", "most hops to list, or all")

	f.StringVar(&o.format, "format", "text", "output: "+report.Names(o.ownFormats()...))
	f.StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`, whole or not at all")
	f.StringVar(&o.rejects, "rejects", "", "write every rejected record's place and reason to `FILE`, as NDJSON")
	f.StringVar(&o.maxRejects, "max-rejects", "", "exit 4 above `N` rejects, or above P% of the records (default: as many as were accepted, lines that are no records left out)")
	f.StringVar(&o.progress, "progress", "auto", "progress on stderr: auto (on a terminal), always or never")
	f.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "workers")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on stderr how each file was read")
}

// limitFlags declares the flags of the commands that show tails, or make timeouts of
// them.
func (o *options) limitFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.simultaneous, "simultaneous", false, "limits of all hops and quantiles together have the confidence, instead of each")
	f.BoolVar(&o.noEstimate, "no-estimate", false, "no models of what lies beyond the wall")
}

// limitFlag and traceURLFlag are those of the analyses that list single cases.
func (o *options) limitFlag(f *pflag.FlagSet, what string) { f.IntVar(&o.limit, "limit", 20, what) }

func (o *options) traceURLFlag(f *pflag.FlagSet) {
	f.StringVar(&o.traceURL, "trace-url", "", "address of a trace, with {trace} for its id: `URL`")
}

// gateFlag is that of the commands with figures to hold rules against.
func (o *options) gateFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&o.failOn, "fail-on", nil, "exit 3 if it holds, or if nobody knows: `RULE`, such as 'timed_out(orders) > 1%', 'p99(checkout) > 2s' or 'orphans > 0'; names: "+strings.Join(gates.Names(), ", ")+"; repeatable")
}

func (o *options) tableFlag(f *pflag.FlagSet, names []string) {
	f.StringVar(&o.table, "table", "", "table that --format csv writes: `NAME`, one of "+strings.Join(names, ", ")+" (default: the first)")
}

// plan is a run whose every setting was checked.
type plan struct {
	streams      streams
	analyses     []selected
	sources      []ingest.Source
	ingest       ingest.Config
	timeouts     map[string]int64
	naming       *spans.Naming
	strata       bool
	quantiles    []quantile.P
	confidence   quantile.P
	simultaneous bool
	maxHops      int
	hop          []string // patterns of those to show
	noEstimate   bool
	write        report.Format
	csv          bool
	table        string // of CSV; "" for the first
	output       string
	rejects      string
	maxRejects   limit
	progress     bool
	jobs         int
	verbose      bool
	memory       int64
	infer        bool
	tempDir      string
	sampling     samplingFlag
	limit        int
	traceURL     string
	gates        []gates.Rule
}

// run checks the flags and runs the pipeline.
func (o *options) run(ctx context.Context, args []string) error {
	p, err := o.plan(args)
	if err != nil {
		return err
	}
	return p.run(ctx)
}

// plan checks all flags, so that no mistake shows up after an hour of reading.
func (o *options) plan(args []string) (*plan, error) {
	p := &plan{
		streams: o.streams, analyses: o.analyses, output: o.output, rejects: o.rejects, jobs: o.jobs, verbose: o.verbose,
		strata: o.by != "", simultaneous: o.simultaneous, tempDir: o.tempDir, infer: o.inferNesting,
	}
	p.noEstimate = o.noEstimate || !p.shows("hops") && !p.shows("timeouts")
	for _, check := range []func(*plan) error{o.planTimeouts, o.planInput, o.planTraces, o.planQuantiles, o.planCases, o.planAnalyses, o.planGates, o.planNaming, o.planOutput} {
		if err := check(p); err != nil {
			return nil, usageError{err}
		}
	}
	return p, o.planSources(p, args)
}

func (o *options) planAnalyses(p *plan) error {
	for _, a := range p.analyses {
		if err := a.check(p, a.shown); err != nil {
			return err
		}
	}
	return nil
}

// planNaming sets what hops are called. Those that a flag names stay as they are.
func (o *options) planNaming(p *plan) error {
	modes := map[string]spans.FoldIDs{"auto": spans.FoldAuto, "always": spans.FoldAlways, "never": spans.FoldNever}
	p.naming = spans.NewNaming(modes[o.foldIDs], spans.MostHops, o.keptNames(p)...)
	p.ingest.Naming = p.naming
	return oneOf("--fold-ids", o.foldIDs, "auto", "always", "never")
}

func (o *options) keptNames(p *plan) []string {
	kept := slices.Collect(maps.Keys(p.timeouts))
	for _, a := range p.analyses {
		if its, ok := a.settings.(interface{ namedHops() []string }); ok {
			kept = append(kept, its.namedHops()...)
		}
	}
	return kept
}

func (o *options) planCases(p *plan) error {
	if o.limit < 0 {
		return fmt.Errorf("--limit %d: at least 0", o.limit)
	}
	if o.traceURL != "" && !strings.Contains(o.traceURL, "{trace}") {
		return fmt.Errorf("--trace-url %q: write {trace} where the id belongs", o.traceURL)
	}
	p.limit, p.traceURL = o.limit, o.traceURL
	return nil
}

func (o *options) planInput(p *plan) error {
	c := field.Config{
		Unit: moment.NoUnitGiven, TimeIs: o.timeIs, FirstAttempt: -1, By: o.by, HopName: o.hopName, InferNesting: o.inferNesting, WeightKey: o.weightField,
	}
	rules := outcome.Config{MatchMessages: o.matchMessages, TruncatedIf: o.truncatedIf, Not: o.notRules, Timeouts: p.timeouts}
	for _, s := range o.fields {
		f, err := field.ParseFlag(s)
		if err != nil {
			return err
		}
		if f.Role == field.Error && outcome.TellsSuccess(f.Key) {
			return fmt.Errorf("--field %s: that key tells success, the opposite of an error: write --field success=%s", s, f.Key)
		}
		c.Fields = append(c.Fields, f)
	}
	var err error
	if c.Selection, err = selection.New(o.where, o.since, o.until, time.Now()); err != nil {
		return err
	}
	if u, ok := moment.ParseUnit(o.unit); ok {
		c.Unit = u
	} else if o.unit != "" {
		return fmt.Errorf("--unit %q: one of ns, us, ms, s", o.unit)
	}
	if err := oneOf("--time-is", o.timeIs, "", "start", "end"); err != nil {
		return err
	}
	if err := oneOf("--first-attempt", o.firstAttempt, "", "0", "1"); err != nil {
		return err
	}
	if o.firstAttempt != "" {
		c.FirstAttempt = int(o.firstAttempt[0] - '0')
	}
	if err := oneOf("--hop-name", o.hopName, "service", "operation", "service-operation"); err != nil {
		return err
	}
	if err := oneOf("--input-format", o.inputFormat, append(ingest.FormatNames(), "")...); err != nil {
		return err
	}
	if err := oneOf("--preset", o.preset, append(ingest.PresetNames(), "")...); err != nil {
		return err
	}
	maxLine, err := parseBytes(o.maxLine)
	if err != nil {
		return fmt.Errorf("--max-line %q: %w", o.maxLine, err)
	}
	c.Callers = p.nests(&c)
	settings, err := ingest.NewSettings(c, rules)
	p.ingest = ingest.Config{Fields: settings, Format: o.inputFormat, Preset: o.preset, MaxLine: maxLine, TempDir: o.tempDir}
	return err
}

func (o *options) planTraces(p *plan) error {
	var err error
	if p.sampling, err = parseSampling(o.sampling); err != nil {
		return err
	}
	p.sampling.WeightField = o.weightField
	p.memory = int64(p.jobs) * workerMemory
	if o.memory != "" {
		n, err := parseBytes(o.memory)
		if err != nil {
			return fmt.Errorf("--memory %q: %w", o.memory, err)
		}
		p.memory = int64(n)
	}
	return nil
}

// samplingFlag is what the user says of how traces were chosen.
type samplingFlag = sampling.Stated

func parseSampling(s string) (samplingFlag, error) {
	kind, p, _ := strings.Cut(s, "=")
	switch {
	case s == "" || s == "none" || s == "biased":
		return samplingFlag{Kind: sampling.Kind(s)}, nil
	case kind == "probability":
		if v, err := strconv.ParseFloat(p, 64); err == nil && v > 0 && v <= 1 {
			return samplingFlag{Kind: sampling.Probability, Probability: p}, nil
		}
	}
	return samplingFlag{}, fmt.Errorf("--sampling %q: none, probability=P with P above 0 and at most 1, or biased", s)
}

// workerMemory is what durations and traces take for each worker without being
// told. More of it makes no run faster: a span waits in 35 bytes, and what is
// written to a file stays in the system's cache while there is room.
const workerMemory = 32 << 20

// Samples need little memory where durations are whole microseconds, and gain
// little from much where they are not.
const (
	sampleShare      = 2 // of --memory: one part in two at most
	leastForSamples  = 32 << 20
	samplesPerWorker = 16 << 20
)

// sampleMemory is how much of --memory the samples of all workers have.
func (p *plan) sampleMemory() int64 {
	return min(p.memory/sampleShare, max(leastForSamples, samplesPerWorker*int64(p.jobs)))
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
	return fmt.Errorf("%s %q: one of %s", flag, value, strings.Join(named, ", "))
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

func (o *options) planTimeouts(p *plan) error {
	p.timeouts = map[string]int64{}
	for _, s := range o.timeouts {
		at := strings.LastIndexByte(s, '=')
		if at <= 0 {
			return fmt.Errorf("--timeout %q: write HOP=DURATION, such as orders=300ms", s)
		}
		hop := s[:at]
		d, err := time.ParseDuration(s[at+1:])
		if err != nil || d <= 0 {
			return fmt.Errorf("--timeout %q: %q is no duration above zero, such as 300ms or 5s", s, s[at+1:])
		}
		if _, twice := p.timeouts[hop]; twice {
			return fmt.Errorf("--timeout names hop %q twice", hop)
		}
		p.timeouts[hop] = int64(d)
	}
	return nil
}

func (o *options) planQuantiles(p *plan) error {
	for _, s := range o.quantiles {
		q, err := quantile.ParseP(strings.TrimSpace(s))
		if err != nil {
			return fmt.Errorf("--quantiles: %w", err)
		}
		p.quantiles = append(p.quantiles, q)
	}
	if len(p.quantiles) == 0 {
		return errors.New("--quantiles: give at least one, such as 0.95")
	}
	var err error
	if p.confidence, err = quantile.ParseP(o.confidence); err != nil {
		return fmt.Errorf("--confidence: %w", err)
	}
	if f := p.confidence.Float(); f <= 0 || f >= 1 {
		return fmt.Errorf("--confidence %s: it must lie between 0 and 1", o.confidence)
	}
	if p.hop = o.hop; o.hops == "all" || p.hop != nil {
		return nil
	}
	if p.maxHops, err = strconv.Atoi(o.hops); err != nil || p.maxHops < 1 {
		return fmt.Errorf("--hops %q: a number above 0, or all", o.hops)
	}
	return nil
}

func (o *options) planOutput(p *plan) error {
	var err error
	if p.write, err = report.Lookup(o.format, o.ownFormats()...); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	p.csv, p.table = o.format == "csv", o.table
	if p.table != "" && !p.csv {
		return fmt.Errorf("--table %s: only --format csv has a single table", p.table)
	}
	if err := oneOf("--table", p.table, p.tables()...); err != nil {
		return err
	}
	if p.maxRejects, err = parseLimit(o.maxRejects); err != nil {
		return fmt.Errorf("--max-rejects %q: %w", o.maxRejects, err)
	}
	if err := oneOf("--progress", o.progress, "auto", "always", "never"); err != nil {
		return err
	}
	p.progress = o.progress == "always" || o.progress == "auto" && isTerminal(o.streams.err)
	if o.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1", o.jobs)
	}
	return nil
}

// ownFormats are those of the analyses that are shown, besides those of all.
func (o *options) ownFormats() (list []report.Named) {
	for _, a := range o.analyses {
		if its, ok := a.settings.(interface{ formats() []report.Named }); ok && a.shown {
			list = append(list, its.formats()...)
		}
	}
	return list
}

// tables are the names for --table.
func (p *plan) tables() []string {
	names := []string{""}
	for _, a := range p.analyses {
		if a.shown {
			names = append(names, a.name)
		}
	}
	return names
}

func (o *options) planSources(p *plan, args []string) error {
	if len(args) == 0 {
		if isTerminal(o.streams.in) {
			return usageError{errors.New("no input: name files, folders or globs, or pipe a log into it")}
		}
		args = []string{"-"}
	}
	var err error
	if p.sources, err = ingest.Resolve(args, o.streams.in); err != nil {
		return err
	}
	if err := p.checkOutputs(); err != nil {
		return usageError{err}
	}
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
