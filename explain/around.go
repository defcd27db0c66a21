package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/timeouts"
)

var rescueText = map[retries.Verdict]string{
	retries.FreshDraw:    "retries help: they complete nearly as often as first attempts",
	retries.SameSlowness: "retries do not help: they meet what the first attempt met",
	retries.TooFew:       "too few to say whether retries help",
}

// retried is what retries are worth.
func (r *Result) retried() report.Table {
	h := r.Retries
	const title = "Retries"
	if h == nil {
		return report.Table{}
	}
	lines := []string{fmt.Sprintf("%s made %s; the most attempts of one call: %d.", note.Count(h.Calls, "call"), note.Count(h.Attempts, "attempt"), max(1, h.MostAttempts))}
	if c := h.Rescue; h.FirstCut > 0 {
		text := fmt.Sprintf("%s timed out at first; none of them was retried", note.Count(h.FirstCut, "call"))
		if c.Of > 0 {
			text = fmt.Sprintf("%s timed out at first; %d of them were retried, and %d completed", note.Count(h.FirstCut, "call"), c.Of, c.N)
		}
		if c.Of > 0 && !c.Biased {
			text += fmt.Sprintf(" (one-sided limits %s and %s): %s", atLeastPercent(c.Lower), atMostPercent(c.Upper), rescueText[c.Verdict])
		}
		lines = append(lines, text+".")
	}
	for _, f := range h.AfterFailure {
		lines = append(lines, fmt.Sprintf("%d failed at first (%s); %d of them were retried, and %d completed.", f.First, strings.ReplaceAll(f.Kind.String(), "_", " "), f.Of, f.N))
	}
	if t := h.ExecutedTwice; t != nil && t.Of > 0 {
		lines = append(lines, fmt.Sprintf("Its server ran %d of %s to a good end more than once, %d of them writes.", t.N, note.Count(t.Of, "retried call"), t.Writes))
	}
	if f := h.FinishedAnyway; f != nil && f.Of > 0 {
		text := fmt.Sprintf("Of %s that timed out its server brought %d to a good end all the same", note.Count(f.Of, "first attempt"), f.N)
		if f.MedianAfter != nil {
			text += fmt.Sprintf(", %s later in the median", about(*f.MedianAfter))
		}
		lines = append(lines, text+".")
	}
	if n := h.NearTimeout; n.Of > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s more than %s of their timeout.", n.N, note.Count(n.Of, "completed attempt used", "completed attempts used"), percent(retries.NearTimeout)))
	}
	return sentences(title, append(lines, backoffText(h)...)...)
}

// backoffText says how long a call waits before a retry, and what of that is wrong.
func backoffText(h *retries.Hop) (lines []string) {
	if b := h.Backoff; b.N > 0 && b.P50 != nil {
		text := fmt.Sprintf("Before a retry it waits %s to %s, %s in the median", about(*b.Min), about(*b.Max), about(*b.P50))
		if b.Jitter == retries.NoJitter {
			text += ", without jitter"
		}
		lines = append(lines, text+".")
	}
	if c := h.TooLate; c != nil && c.N > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s too late: less than a whole attempt was left of what the caller waits.", c.N, note.Count(c.Of, "retry began", "retries began")))
	}
	if h.Permanent > 0 {
		lines = append(lines, fmt.Sprintf("%s an error that no retry mends.", note.Count(h.Permanent, "retry followed", "retries followed")))
	}
	if h.Unmatched > 0 {
		lines = append(lines, fmt.Sprintf("Of %s it is not known what was retried.", note.Count(h.Unmatched, "retry", "retries")))
	}
	return lines
}

// neighborRow is a caller or a callee.
type neighborRow struct {
	Neighbor
	is string
}

func (r *Result) neighbors() report.Table {
	var rows []neighborRow
	for _, n := range r.Callers {
		rows = append(rows, neighborRow{n, "called by"})
	}
	for _, n := range r.Callees {
		is := "calls"
		if r.isServer(n.Hop) {
			is = "served by"
		}
		rows = append(rows, neighborRow{n, is})
	}
	return report.NewTable("Callers and callees", rows, []report.Column[neighborRow]{
		{Head: "is", Is: report.Key | report.Words, Of: func(n *neighborRow) value { return report.String(n.is) }},
		{Head: "hop", Is: report.Key | report.Name, Of: func(n *neighborRow) value { return report.String(n.Hop.String()) }},
		{Head: "n", Of: func(n *neighborRow) value { return report.Count(n.N) }},
		{Head: "waited for", Of: func(n *neighborRow) value { return report.Count(n.Awaited) }},
	}, "n: spans, or attempts of a hop log, that lie right under the caller.")
}

var whyText = map[orphans.Verdict]string{
	orphans.Queue: "they wait for longer than they work: a queue or a pool", orphans.Slow: "the work itself is long", orphans.Mixed: "both wait and work", orphans.TooFew: "too few to say why",
}

// orphaned is work that went on after its caller had given up.
func (r *Result) orphaned() report.Table {
	o := &r.Orphans
	const title = "Orphaned work"
	if !o.Checkable {
		return sentences(title, "Not checkable: "+string(o.Reason)+".")
	}
	var lines []string
	for i := range o.Pairs {
		lines = append(lines, pairText(&o.Pairs[i]))
	}
	if o.Wasted != nil {
		text := fmt.Sprintf("For callers that had left, it and what serves it worked %s in all", about(*o.Wasted))
		if *o.Doubtful > 0 {
			text += fmt.Sprintf(", and %s more if the clocks are right", about(*o.Doubtful))
		}
		lines = append(lines, text+".")
	}
	for _, n := range o.NotAwaited {
		lines = append(lines, fmt.Sprintf("Nobody waits for %s under %s: %d of %d outlast it.", n.Child.String(), n.Parent.String(), n.Outlived, n.Of))
	}
	for _, i := range o.Inversions {
		lines = append(lines, fmt.Sprintf("%s has a timeout of %s, but %s under it %s: it was given as much as its caller had left, or more, %s.",
			i.Parent.String(), about(i.ParentWall), i.Child.String(), about(i.ChildWall), note.Count(i.Seen, "time")))
	}
	for _, c := range o.CutOrder {
		lines = append(lines, fmt.Sprintf("Of %s and %s under it, where both timed out, the outer left first %s, both together %s, the inner first %s.",
			c.Outer.String(), c.Inner.String(), note.Count(c.OuterFirst, "time"), note.Count(c.Together, "time"), note.Count(c.InnerFirst, "time")))
	}
	if lines == nil {
		lines = []string{"None: nothing ran on after a caller of it, or it itself, had given up."}
	}
	return sentences(title, lines...)
}

func pairText(p *orphans.Pair) string {
	text := fmt.Sprintf("%s → %s: %d of %s ran on", p.Parent.String(), p.Child.String(), p.Orphaned, note.Count(p.CutCallsWithChild, "callee of calls that timed out", "callees of calls that timed out"))
	if p.Orphaned > 0 {
		text += fmt.Sprintf(", for nobody %s added up; on average they began %s after the call and worked %s: %s", about(p.Wasted), about(p.StartLag.Mean), about(p.Work.Mean), whyText[p.Verdict])
	}
	if p.Doubtful > 0 {
		text += fmt.Sprintf("; %d more if the clocks are right", p.Doubtful)
	}
	if c := p.Cancellation; c.Stopped+c.RanOn > 0 {
		text += fmt.Sprintf("; %d of %d that were still at work stopped when the caller left", c.Stopped, c.Stopped+c.RanOn)
	}
	return text + "."
}

// slow is what the hop, and what serves it, have to do with slow requests, and which
// traces show it.
func (r *Result) slow(v *report.View) report.Table {
	all := r.Requests
	if len(r.Owner) == 0 || all == nil || all.EndToEnd.N == 0 {
		return report.Table{}
	}
	share := func(of func(*attribution.Hop) *float64, write func(float64) string) func(*attribution.Hop) value {
		return func(h *attribution.Hop) value {
			return report.Maybe(of(h), func(f float64) value { return report.String(write(f)) })
		}
	}
	var times []int64
	for i := range r.Owner {
		times = append(times, r.Owner[i].TailMean, r.Owner[i].BodyMean)
	}
	scale := scaleOf(times...)
	return report.NewTable(scale.title("Slow requests"), r.Owner, []report.Column[attribution.Hop]{
		{Head: "time of", Is: report.Key | report.Name, Of: func(h *attribution.Hop) value { return report.String(h.Hop.String()) }},
		{Head: "in slow ones", Of: func(h *attribution.Hop) value { return scale.mean(h) }},
		{Head: "in typical ones", Of: func(h *attribution.Hop) value { return scale.about(h.BodyMean) }},
		{Head: "share of the extra time", Of: share(func(h *attribution.Hop) *float64 { return h.Share }, percent)},
		{Head: "from", Of: share(func(h *attribution.Hop) *float64 { return h.Lower }, atLeastPercent)},
		{Head: "to", Of: share(func(h *attribution.Hop) *float64 { return h.Upper }, atMostPercent)},
		{Head: "largest in", Of: func(h *attribution.Hop) value { return report.OutOf(h.LargestIn, all.Tail.Traces) }},
		{Head: "failures at it", Of: func(h *attribution.Hop) value { return report.OutOf(h.Failures, all.Failures.N) }},
	}, r.slowSentences(v)...)
}

// mean is that of the slow requests; where timeouts ended some of it, it is that or more.
func (s scaled) mean(h *attribution.Hop) value {
	if h.LowerBound {
		return report.String("≥ " + s.Text(h.TailMean, brief.Down))
	}
	return s.about(h.TailMean)
}

func (r *Result) slowSentences(v *report.View) []string {
	all := r.Requests
	lines := []string{fmt.Sprintf("Slow: %s of %d, %s of the time from end to end and above, and those that fail. Typical: the %d of the faster half. Each has the mean of what is its own on the critical path; from, to: %s interval.",
		note.Count(all.Tail.Traces, "request"), all.EndToEnd.N, all.TailFrom.Label(), all.Body.Traces, all.Interval.Percent())}
	switch {
	case all.Owner == nil:
		lines = append(lines, "No owner is named: no hop surely has more than half of the extra time of slow requests, or there is none to compare it with.")
	case slices.ContainsFunc(r.Owner, func(h attribution.Hop) bool { return h.Hop == *all.Owner }):
		lines = append(lines, fmt.Sprintf("%s owns the tail: surely more than half of the extra time of slow requests is its own.", all.Owner.String()))
	default:
		lines = append(lines, fmt.Sprintf("The tail is owned by %s.", all.Owner.String()))
	}
	for i := range r.Owner {
		for _, id := range r.Owner[i].Exemplars {
			lines = append(lines, fmt.Sprintf("Shows it: tailscope trace %s%s", report.Word(id), v.Arguments()))
		}
	}
	return lines
}

// warned lists the rules that fired.
func (r *Result) warned() report.Table {
	type rule struct{ of, code, text string }
	var rules []rule
	add := func(of string, list []note.Warning) {
		for _, w := range list {
			rules = append(rules, rule{of, w.Code, w.Text})
		}
	}
	add("latency", r.Tail.Warnings)
	if r.Advice != nil {
		add("timeouts", r.Advice.Warnings)
	}
	var lines []string
	for _, w := range rules {
		lines = append(lines, fmt.Sprintf("%s (%s): %s.", w.code, w.of, w.text))
	}
	if r.Advice != nil && r.Advice.Evidence == timeouts.None && r.Advice.Reason != "" {
		lines = append(lines, fmt.Sprintf("%s (timeouts): %s.", r.Advice.Evidence, r.Advice.Reason))
	}
	return sentences("Rules that fired", lines...)
}
