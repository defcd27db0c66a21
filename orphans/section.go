package orphans

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// Section says how spans relate to the end of their parents, with the pairs of
// hops, inverted timeouts and, in full, the order of cuts and the worst cases. Or
// it says why there is nothing to say. CSV has a row a case, worst first.
func (r *Result) Section(v *report.View) report.Section {
	r = r.located(v).shown(v)
	s := report.Section{Key: "orphans", JSON: func() any { return r }, Data: report.NewTable("", r.Items, caseColumns)}
	if !r.Checkable {
		s.Lines = []string{"Orphans: not checkable (" + r.Reason + ")."}
		return s
	}
	s.Tables = []report.Table{countTable(r, v.Sampling == "biased"), pairTable(r), inversionTable(r)}
	if v.InFull {
		s.Tables = append(s.Tables, notAwaitedTable(r), cutOrderTable(r), caseTable(r))
	}
	return s
}

// shown is the result with the hops to show, on either side.
func (r *Result) shown(v *report.View) *Result {
	s := *r
	s.WastedBy = report.Shown(v, r.WastedBy, func(h *HopTime) []string { return []string{h.Name} })
	s.Pairs = report.Shown(v, r.Pairs, func(p *Pair) []string { return []string{p.Parent.Name, p.Child.Name} })
	s.Inversions = report.Shown(v, r.Inversions, func(i *Inversion) []string { return []string{i.Parent.Name, i.Child.Name} })
	s.CutOrder = report.Shown(v, r.CutOrder, func(c *CutOrder) []string { return []string{c.Outer.Name, c.Inner.Name} })
	s.Items = report.Shown(v, r.Items, func(c *Case) []string { return []string{c.Parent.Name, c.Child.Name} })
	return &s
}

// located is the result with the files of the cases and the addresses of their
// traces, which only the page knows.
func (r *Result) located(v *report.View) *Result {
	found := *r
	found.Items = slices.Clone(r.Items)
	for i := range found.Items {
		c := &found.Items[i]
		c.URL, c.Path = jsontype.Text(v.TraceAddress(c.Trace)), v.Path(c.File)
	}
	return &found
}

type value = report.Value

// named is a column that says which hop a row is about.
func named[R any](head string, of func(*R) spans.Hop) report.Column[R] {
	return report.Column[R]{Head: head, Is: report.Key | report.Name, Of: func(r *R) value { return report.String(of(r).String()) }}
}

// relation is a way in which spans end beside their parents.
type relation struct {
	name string
	n    uint64
	what string
}

func countTable(r *Result, biased bool) report.Table {
	all := []relation{
		{"with a parent", r.SpansWithParent, "their ends are compared, where both have one."},
		{"orphaned", r.Orphaned, fmt.Sprintf("%s running when the parent gave up, %d began after it. An orphan is not a span whose parent is absent: that is a missing parent.", note.Count(r.Overruns, "was", "were"), r.LateStarts)},
		{"doubtful", r.Doubtful, fmt.Sprintf("%d orphaned, %d more if the clocks are right: they ran on by no more than the clocks of the two services may be apart.", r.Orphaned, r.Doubtful)},
		{"after the root's end", r.StartedAfterRootEnd, "work that began when the whole request was over, whatever its parent."},
		{"outlived, completed", r.OutlivedCompleted, "the parent had its answer: a hedge's loser, an optional branch."},
		{"outlived, not awaited", r.OutlivedNotAwaited, "the parent gave up, but nobody waits for such children: they outlive completed parents as a rule."},
		{"outlived, failed", r.OutlivedFailed, "the parent failed, and nothing says that it gave up."},
		{"outlived, asynchronous", r.OutlivedAsync, "the parent does not wait for them."},
		{"within tolerance", r.WithinTolerance, "up to " + durations.Text(r.Tolerance) + " after the parent's end."},
		{"missing parents", r.MissingParents, "the parent they name is not in the trace."},
		{"unfinished", r.Unfinished, "children without an end."},
	}
	rows, caption := []relation(nil), []string(nil)
	for i, one := range all {
		if i < 2 || one.n > 0 {
			rows, caption = append(rows, one), append(caption, one.name+": "+one.what)
		}
	}
	if biased {
		caption = append(caption, "All figures on orphans and inversions are of the traces that were kept, which were chosen by how they went: they say nothing of how common this is.")
	}
	caption = append(caption, wastedText(r))
	return report.NewTable("Orphans: work that goes on after its caller gave up", rows, []report.Column[relation]{
		{Head: "spans", Is: report.Key | report.Words, Of: func(one *relation) value { return report.String(one.name) }},
		{Head: "n", Of: func(one *relation) value { return report.Count(one.n) }},
	}, caption...)
}

func wastedText(r *Result) string {
	text := fmt.Sprintf("Wasted: %s, the sum over orphans of the time each ran after its parent's end; %s as the union of all that ran in orphaned subtrees. It is slot time, not CPU time.",
		durations.Text(r.Wasted), durations.Text(r.WastedUnion))
	if r.Doubtful == 0 {
		return text
	}
	return text + fmt.Sprintf(" The doubtful ones add %s, and %s to the union.", durations.Text(r.WastedDoubtful), durations.Text(r.WastedUnionDoubtful))
}

// notAwaitedTable lists the pairs in which nobody waits.
func notAwaitedTable(r *Result) report.Table {
	return report.NewTable("Nobody waits for these: they outlive completed parents as a rule", r.NotAwaited, []report.Column[NotAwaited]{
		named("parent", func(p *NotAwaited) spans.Hop { return p.Parent }),
		named("child", func(p *NotAwaited) spans.Hop { return p.Child }),
		{Head: "outlived", Of: func(p *NotAwaited) value { return report.OutOf(p.Outlived, p.Of) }},
		{Head: "limits", Is: report.Words, Of: func(p *NotAwaited) value { return report.String(report.Limits(p.Lower, p.Upper)) }},
		{Head: "under parents that gave up", Of: func(p *NotAwaited) value { return report.Count(p.Spared) }},
	}, "No orphans, whatever became of their parents: more than half of them outlive parents that completed.")
}

// pairTable has a row for each caller and callee. A pair without orphans has no
// times.
func pairTable(r *Result) report.Table {
	time := func(head string, of func(*Pair) int64) report.Column[Pair] {
		return report.Column[Pair]{Head: head, Is: report.OneUnit, Of: func(p *Pair) value {
			if p.Orphaned == 0 {
				return value{}
			}
			return report.Nanos(of(p))
		}}
	}
	columns := []report.Column[Pair]{
		named("call", func(p *Pair) spans.Hop { return p.Parent }),
		named("callee", func(p *Pair) spans.Hop { return p.Child }),
		{Head: "orphaned", Of: func(p *Pair) value { return report.Count(p.Orphaned) }},
		{Head: "timed out", Of: func(p *Pair) value { return report.Count(p.CutCalls) }},
		{Head: "callee seen", Of: func(p *Pair) value { return report.Count(p.CutCallsWithChild) }},
		{Head: "stopped", Of: func(p *Pair) value { return report.OutOf(p.Stopped, p.StoppedOf) }},
		{Head: "honours cancellation", Is: report.Words, Of: honours},
		time("wasted", func(p *Pair) int64 { return p.Wasted }),
		time("ran on, mean", func(p *Pair) int64 { return p.Overrun.Mean }),
		time("ran on, max", func(p *Pair) int64 { return p.Overrun.Max }),
		time("started late", func(p *Pair) int64 { return p.StartLag.Mean }),
		time("worked", func(p *Pair) int64 { return p.Work.Mean }),
		{Head: "why", Is: report.Words, Of: func(p *Pair) value { return report.Code(p.Verdict) }},
	}
	if r.Doubtful > 0 {
		columns = slices.Insert(columns, 3,
			report.Column[Pair]{Head: "doubtful", Of: func(p *Pair) value { return report.Count(p.Doubtful) }},
			report.Column[Pair]{Head: "wasted by those", Is: report.OneUnit, Of: func(p *Pair) value {
				if p.Doubtful == 0 {
					return value{}
				}
				return report.Nanos(p.WastedDoubtful)
			}})
	}
	return report.NewTable("Work for callers that had left", r.Pairs, columns,
		"callee seen: calls that timed out with such a callee in the trace. stopped: callees of first calls that ended with an error or a cancellation within 50 ms of the end of their call, or surely before their usual work was done.",
		"honours cancellation: whether most of those that were still at work stop, with the limits of their share. One that completed within 50 ms of it says nothing: it may have been about to.",
		"started late, worked: means over the orphans. queue, slow: what all calls show, see calls; where those do not tell, they waited longer than they worked, or less than a tenth of it.")
}

// honours says whether callees stop, and in what share of those that tell.
func honours(p *Pair) value {
	c := &p.Cancellation
	switch {
	case p.StoppedOf == 0:
		return value{}
	case c.Stopped+c.RanOn == 0:
		return report.String(string(c.Honours))
	}
	return report.String(fmt.Sprintf("%s (%s)", c.Honours, report.Limits(c.Lower, c.Upper)))
}

func inversionTable(r *Result) report.Table {
	return report.NewTable("Inverted timeouts: the callee may take as long as its caller waits", r.Inversions, []report.Column[Inversion]{
		named("caller", func(i *Inversion) spans.Hop { return i.Parent }),
		{Head: "waits", Of: func(i *Inversion) value { return report.Nanos(i.ParentWall) }},
		named("callee", func(i *Inversion) spans.Hop { return i.Child }),
		{Head: "may take", Of: func(i *Inversion) value { return report.Nanos(i.ChildWall) }},
		{Head: "calls", Of: func(i *Inversion) value { return report.Count(i.Seen) }},
	})
}

func cutOrderTable(r *Result) report.Table {
	return report.NewTable("Order of nested timeouts", r.CutOrder, []report.Column[CutOrder]{
		named("outer call", func(c *CutOrder) spans.Hop { return c.Outer }),
		named("inner call", func(c *CutOrder) spans.Hop { return c.Inner }),
		{Head: "outer first", Of: func(c *CutOrder) value { return report.Count(c.OuterFirst) }},
		{Head: "together", Of: func(c *CutOrder) value { return report.Count(c.Together) }},
		{Head: "inner first", Of: func(c *CutOrder) value { return report.Count(c.InnerFirst) }},
		{Head: "doubtful", Of: func(c *CutOrder) value { return report.Count(c.Doubtful) }},
	}, "In a sound tree the inner call times out first, so that its caller can still answer. Together: within 2 %. Doubtful: how many of these two clocks decided that may be so far apart.")
}
