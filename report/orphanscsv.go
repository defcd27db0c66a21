package report

import (
	"strconv"

	"github.com/tailscope/tailscope/orphans"
)

// orphanColumns are those of the CSV of a page that has only orphans: a row a
// case, worst first.
var orphanColumns = []struct {
	name  string
	value func(*Report, *orphans.Case) string
}{
	{"trace", func(_ *Report, c *orphans.Case) string { return defused(c.Trace) }},
	{"orphan", func(_ *Report, c *orphans.Case) string { return string(c.Kind) }},
	{"parent_hop", func(_ *Report, c *orphans.Case) string { return defused(c.Parent.Hop.Name) }},
	{"parent_kind", func(_ *Report, c *orphans.Case) string { return c.Parent.Hop.Kind.String() }},
	{"parent_span", func(_ *Report, c *orphans.Case) string { return defused(c.Parent.Span) }},
	{"parent_start_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Parent.Start) }},
	{"parent_duration_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Parent.Duration) }},
	{"parent_outcome", func(_ *Report, c *orphans.Case) string { return c.Parent.Outcome.String() }},
	{"parent_cut_by", func(_ *Report, c *orphans.Case) string { return c.Parent.CutBy.String() }},
	{"child_hop", func(_ *Report, c *orphans.Case) string { return defused(c.Child.Hop.Name) }},
	{"child_kind", func(_ *Report, c *orphans.Case) string { return c.Child.Hop.Kind.String() }},
	{"child_span", func(_ *Report, c *orphans.Case) string { return defused(c.Child.Span) }},
	{"child_start_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Child.Start) }},
	{"child_duration_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Child.Duration) }},
	{"overrun_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Overrun) }},
	{"wasted_ns", func(_ *Report, c *orphans.Case) string { return integer(&c.Wasted) }},
	{"sure", func(_ *Report, c *orphans.Case) string { return string(c.Sure) }},
	{"evidence", func(_ *Report, c *orphans.Case) string { return defused(c.Evidence) }},
	{"url", func(r *Report, c *orphans.Case) string { return defused(r.traceURL(c.Trace)) }},
	{"file", func(r *Report, c *orphans.Case) string { return defused(r.path(c.File)) }},
	{"line", func(_ *Report, c *orphans.Case) string { return strconv.FormatInt(c.Line, 10) }},
	{"offset", func(_ *Report, c *orphans.Case) string { return strconv.FormatInt(c.Offset, 10) }},
}

func orphanRows(r *Report) [][]string {
	head := make([]string, len(orphanColumns))
	for i, column := range orphanColumns {
		head[i] = column.name
	}
	rows := [][]string{head}
	for i := range r.Orphans.Items {
		row := make([]string, len(orphanColumns))
		for j, column := range orphanColumns {
			row[j] = column.value(r, &r.Orphans.Items[i])
		}
		rows = append(rows, row)
	}
	return rows
}
