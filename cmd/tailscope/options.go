package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscope/tailscope/gates"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/note"
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
	quiet      bool
	jobs       int
	verbose    bool

	limit int
	// listsCases: the analyses list single cases, which --top counts then.
	listsCases bool
	top        string
	sort       string
	failOn     []string
	traceURL   string
	analyses   []selected
	given      func(flag string) bool // on the command line
	configFile string
	config     *config // nil without one
	taken      []note.Warning
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
	table        string   // of CSV; "" for the first
	files        []string // as they were named
	output       string
	misnamed     string // a warning: its name is that of another format
	unwritable   error  // its name chooses no format
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
	top          int // hops to show on a page of all analyses, 0 for all
	sort         string
	traceURL     string
	gates        []gates.Rule
	config       *config
	taken        []note.Warning // which hops --timeout was taken for
}

// run checks the flags and runs the pipeline, twice where --timeout names hops otherwise
// than the input does.
func (o *options) run(ctx context.Context, args []string) error {
	err := o.once(ctx, args)
	var again *otherNames
	if !errors.As(err, &again) {
		return err
	}
	for _, name := range args {
		if info, err := os.Stat(name); name == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return usageError{again}
		}
	}
	o.taken = again.warnings()
	if err := again.named(o); err != nil || len(args) == 0 {
		return usageError{cmp.Or(err, error(again))}
	}
	return o.once(ctx, args)
}

func (o *options) once(ctx context.Context, args []string) error {
	p, err := o.plan(args)
	if err != nil {
		return err
	}
	return p.run(ctx)
}

// plan checks all flags, so that no mistake shows up after an hour of reading.
func (o *options) plan(args []string) (*plan, error) {
	p := &plan{
		streams: o.streams, analyses: o.needed(), output: o.output, rejects: o.rejects, jobs: o.jobs, verbose: o.verbose,
		strata: o.by != "", simultaneous: o.simultaneous, tempDir: o.tempDir, infer: o.inferNesting,
		top: usualTop, sort: o.sort, config: o.config, taken: o.taken,
	}
	p.noEstimate = o.noEstimate || !p.shows("hops") && !p.shows("timeouts")
	for _, check := range []func(*plan) error{o.planTimeouts, o.planInput, o.planTraces, o.planQuantiles, o.planCases, o.planAnalyses, o.planGates, o.planNaming, o.planOutput} {
		if err := check(p); err != nil {
			return nil, usageError{o.withConfig(err)}
		}
	}
	return p, o.planSources(p, args)
}

// withConfig says that a setting may come from a file.
func (o *options) withConfig(err error) error {
	if o.config == nil || len(o.config.Settings) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s has settings, too: %s", err, o.config.File, strings.Join(o.config.Settings, "; "))
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
	if p.whole() {
		if err := oneOf("--sort", o.sort, slices.Concat(orders, []string{"", byWasted, byOverrun})...); err != nil {
			return err
		}
	}
	if o.top == "" {
		return nil
	}
	n, err := parseTop(o.top)
	if err != nil {
		return err
	}
	return o.planTop(p, n)
}

// usualTop is how many hops a page of all analyses shows.
const usualTop = 15

// mostCases is how many single cases --top all lists: they are kept while reading.
const mostCases = 10_000

// planTop shows so many: of the hops in a page of all analyses, whose other formats stay
// complete, else of the cases of the analysis, or of its hops if it lists none.
func (o *options) planTop(p *plan, n int) error {
	if !o.given("limit") {
		p.limit = n
		if n == 0 {
			p.limit = mostCases
		}
	}
	p.top = n
	switch {
	case o.given("hops") || p.hop != nil:
	case !p.whole() && o.listsCases:
	case !p.whole():
		p.maxHops = n
	case n == 0 || n > p.maxHops:
		p.maxHops = n
	}
	return nil
}

// whole reports whether the run shows more than one analysis.
func (p *plan) whole() bool {
	shown := 0
	for _, a := range p.analyses {
		if a.shown {
			shown++
		}
	}
	return shown > 1
}

func (o *options) planInput(p *plan) error {
	c := field.Config{
		Unit: moment.NoUnitGiven, TimeIs: o.timeIs, FirstAttempt: -1, By: o.by, HopName: o.hopName, InferNesting: o.inferNesting, WeightKey: o.weightField,
	}
	if o.firstAttempt != "" {
		if err := oneOf("--first-attempt", o.firstAttempt, "0", "1"); err != nil {
			return err
		}
		c.FirstAttempt = int(o.firstAttempt[0] - '0')
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
		if err := c.Add(f); err != nil {
			return err
		}
	}
	p.sampling.WeightField = c.WeightKey
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
	stated, err := parseSampling(o.sampling)
	if err != nil {
		return err
	}
	p.sampling.Kind, p.sampling.Probability = stated.Kind, stated.Probability
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
	case s == "all":
		return samplingFlag{Kind: sampling.None}, nil
	case s == "" || s == "none" || s == "biased":
		return samplingFlag{Kind: sampling.Kind(s)}, nil
	case kind == "probability":
		if q, err := quantile.ParseLabel(p); err == nil && q.Float() > 0 {
			return samplingFlag{Kind: sampling.Probability, Probability: q.String()}, nil
		} else if v, err := strconv.ParseFloat(p, 64); err == nil && v > 0 && v <= 1 {
			return samplingFlag{Kind: sampling.Probability, Probability: p}, nil
		}
	}
	return samplingFlag{}, fmt.Errorf("--sampling %q: all, none, probability=P with P above 0 and at most 1, or biased", s)
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

func (o *options) planQuantiles(p *plan) error {
	for _, s := range o.quantiles {
		q, err := quantile.ParseLabel(s)
		if err != nil {
			return fmt.Errorf("--quantiles: %w", err)
		}
		p.quantiles = append(p.quantiles, q)
	}
	if len(p.quantiles) == 0 {
		return errors.New("--quantiles: give at least one, such as 0.95")
	}
	var err error
	if p.confidence, err = quantile.ParseLabel(o.confidence); err != nil {
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
	format, known := o.chosenFormat()
	if !known {
		p.unwritable = fmt.Errorf("-o %s: no format is written to files of that name: end it in one of %s, or give --format", o.output, strings.Join(extensions(), " "))
	}
	if p.write, err = report.Lookup(format, o.ownFormats()...); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	p.misnamed = o.misnamed(format)
	p.csv, p.table = format == "csv", o.table
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
	p.progress = !o.quiet && (o.progress == "always" || o.progress == "auto" && isTerminal(o.streams.err))
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
	p.files = args
	var err error
	if p.sources, err = ingest.Resolve(args, o.streams.in); err != nil {
		return err
	}
	if err := cmp.Or(p.checkOutputs(), p.unwritable); err != nil {
		return usageError{err}
	}
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
