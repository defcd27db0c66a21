package main

import (
	"fmt"

	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/callees"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// neighborsKind has no command: it tells others which hop of a trace lies above which.
var neighborsKind = kind{
	name:  "neighbors",
	new:   func() settings { return new(neighborSettings) },
	merge: merges[*neighborCollector],
}

type neighborSettings struct{}

func (*neighborSettings) declare(*options, *pflag.FlagSet, bool) {}

func (*neighborSettings) check(*plan, bool) error { return nil }

func (*neighborSettings) collect(*plan) any { return new(neighborCollector) }

func (*neighborSettings) result(r *results, collected any) func() report.Section {
	r.neighbors = collected.(*neighborCollector).all.Pairs()
	return nil
}

// neighborCollector counts the pairs of traces, and of chains where others have found
// out what calls what in them.
type neighborCollector struct {
	all    neighbors.Accumulator
	placer *nesting.Placer
}

func (c *neighborCollector) SetNesting(f *nesting.Finding) { c.placer = f.Sure().NewPlacer() }

func (c *neighborCollector) AddTrace(t *spans.Trace) { c.all.AddTrace(t) }

func (c *neighborCollector) AddChain(chain *spans.Chain) {
	if c.placer != nil {
		c.placer.Place(chain)
		c.all.AddChain(chain)
	}
}

func (c *neighborCollector) Merge(o *neighborCollector) { c.all.Merge(&o.all) }

// tellCallees finds the client hops whose calls go to several services, and has every
// worker tell them apart.
func (l *pipeline) tellCallees(f *merged) error {
	if !mayCallSeveral(l.traces.Hops()) {
		return nil
	}
	surveys := make([]*callees.Survey, len(l.workers))
	for i := range surveys {
		surveys[i] = callees.NewSurvey()
	}
	err := l.traces.Sample(l.ctx, len(l.workers), func(worker int, t *spans.Trace) error {
		l.workers[worker].markRetries(t)
		surveys[worker].AddTrace(t)
		return nil
	})
	for _, s := range surveys[1:] {
		surveys[0].Merge(s)
	}
	apart, warnings := surveys[0].Apart()
	f.notes = append(f.notes, warnings...)
	for _, w := range l.workers {
		w.splitter = callees.NewSplitter(apart)
	}
	return err
}

// mayCallSeveral reports whether there are calls, and more than one service to call
// besides the caller's.
func mayCallSeveral(hops []spans.Hop) bool {
	calls, services := false, map[string]bool{}
	for _, h := range hops {
		calls = calls || h.Kind == spans.Client
		if h.Kind == spans.Server && len(services) < 2 {
			services[h.Service] = true
		}
	}
	return calls && len(services) > 1
}

// nests reports whether the run finds out what calls what in hop logs that are read so.
func (p *plan) nests(c *field.Config) bool {
	return p.keep() == assembly.KeepAll || c.Linked()
}

// statedCallers returns what the first column states that names callers, nil where none
// does. The list gets a warning for each that seems to, and is not used.
func (l *pipeline) statedCallers(list *[]note.Warning) *nesting.Stated {
	var all ingest.Callers
	for _, w := range l.workers {
		all.Merge(&w.callers)
		w.callers = ingest.Callers{}
	}
	for i, role := range field.CallerKeys {
		name, named := l.plan.ingest.Fields.CallerColumn(role)
		column := all.Column(i, l.plan.naming)
		why := l.whyNot(&column)
		if why == "" && named && column.Names > 0 && len(column.Calls) == 0 {
			why = "no line names another hop there"
		}
		switch {
		case why == "" && len(column.Calls) > 0:
			return statedBy(name, named, &column, &all)
		case why != "" && (named || len(column.Calls) > 0):
			*list = append(*list, note.Warning{Code: "callers_not_used", Text: fmt.Sprintf("%q is not taken for the hop that made the call: %s", name, why)})
		}
	}
	return nil
}

// whyNot says why a column does not name callers, "" where it may.
func (l *pipeline) whyNot(c *ingest.CallerColumn) string {
	switch {
	case c.Crowded:
		return "it has too many different values"
	case l.plan.naming.Folds() && l.plan.naming.Mode() == spans.FoldAuto:
		return fmt.Sprintf("there are more than %d hops", spans.MostHops)
	case 2*c.OfHops < c.Names:
		return fmt.Sprintf("of %s %d %s hops", note.Count(c.Names, "value", "different values"), c.OfHops, note.Form(c.OfHops, "is a name of", "are names of"))
	}
	return ""
}

// statedBy is what a column states.
func statedBy(name string, named bool, c *ingest.CallerColumn, all *ingest.Callers) *nesting.Stated {
	s := &nesting.Stated{Column: name, Named: named}
	for _, call := range c.Calls {
		s.Calls = append(s.Calls, [2]spans.Hop{call.Caller, call.Callee})
	}
	for hop, lines := range c.Stated {
		if 20*lines >= 19*all.Lines(hop) {
			s.Whole = append(s.Whole, hop)
		}
	}
	return s
}

// refutedCallers warns of a column that was not used after all.
func refutedCallers(s *nesting.Stated) note.Warning {
	return note.Warning{Code: "callers_not_used", Text: fmt.Sprintf("%q is not taken for the hop that made the call: most of the hops that it names run inside those whose lines name them; --field caller=%s takes it all the same", s.Column, s.Column)}
}
