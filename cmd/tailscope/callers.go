package main

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

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
