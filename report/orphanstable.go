package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
)

// orphanTables are the tables on orphaned work: how spans relate to the end of
// their parents, the pairs of hops, inverted timeouts and, in full, the order of
// cuts and the worst cases.
func orphanTables(r *Report, notes *footnotes) []Table {
	o := r.Orphans
	if o == nil || !o.Checkable {
		return nil
	}
	tables := []Table{orphanCounts(r), pairTable(o), inversionTable(o)}
	if r.InFull {
		tables = append(tables, cutOrderTable(o), caseTable(r, notes))
	}
	return tables
}

// orphanLines say in a sentence why there are no tables.
func orphanLines(r *Report) []string {
	if r.Orphans == nil || r.Orphans.Checkable {
		return nil
	}
	return []string{"Orphans: not checkable (" + r.Orphans.Reason + ")."}
}

func orphanCounts(r *Report) Table {
	o := r.Orphans
	t := Table{
		Title:   "Orphans: work that goes on after its caller gave up",
		Columns: []Column{{Head: "spans", Key: true}, {Head: "n", Right: true}},
	}
	add := func(name string, n uint64, what string) {
		t.Rows = append(t.Rows, []Cell{{Text: name}, {Text: strconv.FormatUint(n, 10)}})
		t.Caption = append(t.Caption, name+": "+what)
	}
	add("with a parent", o.SpansWithParent, "their ends are compared, where both have one.")
	add("orphaned", o.Orphaned, fmt.Sprintf("%d were running when the parent gave up, %d began after it. An orphan is not a span whose parent is absent: that is a missing parent.", o.Overruns, o.LateStarts))
	for _, row := range [...]struct {
		name string
		n    uint64
		what string
	}{
		{"after the root's end", o.StartedAfterRootEnd, "work that began when the whole request was over, whatever its parent."},
		{"outlived, completed", o.OutlivedCompleted, "the parent had its answer: a hedge's loser, an optional branch."},
		{"outlived, asynchronous", o.OutlivedAsync, "the parent does not wait for them."},
		{"within tolerance", o.WithinTolerance, "up to " + durations.Text(o.Tolerance) + " after the parent's end."},
		{"missing parents", o.MissingParents, "the parent they name is not in the trace."},
		{"unfinished", o.Unfinished, "children without an end."},
	} {
		if row.n > 0 {
			add(row.name, row.n, row.what)
		}
	}
	if r.Input.Sampling.Kind == "biased" {
		t.Caption = append(t.Caption, "All figures on orphans and inversions are of the traces that were kept, which were chosen by how they went: they say nothing of how common this is.")
	}
	t.Caption = append(t.Caption, fmt.Sprintf("Wasted: %s, the sum over orphans of the time each ran after its parent's end; %s as the union of all that ran in orphaned subtrees. It is slot time, not CPU time.",
		durations.Text(o.Wasted), durations.Text(o.WastedUnion)))
	return t
}

// pairTable has a row for each caller and callee.
func pairTable(o *orphans.Result) Table {
	t := Table{
		Title: "Who calls whom in vain",
		Columns: []Column{
			{Head: "call", Key: true, Name: true}, {Head: "callee", Key: true, Name: true}, {Head: "orphaned", Right: true},
			{Head: "cut calls", Right: true}, {Head: "callee seen", Right: true}, {Head: "stopped", Right: true}, {Head: "wasted", Right: true},
			{Head: "ran on, mean", Right: true}, {Head: "ran on, max", Right: true}, {Head: "started late", Right: true}, {Head: "worked", Right: true}, {Head: "why"},
		},
		Caption: []string{
			"callee seen: cut calls with such a callee in the trace. stopped: callees of first calls that ended within 50 ms of the cut.",
			"started late, worked: means over the orphans. queue: they waited longer than they worked; slow: the wait is less than a tenth of the work.",
		},
	}
	if len(o.Pairs) == 0 {
		return t
	}
	figures := [...]func(orphans.Pair) int64{
		func(p orphans.Pair) int64 { return p.Wasted },
		func(p orphans.Pair) int64 { return p.Overrun.Mean },
		func(p orphans.Pair) int64 { return p.Overrun.Max },
		func(p orphans.Pair) int64 { return p.StartLag.Mean },
		func(p orphans.Pair) int64 { return p.Work.Mean },
	}
	for _, p := range o.Pairs {
		row := []Cell{
			{Text: p.Parent.String()}, {Text: p.Child.String()}, {Text: strconv.FormatUint(p.Orphaned, 10)},
			{Text: strconv.FormatUint(p.CutCalls, 10)}, {Text: strconv.FormatUint(p.CutCallsWithChild, 10)},
			{Text: fmt.Sprintf("%d of %d", p.Stopped, p.StoppedOf)},
		}
		for _, figure := range figures {
			row = append(row, orphanTime(p, o.Pairs, figure))
		}
		t.Rows = append(t.Rows, append(row, Cell{Text: strings.ReplaceAll(string(p.Verdict), "_", " ")}))
	}
	return t
}

// orphanTime is a time of a pair on the scale of its column; a pair without
// orphans has none.
func orphanTime(p orphans.Pair, all []orphans.Pair, figure func(orphans.Pair) int64) Cell {
	if p.Orphaned == 0 {
		return Cell{Text: dash}
	}
	var values []int64
	for _, one := range all {
		values = append(values, figure(one))
	}
	return Cell{Text: scaleOf(values).nearest(figure(p))}
}

func inversionTable(o *orphans.Result) Table {
	t := Table{Title: "Inverted timeouts: the callee may take as long as its caller waits", Columns: []Column{
		{Head: "caller", Key: true, Name: true}, {Head: "waits", Right: true}, {Head: "callee", Key: true, Name: true},
		{Head: "is granted", Right: true}, {Head: "calls", Right: true},
	}}
	for _, i := range o.Inversions {
		t.Rows = append(t.Rows, []Cell{
			{Text: i.Parent.String()}, {Text: durations.Text(i.ParentWall)}, {Text: i.Child.String()},
			{Text: durations.Text(i.ChildWall)}, {Text: strconv.FormatUint(i.Seen, 10)},
		})
	}
	return t
}

func cutOrderTable(o *orphans.Result) Table {
	t := Table{
		Title: "Order of nested cuts",
		Columns: []Column{
			{Head: "outer call", Key: true, Name: true}, {Head: "inner call", Key: true, Name: true},
			{Head: "outer first", Right: true}, {Head: "together", Right: true}, {Head: "inner first", Right: true},
		},
		Caption: []string{"In a sound tree the inner call is cut first, so that its caller can still answer. Together: within 2 %."},
	}
	for _, c := range o.CutOrder {
		t.Rows = append(t.Rows, []Cell{
			{Text: c.Outer.String()}, {Text: c.Inner.String()}, {Text: strconv.FormatUint(c.OuterFirst, 10)},
			{Text: strconv.FormatUint(c.Together, 10)}, {Text: strconv.FormatUint(c.InnerFirst, 10)},
		})
	}
	return t
}

// barColumns is the width of a waterfall.
const barColumns = 32

// caseTable shows the worst cases, each as a small waterfall: the parent, the
// moment it left, and the child beyond. Where to find it stands in a note.
func caseTable(r *Report, notes *footnotes) Table {
	t := Table{
		Title: "Worst orphans",
		Columns: []Column{
			{Head: "span", Key: true, Name: true}, {Head: "time"}, {Head: "lasted", Right: true}, {Head: "ended"}, {Head: "ran on", Right: true},
		},
		Caption: []string{"█ running; │ the moment the parent gave up; ▒ running for nobody."},
	}
	for _, c := range r.Orphans.Items {
		parentBar, childBar := waterfall(c)
		child := Cell{Text: c.Child.Hop.String()}
		notes.mark(&child, whereabouts(r, c))
		t.Rows = append(t.Rows,
			[]Cell{{Text: c.Parent.Hop.String()}, {Text: parentBar}, {Text: durations.Text(c.Parent.Duration)}, {Text: ended(c.Parent)}, {}},
			[]Cell{child, {Text: childBar}, {Text: durations.Text(c.Child.Duration)}, {Text: ended(c.Child)}, {Text: durations.Text(c.Overrun)}})
	}
	return t
}

// whereabouts says how sure a case is and where to look it up.
func whereabouts(r *Report, c orphans.Case) string {
	text := fmt.Sprintf("trace %s span %s, %s: %s; ", c.Trace, c.Child.Span, c.Sure, c.Evidence)
	if url := r.traceURL(c.Trace); url != "" {
		return text + url
	}
	return text + fmt.Sprintf("%s:%d (byte %d)", r.path(c.File), c.Line, c.Offset)
}

func ended(e orphans.End) string {
	if e.Outcome == spans.Truncated {
		return "cut (" + e.CutBy.String() + ")"
	}
	return e.Outcome.String()
}

// waterfall draws parent and child on one line of time.
func waterfall(c orphans.Case) (parent, child string) {
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
