package explain

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// Calls is why the hop's calls are slow, and how busy the services are that answer them.
type Calls struct {
	Pairs   jsontype.List[calls.Pair]   `json:"pairs"`
	Callees jsontype.List[calls.Callee] `json:"callees"`
}

// findCalls takes the calls of the hop, or those that it serves.
func (r *Result) findCalls(c *calls.Result) {
	r.Calls.Pairs = filter(c.Pairs, func(p *calls.Pair) bool {
		return p.Call == r.Hop || r.Kind == spans.Server && (p.Callee == r.Service || p.Callee == r.Name)
	})
	r.Calls.Callees = filter(c.Callees, func(e *calls.Callee) bool {
		return find(r.Calls.Pairs, func(p *calls.Pair) bool { return p.Callee == e.Hop }) != nil
	})
}

// part is one part of the time of calls.
type part struct {
	what string
	quantile.Summary
}

// queue says whether the calls wait or are worked on.
func (r *Result) queue() report.Table {
	var rows []part
	var lines []string
	for i := range r.Calls.Pairs {
		p := &r.Calls.Pairs[i]
		to := ""
		if len(r.Calls.Pairs) > 1 {
			to = " " + p.Call.Name + " → " + p.Callee
		}
		rows = append(rows, part{"gap" + to, p.Gap}, part{"work" + to, p.Work})
		if p.Wait != nil {
			rows = append(rows, part{"wait" + to, *p.Wait})
		}
		if p.GapCut != nil {
			rows = append(rows, part{"gap of those that timed out" + to, *p.GapCut})
		}
		lines = append(lines, verdictText(p))
		lines = appendText(lines, refuted(p))
	}
	for i := range r.Calls.Callees {
		lines = append(lines, busyText(&r.Calls.Callees[i]))
	}
	if rows == nil {
		return report.Table{}
	}
	lines = append([]string{"Gap: a call's time less its server's, there and back, without a clock in it. Wait: until the server began, by both clocks."}, lines...)
	scale := r.partScale(rows)
	return report.NewTable(scale.title("Queue or slow"), rows, r.partColumns(scale), lines...)
}

func (r *Result) partScale(rows []part) scaled {
	var times []int64
	for _, p := range rows {
		times = append(times, p.Max)
		times = append(times, p.Quantiles[:min(len(p.Quantiles), len(r.Tail.Tail))]...)
	}
	return scaleOf(times...)
}

func (r *Result) partColumns(scale scaled) []report.Column[part] {
	columns := []report.Column[part]{
		{Head: "time", Is: report.Key | report.Name, Of: func(p *part) value { return report.String(p.what) }},
		{Head: "n", Of: func(p *part) value { return report.Count(p.N) }},
	}
	for i := range r.Tail.Tail {
		columns = append(columns, report.Column[part]{Head: r.Tail.Tail[i].P.Label(), Of: func(p *part) value {
			if i >= len(p.Quantiles) || p.N == 0 || p.Biased {
				return value{}
			}
			return scale.about(p.Quantiles[i])
		}})
	}
	return append(columns, report.Column[part]{Head: "longest", Of: func(p *part) value { return scale.about(p.Max) }})
}

func verdictText(p *calls.Pair) string {
	return fmt.Sprintf("%s → %s (%s): %s.", p.Call.Name, p.Callee, strings.ReplaceAll(string(p.Verdict), "_", " "), p.Sentence())
}

func refuted(p *calls.Pair) string {
	if p.Figures.Refutes == "" {
		return ""
	}
	return "What would refute it, or make it known: " + strings.TrimSuffix(p.Figures.Refutes, ".") + "."
}

// busyText says how busy a callee is.
func busyText(c *calls.Callee) string {
	who := c.Hop
	if c.Instance != "" {
		who += " on " + string(c.Instance)
	}
	text := fmt.Sprintf("%s worked %s in all, %s of it for callers that had left", who, about(c.Work), about(c.Wasted))
	if c.OpenMax != nil && c.ShareAtMax != nil {
		text += fmt.Sprintf("; at most %d calls were open at once, %s of the time that any was", *c.OpenMax, percent(*c.ShareAtMax))
	}
	return text + "."
}
