package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/retries"
)

// retryLines say among the first lines whether retries help, and what to know
// with it.
func retryLines(r *Report) []string {
	o := r.Retries
	if o == nil {
		return nil
	}
	lines := []string{"Retries: " + worthText(&o.All) + "."}
	for _, w := range o.Warnings {
		if !inTable[w.Code] {
			lines = append(lines, "Of retries: "+w.Text+".")
		}
	}
	return lines
}

// inTable are the warnings that a column of worthTable says, too.
var inTable = map[string]bool{"same_slowness": true, "at_the_wall": true, "executed_twice": true, "no_jitter": true}

// worthText is the verdict on all hops.
func worthText(h *retries.Hop) string {
	if h.Attempts == h.Calls {
		return "none"
	}
	of := fmt.Sprintf("%d of %d calls that were cut first and retried completed", h.Rescue.N, h.Rescue.Of)
	switch h.Rescue.Verdict {
	case retries.FreshDraw:
		return "a fresh draw: " + of
	case retries.SameSlowness:
		return "the same slowness again: " + of
	}
	return "not enough to tell whether they help: " + of
}

// retryTables are the tables on retries: what they are worth and, in full, after
// failures, where failing calls end, the layers, and what was executed twice.
func retryTables(r *Report, notes *footnotes) []Table {
	o := r.Retries
	switch {
	case o == nil:
		return nil
	case r.InFull:
		return []Table{worthTable(o, notes), failureTable(o), wallHistogram(o), layerTable(o), twiceTable(r, notes)}
	case o.All.Attempts == o.All.Calls:
		return nil
	}
	return []Table{worthTable(o, notes)}
}

// retriedHops are the hops of which there is something to say.
func retriedHops(o *retries.Result) []*retries.Hop {
	var list []*retries.Hop
	for i := range o.Hops {
		if h := &o.Hops[i]; h.Attempts > h.Calls || h.FirstCut > 0 || len(h.AfterFailure) > 0 {
			list = append(list, h)
		}
	}
	return list
}

func worthTable(o *retries.Result, notes *footnotes) Table {
	t := Table{Title: "What retries are worth", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "calls", Right: true}, {Head: "attempts", Right: true}, {Head: "first cut", Right: true},
		{Head: "rescued", Right: true}, {Head: "share", Right: true}, {Head: "limits", Right: true}, {Head: "verdict"}, {Head: "wall"},
		{Head: "executed twice", Right: true}, {Head: "backoff", Right: true}, {Head: "jitter"},
	}}
	hops := retriedHops(o)
	for _, h := range hops {
		t.Rows = append(t.Rows, worthRow(hopText(h.Hop), h, notes))
	}
	if len(hops) > 1 {
		t.Rows = append(t.Rows, worthRow("(all)", &o.All, notes))
	}
	t.Caption = worthCaption(o)
	return t
}

func worthRow(name string, h *retries.Hop, notes *footnotes) []Cell {
	cells := []Cell{
		{Text: name}, {Text: natural(h.Calls)}, {Text: natural(h.Attempts)}, {Text: natural(h.FirstCut)},
		{Text: dash}, {Text: dash}, {Text: dash}, {Text: words(string(h.Rescue.Verdict))}, {Text: words(string(h.Wall.Verdict))},
		{Text: dash}, {Text: dash}, {Text: string(h.Backoff.Jitter)},
	}
	if c := h.Rescue; c.Of > 0 {
		cells[4].Text = ofText(c.Count)
		if !c.Biased {
			cells[5].Text, cells[6].Text = shareOf(c.Share()), limits(c.Lower, c.Upper)
		}
	}
	if t := h.ExecutedTwice; t != nil {
		cells[9].Text = ofText(t.Count)
	}
	if f := h.FinishedAnyway; f != nil {
		notes.mark(&cells[3], finishedText(f))
	}
	notes.mark(&cells[8], wallNote(h))
	if b := h.Backoff; b.N > 0 {
		cells[10].Text = scaleOf([]int64{*b.P50}).nearest(*b.P50)
		notes.mark(&cells[10], backoffText(&b))
	}
	return cells
}

func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

func ofText(c retries.Count) string { return fmt.Sprintf("%d of %d", c.N, c.Of) }

func backoffText(b *retries.Backoff) string {
	text := fmt.Sprintf("%s between attempts, from %s to %s", count(int64(b.N), "gap"), durations.Text(*b.Min), durations.Text(*b.Max))
	if b.Growth != nil {
		text += fmt.Sprintf("; the second gap is %s times the first, %s", strconv.FormatFloat(*b.Growth, 'f', 2, 64), durations.Text(*b.Base))
	}
	return text
}

func wallNote(h *retries.Hop) string {
	var parts []string
	if w := h.Wall; w.Of > 0 {
		text := fmt.Sprintf("%s failing calls lasted as many timeouts as they had attempts", ofText(w.Count))
		if w.Timeout != nil {
			text += ", of " + durations.Text(*w.Timeout)
		}
		parts = append(parts, text)
	}
	if share := h.NearTimeout.Share(); share != nil {
		parts = append(parts, fmt.Sprintf("%s of the completed attempts used more than %s of the timeout", ratio.Percent(*share), ratio.Percent(retries.NearTimeout)))
	}
	return strings.Join(parts, clauseEnd)
}

func finishedText(f *retries.Finished) string {
	text := fmt.Sprintf("of the cut first attempts whose server is there %s ended well on it all the same", ofText(f.Count))
	switch {
	case f.MedianAfter == nil:
	case *f.MedianAfter == 0:
		text += ", half of them or more before the cut: the answer was lost on its way"
	default:
		text += fmt.Sprintf(", in the median %s after the cut: a longer wait would have done", durations.Text(*f.MedianAfter))
	}
	return text
}

func worthCaption(o *retries.Result) []string {
	lines := []string{
		"rescued: of the calls whose first attempt was cut and that were retried, those that a retry completed; limits: one-sided, " + ratio.Number(o.Confidence.Float()) + " % each.",
	}
	if o.All.Completion != nil {
		lines = append(lines, fmt.Sprintf("A retry is a fresh draw where it surely completes more than half as often as first attempts do (%s of all), the same slowness where surely less.", ratio.Percent(*o.All.Completion)))
	}
	a := o.Amplification
	text := fmt.Sprintf("Amplification: up to %s for one request are possible", count(int64(min(a.Possible, 1<<62)), "attempt"))
	if a.ObservedMax != nil {
		text += fmt.Sprintf(", %d were seen", *a.ObservedMax)
	}
	lines = append(lines, text+".")
	if mean := o.Ratio.All.Share(); mean != nil {
		text := "Retries over first attempts: " + ratio.Percent(*mean)
		if worst := o.Ratio.Worst.Share(); worst != nil {
			text += fmt.Sprintf(" in the mean, %s in the worst minute, from %s", ratio.Percent(*worst), o.Ratio.Start())
		}
		lines = append(lines, text+".")
	}
	return lines
}

// failureTable has a row for each hop and kind of failure.
func failureTable(o *retries.Result) Table {
	t := Table{Title: "Retries after failures", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "failure", Key: true}, {Head: "first attempts", Right: true}, {Head: "rescued", Right: true},
		{Head: "limits", Right: true}, {Head: "verdict"},
	}}
	for i := range o.Hops {
		h := &o.Hops[i]
		for _, f := range h.AfterFailure {
			row := []Cell{{Text: hopText(h.Hop)}, {Text: f.Kind.String()}, {Text: natural(f.First)}, {Text: dash}, {Text: dash}, {Text: words(string(f.Verdict))}}
			if f.Of > 0 {
				row[3].Text = ofText(f.Count)
				if !f.Biased {
					row[4].Text = limits(f.Lower, f.Upper)
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// wallHistogram has a row for each bin in which failing calls ended, with the
// multiples of the wall that lie in it.
func wallHistogram(o *retries.Result) Table {
	t := Table{Title: "How long failing calls lasted", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "from", Right: true}, {Head: "calls", Right: true}, {Head: "of the wall"},
	}, Caption: []string{"All attempts of a call together, from the first start to the last end. Empty rows are left out."}}
	for i := range o.Hops {
		h := &o.Hops[i]
		for _, b := range h.Wall.Histogram {
			t.Rows = append(t.Rows, []Cell{
				{Text: hopText(h.Hop)}, {Text: scaleOf([]int64{h.Wall.Width, b.From}).nearest(b.From)}, {Text: natural(b.N)}, {Text: multipleIn(b.From, h.Wall.Width, h.Wall.Timeout)},
			})
		}
	}
	return t
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

func layerTable(o *retries.Result) Table {
	t := Table{Title: "Layers that retry", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "retries", Right: true}, {Head: "most attempts", Right: true},
	}}
	for _, l := range o.Amplification.Layers {
		t.Rows = append(t.Rows, []Cell{{Text: hopText(l.Hop)}, {Text: natural(l.Retries)}, {Text: natural(l.MostAttempts)}})
	}
	return t
}

// twiceTable lists calls that a server ran to a good end more than once.
func twiceTable(r *Report, notes *footnotes) Table {
	t := Table{Title: "Executed more than once", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "severity"}, {Head: "executions", Right: true}, {Head: "trace", Name: true},
	}, Caption: []string{"error: the operation looks like a write (POST, PATCH, create…, --write-hop)."}}
	for _, c := range r.Retries.ExecutedTwice {
		trace := Cell{Text: c.Trace}
		notes.mark(&trace, r.traceURL(c.Trace))
		t.Rows = append(t.Rows, []Cell{{Text: hopText(c.Hop)}, {Text: c.Severity()}, {Text: strconv.Itoa(c.Executions)}, trace})
	}
	return t
}
