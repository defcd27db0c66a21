package timeouts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/report"
)

// Section says what each timeout should be, what a request may take and, in full,
// the budget handed down and the roll-out. CSV has a row a hop.
func (o *Result) Section(v *report.View) report.Section {
	lines := report.Opening("Timeouts: "+o.summary(), "timeouts", o.Warnings)
	o = o.shown(v)
	advice := report.NewTable("What each timeout should be", o.Hops, columns, adviceCaption(o)...)
	s := report.Section{Key: "timeouts", JSON: func() any { return o }, Lines: lines, Data: advice}
	switch {
	case len(o.Hops) == 0:
	case v.InFull:
		s.Tables = []report.Table{advice, stratumTable(o), slotTable(o), totalTable(o), grantTable(o), rollOut(o)}
	default:
		s.Tables = []report.Table{advice, totalTable(o)}
	}
	return s
}

// shown is the result with the hops to show.
func (o *Result) shown(v *report.View) *Result {
	s := *o
	s.Hops = report.Shown(v, o.Hops, func(h *Hop) []string { return []string{h.Name} })
	s.Inversions = report.Shown(v, o.Inversions, func(i *Inversion) []string { return []string{i.Parent.Name, i.Child.Name} })
	if o.Allocation != nil {
		a := *o.Allocation
		a.Grants = report.Shown(v, a.Grants, func(g *Grant) []string { return []string{g.Name} })
		s.Allocation = &a
	}
	return &s
}

// summary says how much is known.
func (o *Result) summary() string {
	if len(o.Hops) == 0 {
		return "none: " + cmp.Or(string(o.Reason), "no attempts")
	}
	counts := map[Evidence]int{}
	for _, h := range o.Hops {
		counts[h.Evidence]++
	}
	var parts []string
	for _, e := range [...]Evidence{Certified, Identified, TooFew, NotIdentified, None} {
		if n := counts[e]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, evidenceText(e)))
		}
	}
	text := strings.Join(parts, ", ")
	if b := o.Total.Budget; b != nil {
		text += "; a request may take " + durations.Text(*b)
	}
	return text
}

func evidenceText(e Evidence) string {
	switch e {
	case TooFew:
		return "too few"
	case NotIdentified:
		return "not known"
	case None:
		return "without evidence"
	}
	return string(e)
}

type value = report.Value

// columns are those of a row a hop.
var columns = []report.Column[Hop]{
	{Head: "hop", Is: report.Key | report.Name, Of: func(h *Hop) value { return report.String(h.Hop.String()) }},
	{Key: "hop", Of: func(h *Hop) value { return report.String(h.Name) }},
	{Key: "service", Of: func(h *Hop) value { return report.String(h.Service) }},
	{Key: "operation", Of: func(h *Hop) value { return report.String(h.Operation) }},
	{Key: "kind", Of: func(h *Hop) value { return report.String(h.Kind.String()) }},
	{Key: "n", Head: "n", Of: func(h *Hop) value { return report.Count(h.N) }},
	{Key: "current_ns", Head: "today", Of: func(h *Hop) value { return report.Maybe(h.Current, Current.value) }},
	{Key: "cut_share", Head: "timed out", Of: func(h *Hop) value { return report.Maybe(h.cutShare(), report.Share) }},
	{Head: "evidence", Is: report.Words, Of: func(h *Hop) value { return report.String(evidenceText(h.Evidence)).Noted(h.Reason) }},
	{Key: "evidence", Of: func(h *Hop) value { return report.Code(h.Evidence) }},
	{Key: "bound_ns", Of: func(h *Hop) value { return report.Maybe(h.Bound, report.Nanos) }},
	{Key: "timeout_ns", Head: "timeout", Of: func(h *Hop) value { return report.Maybe(h.Timeout, report.Nanos).Noted(texts(h.Warnings)...) }},
	{Key: "cut_under_advice", Of: func(h *Hop) value { return report.Maybe(h.Under, Under.value) }},
	{Head: "would time out", Of: func(h *Hop) value {
		if h.Timeout == nil { // the page has no timeout beside it
			return value{}
		}
		return report.Maybe(h.Under, Under.value)
	}},
	{Key: "server_side_ns", Head: "servers say", Of: func(h *Hop) value { return report.Maybe(h.ServerSide, ServerSide.value) }},
	{Key: "canary_ns", Head: "canary", Of: func(h *Hop) value {
		return report.Maybe(h.Canary, func(c Canary) value { return report.Nanos(c.RaiseTo).Noted(canaryText(&c)) })
	}},
	{Key: "change", Of: func(h *Hop) value { return report.String(h.Change) }},
	{Key: "safe_to_lower", Of: func(h *Hop) value { return report.Flag(h.SafeToLower) }},
	{Key: "slots_held_today", Of: func(h *Hop) value { return report.Maybe(h.HeldToday, report.Number) }},
	{Key: "slots_held_under_advice", Of: func(h *Hop) value { return report.Maybe(h.HeldThen, report.Number) }},
	{Key: "reason", Of: func(h *Hop) value { return report.String(h.Reason) }},
	{Key: "warnings", Of: func(h *Hop) value { return report.String(note.Codes(h.Warnings)) }},
}

func (c Current) value() value { return report.Nanos(c.Timeout).AtMost(c.Source == buckets.Inferred) }

func (u Under) value() value { return report.OutOf(u.N, u.Of) }

func (s ServerSide) value() value {
	return report.Maybe(s.Suggested, report.Nanos).Noted(fmt.Sprintf("%d of %s a server span", s.N, note.Count(s.Of, "first attempt that timed out", "first attempts that timed out")+note.Form(s.N, " has", " have")))
}

func texts(warnings []note.Warning) []string {
	var list []string
	for _, w := range warnings {
		list = append(list, w.Text)
	}
	return list
}

// canaryText says how to run a canary.
func canaryText(c *Canary) string {
	var sizes []string
	for _, s := range c.Sizes {
		text := note.Count(s.Attempts, "first attempt") + " for " + s.P.Label()
		if s.Takes != nil {
			text += " (" + roughly(*s.Takes) + " at today's rate)"
		}
		sizes = append(sizes, text)
	}
	return fmt.Sprintf("keep today's timeout and, on a part of the traffic, raise it to %s, from %s: %s, none of them timed out, would do%s", raiseText(c), c.From, strings.Join(sizes, ", "), together(c.Effect))
}

// together says that a canary of attempts that come together must be larger; by how
// much depends on how many of a trace or a minute are in it.
func together(e depend.Effect) string {
	if !e.Known() {
		return ""
	}
	return ", if they were independent; today's are not (design effect " + strconv.FormatFloat(e.Float(), 'f', -1, 64) + "), so take more, from many traces and minutes"
}

// roughly writes how long something takes, to be planned with.
func roughly(ns int64) string {
	for _, u := range [...]struct {
		name string
		ns   float64
	}{{"days", 24 * 3600e9}, {"hours", 3600e9}, {"minutes", 60e9}} {
		if n := float64(ns) / u.ns; n >= 2 {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(ns/1e9+1, 10) + " s"
}

func adviceCaption(o *Result) []string {
	per := "attempts"
	if o.PerRequest {
		per = "requests"
	}
	return []string{fmt.Sprintf(
		"So that at most %s of the %s are needlessly timed out: %s at %s confidence, times %s or plus %s, rounded up. What would time out counts those that do today.",
		o.FalseTimeout.Text(), per, o.Target.Label(), o.Confidence.Percent(), strconv.FormatFloat(float64(o.Headroom)/100, 'f', -1, 64), durations.Text(o.Allowance))}
}
