package timeouts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

type stratumRow struct {
	*Hop
	of Stratum
}

// stratumTable has the strata of each hop, such as a canary's.
func stratumTable(o *Result) report.Table {
	var rows []stratumRow
	for i := range o.Hops {
		for _, s := range o.Hops[i].Strata {
			rows = append(rows, stratumRow{&o.Hops[i], s})
		}
	}
	return report.NewTable("By stratum", rows, []report.Column[stratumRow]{
		{Head: "hop", Is: report.Key | report.Name, Of: func(s *stratumRow) value { return report.String(s.Hop.String()) }},
		{Head: "stratum", Is: report.Key | report.Name, Of: func(s *stratumRow) value { return report.String(cmp.Or(s.of.Name, report.Dash)) }},
		{Head: "n", Of: func(s *stratumRow) value { return report.Count(s.of.N) }},
		{Head: "timed out", Of: func(s *stratumRow) value { return report.Count(s.of.Cut) }},
		{Head: "evidence", Is: report.Words, Of: func(s *stratumRow) value { return report.String(evidenceText(s.of.Evidence)) }},
		{Head: "bound", Of: func(s *stratumRow) value { return report.Maybe(s.of.Bound, report.Nanos) }},
		{Head: "timeout", Of: func(s *stratumRow) value { return report.Maybe(s.of.Timeout, report.Nanos) }},
	}, "The timeout of one stratum, such as a canary's, is that of all only if its calls are like the others.")
}

// slotTable says what timeouts hold.
func slotTable(o *Result) report.Table {
	rows := slices.DeleteFunc(slices.Clone(o.Hops), func(h Hop) bool { return h.PerSecond == nil })
	return report.NewTable("What is held while waiting", rows, []report.Column[Hop]{
		columns[0],
		{Head: "first attempts a second", Of: func(h *Hop) value { return report.Maybe(h.PerSecond, report.Number) }},
		{Head: "held today", Of: func(h *Hop) value { return report.Maybe(h.HeldToday, report.Number) }},
		{Head: "with the advice", Of: func(h *Hop) value { return report.Maybe(h.HeldThen, report.Number) }},
		{Head: "change", Is: report.Words, Of: func(h *Hop) value { return report.String(changeText(h)) }},
	}, "Held are calls at once, if each lasts as long as its timeout: the rate times the timeout. It is the mean rate; the busiest minute holds more.")
}

func changeText(h *Hop) string {
	change := cmp.Or(string(h.Change), report.Dash)
	if h.SafeToLower {
		change += ", safely"
	}
	return change
}

// totalTable has the budget of the entry with most requests.
func totalTable(o *Result) report.Table {
	const title = "Request deadline"
	if o.Total.Budget == nil {
		return report.Table{Title: title, Caption: []string{"Not known: " + strings.TrimPrefix(string(o.Total.Reason), "not known ") + "."}}
	}
	parts := append(slices.Clip(o.Total.Parts), Part{"total", *o.Total.Budget})
	return report.NewTable(title, parts, []report.Column[Part]{
		{Head: "part", Is: report.Key | report.Name, Of: func(p *Part) value { return report.String(p.What) }},
		{Head: "time", Of: func(p *Part) value { return report.Nanos(p.NS) }},
	}, totalCaption(o)...)
}

func totalCaption(o *Result) []string {
	text := fmt.Sprintf("Of %s.", note.Count(o.Total.Requests, "request"))
	if o.Total.Entry.Name != "" {
		text = fmt.Sprintf("Of %s with %s.", note.Count(o.Total.Requests, "request that begins", "requests that begin"), o.Total.Entry)
	}
	if more := len(o.Entries) - 1; more > 0 {
		text += fmt.Sprintf(" Requests begin with %s too: --format json lists all.", note.Count(more, "other hop"))
	}
	if e := o.Total.Effective; e != nil {
		text += fmt.Sprintf(" Retries that find room: %d; the most seen: %d.", *e, o.Total.Seen)
	}
	return []string{text}
}

// grantTable is the entry budget handed down.
func grantTable(o *Result) report.Table {
	a := o.Allocation
	if a == nil {
		return report.Table{}
	}
	caption := []string{"At most is what is left for a call when all others take what they need; each attempt may have its part of that without the waits between attempts."}
	if slices.ContainsFunc(a.Grants, func(g Grant) bool { return g.Needs == nil }) {
		caption = append(caption, "Where the needs of a call are not known, those of its neighbours are without a limit.")
	}
	if s := a.Infeasible; s != nil {
		caption = append(caption, fmt.Sprintf("The budget is too small: %s needs %s and has %s.", s.Hop, durations.Text(s.Needs), durations.Text(s.Has)))
	}
	return report.NewTable("The budget of "+durations.Text(a.Budget)+" handed down", a.Grants, []report.Column[Grant]{
		{Head: "hop", Is: report.Key | report.Name, Of: func(g *Grant) value { return report.String(g.Hop.String()) }},
		{Head: "needs", Of: func(g *Grant) value { return report.Maybe(g.Needs, report.Nanos) }},
		{Head: "at most", Of: func(g *Grant) value { return report.Maybe(g.Limit, report.Nanos) }},
		{Head: "attempts", Of: func(g *Grant) value { return report.Count((g.Tries + 1) * g.InRow) }},
		{Head: "each at most", Of: func(g *Grant) value { return report.Maybe(g.PerTry, perTry) }},
	}, caption...)
}

// perTry says where the waits between attempts leave no time for these.
func perTry(ns int64) value {
	if ns == 0 {
		return report.String("no room")
	}
	return report.Nanos(ns)
}

// rollOut is the steps, as sentences.
func rollOut(o *Result) report.Table {
	t := report.Table{Title: "Roll-out"}
	for _, s := range o.Steps {
		t.Caption = append(t.Caption, fmt.Sprintf("%d. %s. Watch %s. Read it back with: %s.", s.Number, strings.ToUpper(s.Do[:1])+s.Do[1:], s.Watch, s.Read))
	}
	return t
}
