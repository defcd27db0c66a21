package retries

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// rowOf is a hop and one of the things that were found of it.
type rowOf[T any] struct {
	hop *Hop
	of  T
}

// rowsOf lists what was found of each hop.
func rowsOf[T any](r *Result, of func(*Hop) []T) []rowOf[T] {
	var rows []rowOf[T]
	for i := range r.Hops {
		for _, one := range of(&r.Hops[i]) {
			rows = append(rows, rowOf[T]{&r.Hops[i], one})
		}
	}
	return rows
}

// named is the column that says which hop a row is about.
func named[R any](of func(*R) spans.Hop) report.Column[R] {
	return report.Column[R]{Head: "hop", Is: report.Key | report.Name, Of: func(r *R) value { return report.String(of(r).String()) }}
}

// failureTable has a row for each hop and kind of failure.
func failureTable(r *Result) report.Table {
	type row = rowOf[AfterFailure]
	return report.NewTable("Retries after failures", rowsOf(r, func(h *Hop) []AfterFailure { return h.AfterFailure }), []report.Column[row]{
		named(func(f *row) spans.Hop { return f.hop.Hop }),
		{Head: "failure", Is: report.Key | report.Words, Of: func(f *row) value { return report.String(f.of.Kind.String()) }},
		{Head: "first attempts", Of: func(f *row) value { return report.Count(f.of.First) }},
		{Head: "rescued", Of: func(f *row) value { return ofSome(f.of.Count) }},
		{Head: "limits", Of: func(f *row) value { return f.of.limits() }},
		{Head: "retries", Is: report.Words, Of: func(f *row) value { return report.String(f.of.Verdict.Words()) }},
	})
}

// wallHistogram has a row for each bin in which failing calls ended, with the
// multiples of the wall that lie in it.
func wallHistogram(r *Result) report.Table {
	type row = rowOf[Bin]
	return report.NewTable("How long failing calls lasted", rowsOf(r, func(h *Hop) []Bin { return h.Wall.Histogram }), []report.Column[row]{
		named(func(b *row) spans.Hop { return b.hop.Hop }),
		{Head: "from", Of: func(b *row) value {
			return report.String(report.ScaleOf([]int64{b.hop.Wall.Width, b.of.From}).Nearest(b.of.From))
		}},
		{Head: "calls", Of: func(b *row) value { return report.Count(b.of.N) }},
		{Head: "of the timeout", Is: report.Words, Of: func(b *row) value {
			return report.String(multipleIn(b.of.From, b.hop.Wall.Width, b.hop.Wall.Timeout))
		}},
	}, "All attempts of a call together, from the first start to the last end. Empty rows are left out.")
}

// multipleIn names the multiple of a timeout that a bin holds: a timeout of
// 299.993 ms was meant as 300.
func multipleIn(from, width int64, timeout *int64) string {
	if timeout == nil || *timeout <= 0 {
		return ""
	}
	from -= *timeout / 100
	first := (from + *timeout - 1) / *timeout
	if first < 1 || first**timeout >= from+width {
		return ""
	}
	return fmt.Sprintf("%d × %s", first, durations.Text(*timeout))
}

func layerTable(r *Result) report.Table {
	return report.NewTable("Layers that retry", r.Amplification.Layers, []report.Column[Layer]{
		named(func(l *Layer) spans.Hop { return l.Hop }),
		{Head: "retries", Of: func(l *Layer) value { return report.Count(l.Retries) }},
		{Head: "most attempts", Of: func(l *Layer) value { return report.Count(l.MostAttempts) }},
	})
}

// twiceTable lists calls that a server ran to a good end more than once.
func twiceTable(r *Result, v *report.View) report.Table {
	return report.NewTable("Executed more than once", r.ExecutedTwice, []report.Column[Case]{
		named(func(c *Case) spans.Hop { return c.Hop }),
		{Head: "severity", Is: report.Words, Of: func(c *Case) value { return report.String(c.severity()) }},
		{Head: "executions", Of: func(c *Case) value { return report.Count(c.Executions) }},
		{Head: "trace", Is: report.Name, Of: func(c *Case) value { return report.String(c.Trace).Noted(v.TraceAddress(c.Trace)) }},
	}, "error: the operation looks like a write (POST, PATCH, create…, --write-hop).")
}
