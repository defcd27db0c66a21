package retries

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/report"
)

// Section says what retries are worth and, in full, what they are after
// failures, where failing calls end, the layers, and what was executed twice. CSV
// has a row a hop.
func (r *Result) Section(v *report.View) report.Section {
	lines := r.lines()
	r = r.shown(v)
	s := report.Section{Key: "retries", JSON: func() any { return r }, Lines: lines, Data: report.NewTable("", r.Hops, columns)}
	switch {
	case v.InFull:
		s.Tables = []report.Table{worthTable(r), failureTable(r), wallHistogram(r), layerTable(r), twiceTable(r, v)}
	case r.All.Attempts > r.All.Calls:
		s.Tables = []report.Table{worthTable(r)}
	}
	return s
}

// shown is the result with the hops to show.
func (r *Result) shown(v *report.View) *Result {
	s := *r
	s.Hops = report.Shown(v, r.Hops, func(h *Hop) []string { return []string{h.Name} })
	s.Amplification.Layers = report.Shown(v, r.Amplification.Layers, func(l *Layer) []string { return []string{l.Name} })
	s.ExecutedTwice = report.Shown(v, r.ExecutedTwice, func(c *Case) []string { return []string{c.Name} })
	return &s
}

// lines say among the first lines whether retries help, and what to know with it.
func (r *Result) lines() []string {
	others := slices.DeleteFunc(slices.Clone(r.Warnings), func(w note.Warning) bool { return inTable[w.Code] })
	return report.Opening(worthText(&r.All), "retries", others)
}

// inTable are the warnings that a column of worthTable says, too.
var inTable = map[string]bool{"same_slowness": true, "retries_partly": true, "at_the_wall": true, "executed_twice": true, "no_jitter": true}

// worthText is the verdict on all hops.
func worthText(h *Hop) string {
	if h.Attempts == h.Calls {
		return "Retries: none"
	}
	of := fmt.Sprintf("%d of %s completed", h.Rescue.N, note.Count(h.Rescue.Of, "call that timed out at first and was retried", "calls that timed out at first and were retried"))
	if h.Rescue.Verdict == TooFew {
		return "Retries: not enough to tell whether they help: " + of
	}
	return "Retries " + h.Rescue.Verdict.Words() + ": " + of + sharedText(h)
}

// sharedText compares retries that help in part with first attempts.
func sharedText(h *Hop) string {
	share := h.Rescue.Share()
	if h.Rescue.Verdict != Partly || share == nil || h.Completion == nil {
		return ""
	}
	return fmt.Sprintf("; a retry completes %s, a first attempt %s: they share their slowness", ratio.Percent(*share), ratio.Percent(*h.Completion))
}

type value = report.Value

// columns are those of a row a hop.
var columns = []report.Column[Hop]{
	{Head: "hop", Is: report.Key | report.Name, Of: func(h *Hop) value { return report.String(h.Hop.String()) }},
	{Key: "hop", Of: func(h *Hop) value { return report.String(h.Name) }},
	{Key: "kind", Of: func(h *Hop) value { return report.String(h.Kind.String()) }},
	{Key: "calls", Head: "calls", Of: func(h *Hop) value { return report.Count(h.Calls) }},
	{Key: "attempts", Head: "attempts", Of: func(h *Hop) value { return report.Count(h.Attempts) }},
	{Key: "first_cut", Head: "timed out", Of: func(h *Hop) value { return report.Count(h.FirstCut).Noted(finishedText(h.FinishedAnyway)) }},
	{Key: "retries_after_cut", Of: func(h *Hop) value { return report.Count(h.Rescue.Of) }},
	{Key: "retries_completed", Of: func(h *Hop) value { return report.Count(h.Rescue.N) }},
	{Head: "rescued", Of: func(h *Hop) value { return ofSome(h.Rescue.Count) }},
	{Key: "rescue", Head: "share", Of: func(h *Hop) value {
		rate, _, _ := h.Rescue.shares()
		return report.Maybe(rate, report.Share)
	}},
	{Key: "rescue_lower", Of: func(h *Hop) value {
		_, lower, _ := h.Rescue.shares()
		return report.Maybe(lower, report.Share)
	}},
	{Key: "rescue_upper", Of: func(h *Hop) value {
		_, _, upper := h.Rescue.shares()
		return report.Maybe(upper, report.Share)
	}},
	{Head: "limits", Of: func(h *Hop) value { return h.Rescue.limits() }},
	{Key: "first_completion", Of: func(h *Hop) value { return report.Maybe(h.Completion, report.Share) }},
	{Key: "verdict", Of: func(h *Hop) value { return report.Code(h.Rescue.Verdict) }},
	{Head: "retries", Is: report.Words, Of: func(h *Hop) value { return report.String(h.Rescue.Verdict.Words()) }},
	{Head: "failing calls", Is: report.Words, Of: func(h *Hop) value { return report.String(h.Wall.Verdict.words()).Noted(wallNote(h)) }},
	{Key: "executed_twice", Head: "executed twice", Of: func(h *Hop) value {
		return report.Maybe(h.ExecutedTwice, func(t Twice) value { return report.OutOf(t.N, t.Of) })
	}},
	{Key: "executed_twice_of", Of: func(h *Hop) value {
		return report.Maybe(h.ExecutedTwice, func(t Twice) value { return report.Count(t.Of) })
	}},
	{Key: "finished_anyway", Of: func(h *Hop) value {
		return report.Maybe(h.FinishedAnyway, func(f Finished) value { return report.Count(f.N) })
	}},
	{Key: "finished_anyway_of", Of: func(h *Hop) value {
		return report.Maybe(h.FinishedAnyway, func(f Finished) value { return report.Count(f.Of) })
	}},
	{Key: "finished_median_after_ns", Of: func(h *Hop) value { return report.Maybe(h.FinishedAnyway, Finished.after) }},
	{Key: "near_timeout", Of: func(h *Hop) value { return report.Maybe(h.NearTimeout.Share(), report.Share) }},
	{Key: "gaps", Of: func(h *Hop) value { return report.Count(h.Backoff.N) }},
	{Key: "gap_min_ns", Of: func(h *Hop) value { return report.Maybe(h.Backoff.Min, report.Nanos) }},
	{Key: "gap_p50_ns", Head: "backoff", Is: report.Rounded, Of: func(h *Hop) value { return report.Maybe(h.Backoff.P50, report.Nanos).Noted(backoffText(&h.Backoff)) }},
	{Key: "gap_max_ns", Of: func(h *Hop) value { return report.Maybe(h.Backoff.Max, report.Nanos) }},
	{Key: "jitter", Head: "jitter", Is: report.Words, Of: func(h *Hop) value { return report.String(h.Backoff.Jitter) }},
	{Key: "wall", Of: func(h *Hop) value { return report.Code(h.Wall.Verdict) }},
	{Key: "wall_timeout_ns", Of: func(h *Hop) value { return report.Maybe(h.Wall.Timeout, report.Nanos) }},
	{Key: "wall_share", Of: func(h *Hop) value { return report.Maybe(h.Wall.Share(), report.Share) }},
	{Key: "most_attempts", Of: func(h *Hop) value { return report.Count(h.MostAttempts) }},
}

func (r *Rescue) limits() value {
	_, lower, upper := r.shares()
	if lower == nil {
		return value{}
	}
	return report.String(report.Limits(*lower, *upper))
}

func (f Finished) after() value { return report.Maybe(f.MedianAfter, report.Nanos) }

// ofSome is null for nothing of nothing.
func ofSome(c Count) value {
	if c.Of == 0 {
		return value{}
	}
	return report.OutOf(c.N, c.Of)
}

// retriedHops are the hops of which there is something to say.
func retriedHops(o *Result) []Hop {
	var list []Hop
	for i := range o.Hops {
		if h := &o.Hops[i]; h.Attempts > h.Calls || h.FirstCut > 0 || len(h.AfterFailure) > 0 {
			list = append(list, *h)
		}
	}
	return list
}

func worthTable(r *Result) report.Table {
	hops := retriedHops(r)
	if len(hops) > 1 {
		all := r.All
		all.Name = "(all)"
		hops = append(hops, all)
	}
	return report.NewTable("What retries are worth", hops, columns, worthCaption(r)...)
}

func ofText(c Count) string { return fmt.Sprintf("%d of %d", c.N, c.Of) }

func backoffText(b *Backoff) string {
	if b.N == 0 {
		return ""
	}
	text := fmt.Sprintf("%s between attempts, from %s to %s", note.Count(b.N, "gap"), durations.Text(*b.Min), durations.Text(*b.Max))
	if b.Growth != nil {
		text += fmt.Sprintf("; the second gap is %s times the first, %s", strconv.FormatFloat(*b.Growth, 'f', 2, 64), durations.Text(*b.Base))
	}
	return text
}

func wallNote(h *Hop) string {
	var parts []string
	if w := h.Wall; w.Of > 0 {
		text := fmt.Sprintf("%d of %s lasted as many timeouts as %s had attempts", w.N, note.Count(w.Of, "failing call"), note.Form(w.N, "it", "they"))
		if w.Timeout != nil {
			text += ", of " + durations.Text(*w.Timeout)
		}
		parts = append(parts, text)
	}
	if share := h.NearTimeout.Share(); share != nil {
		parts = append(parts, fmt.Sprintf("%s of the completed attempts used more than %s of the timeout", ratio.Percent(*share), ratio.Percent(NearTimeout)))
	}
	return strings.Join(parts, "; ")
}

func finishedText(f *Finished) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("of the first attempts that timed out and whose server is there %s ended well on it all the same", ofText(f.Count))
	switch {
	case f.MedianAfter == nil:
	case *f.MedianAfter == 0:
		text += ", half of them or more before the call ended: the answer was lost on its way"
	default:
		text += fmt.Sprintf(", in the median %s after the call ended: a longer wait would have done", durations.Text(*f.MedianAfter))
	}
	return text
}

func worthCaption(o *Result) []string {
	lines := []string{
		"rescued: of the calls whose first attempt timed out and that were retried, those that a retry completed; limits: one-sided, " + ratio.Number(o.Confidence.Float()) + " % each.",
	}
	if o.All.Completion != nil {
		lines = append(lines, fmt.Sprintf("Retries help where one surely completes more than half as often as first attempts do (%s of all), in part where it surely completes less often than these; they do not help where it is surely less than half as often.", ratio.Percent(*o.All.Completion)))
	}
	a := o.Amplification
	text := fmt.Sprintf("Amplification: up to %s possible", note.Count(min(a.Possible, 1<<62), "attempt for one request is", "attempts for one request are"))
	if a.ObservedMax != nil {
		text += ", " + note.Count(*a.ObservedMax, "was seen", "were seen")
	}
	lines = append(lines, text+".")
	if mean := o.Ratio.All.Share(); mean != nil {
		text := "Retries over first attempts: " + ratio.Percent(*mean)
		if worst := o.Ratio.Worst.Share(); worst != nil {
			text += fmt.Sprintf(" in the mean, %s in the worst minute, from %s", ratio.Percent(*worst), clock(o.Ratio.At))
		}
		lines = append(lines, text+".")
	}
	return lines
}
