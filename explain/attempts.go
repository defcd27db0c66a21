package explain

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/report"
)

// ended is the durations of the attempts that ended in one way.
type ended struct {
	how string
	quantile.Summary
}

// endings is how the attempts ended, with the durations of each way.
func (r *Result) endings() report.Table {
	t := r.Tail
	var rows []ended
	for _, e := range []ended{
		{"completed", t.Completed.All}, {"timed out", t.Truncated.All}, {"failed", t.Failed.All}, {"as logged", t.Recorded.All},
	} {
		if e.N > 0 {
			rows = append(rows, e)
		}
	}
	scale := r.endedScale(rows)
	ns := func(of func(*ended) int64) func(*ended) value {
		return func(e *ended) value { return scale.about(of(e)) }
	}
	columns := []report.Column[ended]{
		{Head: "ended", Is: report.Key | report.Words, Of: func(e *ended) value { return report.String(e.how) }},
		{Head: "n", Of: func(e *ended) value { return report.Count(e.N) }},
		{Head: "shortest", Of: ns(func(e *ended) int64 { return e.Min })},
	}
	if !t.Biased {
		for i := range t.Tail { // of those asked for; there may be more behind them
			columns = append(columns, report.Column[ended]{Head: t.Tail[i].P.Label(), Of: func(e *ended) value {
				if i >= len(e.Quantiles) {
					return value{}
				}
				return scale.about(e.Quantiles[i])
			}})
		}
		columns = append(columns, report.Column[ended]{Head: "mean", Of: ns(func(e *ended) int64 { return e.Mean })})
	}
	columns = append(columns, report.Column[ended]{Head: "longest", Of: ns(func(e *ended) int64 { return e.Max })})
	return report.NewTable(scale.title("How its attempts ended"), rows, columns, r.endingSentences()...)
}

// endedScale is the scale of all times that stand in the table.
func (r *Result) endedScale(rows []ended) scaled {
	var times []int64
	for _, e := range rows {
		times = append(times, e.Min, e.Mean, e.Max)
		times = append(times, e.Quantiles[:min(len(e.Quantiles), len(r.Tail.Tail))]...)
	}
	return scaleOf(times...)
}

func (r *Result) endingSentences() []string {
	t := r.Tail
	lines := []string{fmt.Sprintf("%s: %s and %s; %d completed, %d timed out, %d failed, %d without an end.",
		note.Count(t.Attempts, "attempt"), note.Count(t.FirstAttempts, "first attempt"), note.Count(t.Retries, "retry", "retries"),
		t.Completed.All.N, t.Truncated.All.N, t.Failed.All.N, t.Unfinished)}
	lines = appendText(lines, r.byWhom(), r.kinds(), r.share())
	if t.Truncated.All.N > 0 {
		lines = append(lines, "Completed: the slow attempts that timed out are missing. As logged: timeouts are taken for latencies, as a tool that ignores them prints it.")
	}
	return lines
}

func appendText(list []string, texts ...string) []string {
	for _, text := range texts {
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}

// byWhom says by whose timeout attempts ended.
func (r *Result) byWhom() string {
	var parts []string
	for _, c := range r.Tail.Truncated.CutBy {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.N, endedBy[c.By]))
		}
	}
	if parts == nil {
		return ""
	}
	return "Timed out: " + strings.Join(parts, ", ") + "."
}

// kinds says how attempts failed.
func (r *Result) kinds() string {
	var parts []string
	for _, k := range r.Tail.Failed.Kinds {
		parts = append(parts, fmt.Sprintf("%d %s", k.N, strings.ReplaceAll(k.Kind.String(), "_", " ")))
	}
	if parts == nil {
		return ""
	}
	return "Failed: " + strings.Join(parts, ", ") + "."
}

// share is that of the first attempts that timed out, with what its limits stand on.
func (r *Result) share() string {
	s := r.Tail.TruncatedShare
	if s.Of == 0 || r.Tail.Biased {
		return ""
	}
	text := fmt.Sprintf("Share of the first attempts that timed out: %d of %d, %s; one-sided %s limits %s and %s (Clopper and Pearson)",
		s.Count, s.Of, percent(s.Value), r.confidence().Percent(), atLeastPercent(s.Lower), atMostPercent(s.Upper))
	if size := s.Size(); size != s.Of {
		text += fmt.Sprintf(", those of %s", worthOf(size, r.Tail))
	}
	return text + "." + effectText(" ", s.Effect)
}

// worthOf says how many attempts limits stand on.
func worthOf(size uint64, t *buckets.Result) string {
	if t.Effective > 0 {
		return note.Count(size, "attempt") + " of equal weight"
	}
	return note.Count(size, "independent attempt")
}

// effectText explains a design effect that counts.
func effectText(before string, e depend.Effect) string {
	switch {
	case !e.Known():
		return ""
	case e.Counts():
		return fmt.Sprintf("%sThey come together by %s: design effect %s, so that n attempts tell as much as n / %s independent ones.", before, e.Cluster(), effect(e), effect(e))
	}
	return ""
}

func effect(e depend.Effect) string { return trimmed(e.Float()) }
