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
func orphanTables(r *Report) []Table {
	o := r.Orphans
	if o == nil || !o.Checkable {
		return nil
	}
	tables := []Table{orphanCounts(o), pairTable(o), inversionTable(o)}
	if r.InFull {
		tables = append(tables, cutOrderTable(o), caseTable(r))
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

func orphanCounts(o *orphans.Result) Table {
	t := Table{
		Title:   "Orphans: work that goes on after its caller gave up",
		Columns: []Column{{Head: "spans", Key: true}, {Head: "n", Right: true}, {Head: "what they are"}},
		Caption: []string{
			fmt.Sprintf("Wasted: %s, the sum over orphans of the time each ran after its parent's end; %s as the union of all that ran in orphaned subtrees. It is slot time, not CPU time.",
				durations.Text(o.Wasted), durations.Text(o.WastedUnion)),
			"An orphan is not a span whose parent is absent: that is a missing parent.",
		},
	}
	add := func(name string, n uint64, what string) {
		t.Rows = append(t.Rows, []Cell{{Text: name}, {Text: strconv.FormatUint(n, 10)}, {Text: what}})
	}
	add("orphaned", o.Orphaned, fmt.Sprintf("%d were running when the parent gave up, %d began after it", o.Overruns, o.LateStarts))
	add("with a parent", o.SpansWithParent, "of which the ends could be compared but for the unfinished ones")
	for _, row := range [...]struct {
		name string
		n    uint64
		what string
	}{
		{"started after the root's end", o.StartedAfterRootEnd, "work that began when the whole request was over, whatever its parent"},
		{"outlived, completed parent", o.OutlivedCompleted, "the parent had its answer: a hedge's loser, an optional branch"},
		{"outlived, asynchronous", o.OutlivedAsync, "the parent does not wait for them"},
		{"within tolerance", o.WithinTolerance, "up to " + durations.Text(o.Tolerance) + " after the parent's end"},
		{"missing parents", o.MissingParents, "the parent named is not in the trace"},
		{"unfinished", o.Unfinished, "without an end"},
	} {
		if row.n > 0 {
			add(row.name, row.n, row.what)
		}
	}
	return t
}

// pairTable has a row for each caller and callee.
func pairTable(o *orphans.Result) Table {
	t := Table{Title: "Who calls whom in vain", Columns: []Column{
		{Head: "call", Key: true, Name: true}, {Head: "callee", Key: true, Name: true}, {Head: "orphaned", Right: true},
		{Head: "cut calls", Right: true}, {Head: "callee seen", Right: true}, {Head: "wasted", Right: true},
		{Head: "overrun mean", Right: true}, {Head: "overrun max", Right: true}, {Head: "stopped in 50 ms", Right: true}, {Head: "why"},
	}}
	var wasted, means, maxima []int64
	for _, p := range o.Pairs {
		wasted, means, maxima = append(wasted, p.Wasted), append(means, p.Overrun.Mean), append(maxima, p.Overrun.Max)
	}
	for _, p := range o.Pairs {
		t.Rows = append(t.Rows, []Cell{
			{Text: hopText(p.Parent)}, {Text: hopText(p.Child)}, {Text: strconv.FormatUint(p.Orphaned, 10)},
			{Text: strconv.FormatUint(p.CutCalls, 10)}, {Text: strconv.FormatUint(p.CutCallsWithChild, 10)},
			{Text: scaleOf(wasted).nearest(p.Wasted)}, {Text: scaleOf(means).nearest(p.Overrun.Mean)}, {Text: scaleOf(maxima).nearest(p.Overrun.Max)},
			{Text: fmt.Sprintf("%d of %d", p.Stopped, p.StoppedOf)}, {Text: why(p)},
		})
	}
	return t
}

// hopText is a hop with its kind.
func hopText(h spans.Hop) string {
	if h.Kind == spans.NoKind {
		return h.Name
	}
	return h.Name + " (" + h.Kind.String() + ")"
}

// why says what makes callees outlast their calls.
func why(p orphans.Pair) string {
	lag, work := durations.Text(p.StartLag.Mean), durations.Text(p.Work.Mean)
	switch p.Verdict {
	case orphans.Queue:
		return "queue: they start " + lag + " late and work " + work
	case orphans.Slow:
		return "slow: they work " + work
	case orphans.Mixed:
		return "both: they start " + lag + " late and work " + work
	}
	return "too few to say"
}

func inversionTable(o *orphans.Result) Table {
	t := Table{Title: "Inverted timeouts: the callee may take as long as its caller waits", Columns: []Column{
		{Head: "caller", Key: true, Name: true}, {Head: "waits", Right: true}, {Head: "callee", Key: true, Name: true},
		{Head: "is granted", Right: true}, {Head: "calls", Right: true},
	}}
	for _, i := range o.Inversions {
		t.Rows = append(t.Rows, []Cell{
			{Text: hopText(i.Parent)}, {Text: durations.Text(i.ParentWall)}, {Text: hopText(i.Child)},
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
			{Text: hopText(c.Outer)}, {Text: hopText(c.Inner)}, {Text: strconv.FormatUint(c.OuterFirst, 10)},
			{Text: strconv.FormatUint(c.Together, 10)}, {Text: strconv.FormatUint(c.InnerFirst, 10)},
		})
	}
	return t
}

// barColumns is the width of a waterfall.
const barColumns = 32

// caseTable shows the worst cases, each as a small waterfall: the parent, the
// moment it left, and the child beyond.
func caseTable(r *Report) Table {
	t := Table{
		Title: "Worst orphans",
		Columns: []Column{
			{Head: "trace", Key: true}, {Head: "span", Key: true, Name: true}, {Head: "time"}, {Head: "lasted", Right: true},
			{Head: "ended"}, {Head: "ran on", Right: true}, {Head: "sure"}, {Head: "where"},
		},
		Caption: []string{"█ running; │ the moment the parent gave up; ▒ running for nobody."},
	}
	for _, c := range r.Orphans.Items {
		parentBar, childBar := waterfall(c)
		where := r.traceURL(c.Trace)
		if where == "" {
			where = fmt.Sprintf("%s:%d (byte %d)", r.path(c.File), c.Line, c.Offset)
		}
		t.Rows = append(t.Rows,
			[]Cell{{Text: c.Trace}, {Text: hopText(c.Parent.Hop)}, {Text: parentBar}, {Text: durations.Text(c.Parent.Duration)}, {Text: ended(c.Parent)}, {}, {}, {}},
			[]Cell{{Text: c.Trace, Ditto: true}, {Text: hopText(c.Child.Hop)}, {Text: childBar}, {Text: durations.Text(c.Child.Duration)}, {Text: ended(c.Child)},
				{Text: durations.Text(c.Overrun)}, {Text: string(c.Sure) + ": " + c.Evidence}, {Text: where}})
	}
	return t
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
