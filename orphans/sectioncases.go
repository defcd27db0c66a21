package orphans

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// caseColumns are those of CSV.
var caseColumns = []report.Column[Case]{
	{Key: "trace", Of: func(c *Case) value { return report.String(c.Trace) }},
	{Key: "orphan", Of: func(c *Case) value { return report.String(c.Kind) }},
	{Key: "parent_hop", Of: func(c *Case) value { return report.String(c.Parent.Hop.Name) }},
	{Key: "parent_kind", Of: func(c *Case) value { return report.String(c.Parent.Hop.Kind.String()) }},
	{Key: "parent_span", Of: func(c *Case) value { return report.String(c.Parent.Span) }},
	{Key: "parent_start_ns", Of: func(c *Case) value { return report.Nanos(c.Parent.Start) }},
	{Key: "parent_duration_ns", Of: func(c *Case) value { return report.Nanos(c.Parent.Duration) }},
	{Key: "parent_outcome", Of: func(c *Case) value { return report.String(c.Parent.Outcome.String()) }},
	{Key: "parent_cut_by", Of: func(c *Case) value { return report.String(c.Parent.CutBy.String()) }},
	{Key: "child_hop", Of: func(c *Case) value { return report.String(c.Child.Hop.Name) }},
	{Key: "child_kind", Of: func(c *Case) value { return report.String(c.Child.Hop.Kind.String()) }},
	{Key: "child_span", Of: func(c *Case) value { return report.String(c.Child.Span) }},
	{Key: "child_start_ns", Of: func(c *Case) value { return report.Nanos(c.Child.Start) }},
	{Key: "child_duration_ns", Of: func(c *Case) value { return report.Nanos(c.Child.Duration) }},
	{Key: "overrun_ns", Of: func(c *Case) value { return report.Nanos(c.Overrun) }},
	{Key: "wasted_ns", Of: func(c *Case) value { return report.Nanos(c.Wasted) }},
	{Key: "sure", Of: func(c *Case) value { return report.String(c.Sure) }},
	{Key: "evidence", Of: func(c *Case) value { return report.String(c.Evidence) }},
	{Key: "url", Of: func(c *Case) value { return report.String(c.URL) }},
	{Key: "file", Of: func(c *Case) value { return report.String(c.Path) }},
	{Key: "line", Of: func(c *Case) value { return report.Count(c.Line) }},
	{Key: "offset", Of: func(c *Case) value { return report.Count(c.Offset) }},
}

// barColumns is the width of a waterfall.
const barColumns = 32

// caseRow is the parent or the child of a case.
type caseRow struct {
	*End
	bar    string
	orphan *Case // nil for the parent
}

// caseTable shows the worst cases, each as a small waterfall: the parent, the
// moment it left, and the child beyond. Where to find it stands in a note.
func caseTable(r *Result) report.Table {
	var rows []caseRow
	for i := range r.Items {
		c := &r.Items[i]
		parent, child := waterfall(c)
		rows = append(rows, caseRow{&c.Parent, parent, nil}, caseRow{&c.Child, child, c})
	}
	return report.NewTable("Worst orphans", rows, []report.Column[caseRow]{
		{Head: "span", Is: report.Key | report.Name, Of: func(e *caseRow) value { return report.String(e.Hop.String()).Noted(whereabouts(e.orphan)) }},
		{Head: "time", Is: report.Words, Of: func(e *caseRow) value { return report.String(e.bar) }},
		{Head: "lasted", Of: func(e *caseRow) value { return report.Nanos(e.Duration) }},
		{Head: "ended", Is: report.Words, Of: func(e *caseRow) value { return report.String(ended(e.End)) }},
		{Head: "ran on", Of: ranOn},
	}, "█ running; │ the moment the parent gave up; ▒ running for nobody.")
}

func ranOn(e *caseRow) value {
	if e.orphan == nil {
		return report.String("")
	}
	return report.Nanos(e.orphan.Overrun)
}

// whereabouts says how sure a case is and where to look it up.
func whereabouts(c *Case) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("trace %s span %s, %s: %s; ", c.Trace, c.Child.Span, c.Sure, c.Evidence)
	if c.URL != "" {
		return text + string(c.URL)
	}
	return text + fmt.Sprintf("%s:%d (byte %d)", c.Path, c.Line, c.Offset)
}

func ended(e *End) string {
	if e.Outcome == spans.Truncated {
		return endedBy(e.CutBy)
	}
	return e.Outcome.String()
}

func endedBy(by spans.CutBy) string {
	switch by {
	case spans.Own:
		return "timed out"
	case spans.Below:
		return "timed out below"
	case spans.Caller:
		return "cancelled by its caller"
	}
	return "timed out or cancelled"
}

// waterfall draws parent and child on one line of time.
func waterfall(c *Case) (parent, child string) {
	from := min(c.Parent.Start, c.Child.Start)
	left := c.Parent.Start + c.Parent.Duration
	total := float64(max(1, max(left, c.Child.Start+c.Child.Duration)-from))
	column := func(ns int64) int { return int(float64(ns-from) / total * barColumns) }
	bar := func(start, end int64) string {
		a, b := column(start), max(column(start)+1, column(end))
		gone := min(max(column(left), a), b)
		return strings.Repeat(" ", a) + strings.Repeat("█", gone-a) + strings.Repeat("▒", b-gone)
	}
	parent = bar(c.Parent.Start, left)
	if parent == "" || !strings.Contains(parent, "█") {
		parent = strings.Repeat(" ", column(c.Parent.Start)) + "█"
	}
	return parent + "│", bar(c.Child.Start, c.Child.Start+c.Child.Duration)
}
