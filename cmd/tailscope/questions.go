package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/explain"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
	"github.com/tailscope/tailscope/waterfall"
)

var traceKind = kind{
	name: waterfall.Key,
	command: cobra.Command{
		Use:   "trace worst|ID [FILE…]",
		Short: "Draw one trace: worst, or by id",
		Long: `trace draws one request as a waterfall: what ran when, what waited for what, what
timed out, was retried or ran on for nobody.

ID is that of a trace, or of a chain of a hop log, or the beginning of one. worst is
the slowest request from end to end; those that timed out or failed come first, as
they hide how long they would have taken, unless another took twice as long. With
--of HOP it is the request with the slowest call of that hop, by the same rule.

--format jaeger writes a file that Jaeger's UI opens.`,
		Example: `  tailscope trace worst traces.json.gz
  tailscope trace worst --of 'search -> catalog' traces.json.gz
  tailscope trace e9031162 --format jaeger -o trace.json traces.json.gz`,
	},
	reads: spans.Hosts,
	shows: spans.Positions | spans.Texts,
	keep:  assembly.KeepAll,
	new:   func() settings { return new(traceSettings) },
	merge: merges[*traceCollector],
	about: [2]string{"trace", "trace " + worstTrace},
}

// worstTrace is the argument that asks for the worst.
const worstTrace = "worst"

type traceSettings struct {
	what, of, top string
	rows          int // 0 for all
}

func (s *traceSettings) about(what string) { s.what = what }

func (s *traceSettings) declare(_ *options, f *pflag.FlagSet, _ bool) {
	f.StringVar(&s.of, "of", "", "with worst: the request with the slowest call of this `HOP`, by its name or a part of it")
	f.StringVar(&s.top, "top", "40", "most spans and calls to draw, or all; the rest is folded")
}

func (s *traceSettings) check(*plan, bool) (err error) {
	if s.of != "" && s.what != worstTrace {
		return fmt.Errorf("--of %q: only 'trace worst' asks for the worst of a hop", s.of)
	}
	s.rows, err = parseTop(s.top)
	return err
}

// traceCollector keeps the request that is asked for. The end-to-end time is that of the
// owner's section, and what ran for nobody is judged by all traces.
type traceCollector struct {
	owner   *attribution.Accumulator
	orphans *orphans.Accumulator
	picker  *waterfall.Picker
	finding *nesting.Finding
	placer  *nesting.Placer
}

func (s *traceSettings) collect(p *plan) any {
	c := waterfall.Config{Of: s.of}
	if s.what != worstTrace {
		c.ID = s.what
	}
	return &traceCollector{owner: attribution.NewAccumulator(), orphans: orphans.NewAccumulator(orphans.Config{Tolerance: int64(usualTolerance)}), picker: waterfall.NewPicker(c)}
}

// SetNesting says what calls what in chains of hop logs.
func (c *traceCollector) SetNesting(f *nesting.Finding) {
	c.owner.SetNesting(f)
	c.finding, c.placer = f, f.Sure().NewPlacer()
}

// AddBatch counts the lines of hop logs.
func (c *traceCollector) AddBatch(b *spans.Batch) error { return c.owner.AddBatch(b) }

// AddChain looks at a whole chain of a hop log.
func (c *traceCollector) AddChain(chain *spans.Chain) {
	c.owner.AddChain(chain)
	came := c.owner.Last()
	if c.placer != nil {
		c.placer.Place(chain)
	}
	if len(chain.Attempts) > 0 {
		c.picker.AddChain(chain, came)
	}
}

// AddTrace looks at a whole trace, or at a chain that came as one.
func (c *traceCollector) AddTrace(t *spans.Trace) {
	if len(t.Spans) > 0 && t.OfLog() {
		c.AddChain(t.Chain())
		return
	}
	c.orphans.AddTrace(t)
	c.owner.AddTrace(t)
	c.picker.AddTrace(t, c.owner.Last())
}

// Merge moves what o collected into c.
func (c *traceCollector) Merge(o *traceCollector) {
	c.owner.Merge(o.owner)
	c.orphans.Merge(o.orphans)
	c.picker.Merge(o.picker)
}

func (s *traceSettings) result(r *results, collected any) func() report.Section {
	c := collected.(*traceCollector)
	found, err := c.picker.Result(waterfall.Query{
		Orphans: func(t *spans.Trace) []orphans.Found {
			return c.orphans.In(t, orphans.Query{Confidence: r.plan.confidence})
		},
		Nesting: c.finding, Path: r.view.Path,
	})
	if err != nil {
		r.err = asQuestion(s.meant(err))
		return nil
	}
	return func() report.Section { return found.Section(&r.view, s.rows) }
}

// meant makes an id that is nearly the word for the worst a mistake in the command line.
func (s *traceSettings) meant(err error) error {
	var none *waterfall.NotFoundError
	if errors.As(err, &none) && none.Seen > 0 && nearest.Within(s.what, []string{worstTrace}, nearlyLetters) != "" {
		return usageError{fmt.Errorf("%w; did you mean %q?", err, worstTrace)}
	}
	return err
}

// formats are those that only a drawn request has.
func (*traceSettings) formats() []report.Named {
	return []report.Named{{Name: "jaeger", Write: writeJaeger}}
}

func writeJaeger(w io.Writer, r *report.Report, _ report.Options) error {
	for _, s := range r.Sections {
		if s.Key == waterfall.Key {
			return s.JSON().(*waterfall.Result).WriteJaeger(w)
		}
	}
	return errors.New("no request to write")
}

// asQuestion makes a name that means several things, or no hop, a mistake in the command
// line.
func asQuestion(err error) error {
	var several *neighbors.AmbiguousError
	var unknown *neighbors.UnknownError
	var ids *waterfall.AmbiguousError
	if errors.As(err, &several) || errors.As(err, &unknown) || errors.As(err, &ids) {
		return usageError{err}
	}
	return err
}

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
	about: [2]string{"hop", "explain HOP"},
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
