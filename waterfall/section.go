package waterfall

import (
	"fmt"
	"time"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// Key is the section's member of the JSON document.
const Key = "trace"

// Section draws the request with at most so many rows, 0 for all.
func (r *Result) Section(v *report.View, rows int) report.Section {
	lines := append([]string{r.headline()}, r.chosen()...)
	return report.Section{
		Key: Key, JSON: func() any { return r }, Lines: lines,
		Drawings: []report.Drawing{func(o report.Options) []string { return r.lines(o, rows) }},
		Tables:   []report.Table{{Title: "What happened", Caption: append(r.story(), r.more(v))}},
		Data:     report.NewTable("", r.Spans, r.columns()),
	}
}

// headline says how the request ended and what it is made of.
func (r *Result) headline() string {
	text := "trace " + r.Trace + ": "
	if top := r.top(); top != nil && r.Basis != attribution.Containment && r.Basis != attribution.SerialSum {
		text += top.Name + " "
	} else if r.EndToEnd != nil {
		text += "the request "
	}
	text += r.ending()
	what := "span"
	if r.Basis != attribution.CriticalPath && len(r.Spans) > 0 && r.Spans[0].Kind == spans.NoKind {
		what = "attempt"
	}
	text += fmt.Sprintf("; %s", note.Count(len(r.Spans), what))
	if n := r.services(); n > 1 {
		text += fmt.Sprintf(" of %d services", n)
	}
	if r.Timed {
		text += ", begun " + time.Unix(0, r.From).UTC().Format("2006-01-02 15:04:05.000000") + " UTC"
	}
	return text + "."
}

// top is the span with which the request begins: of several the longest.
func (r *Result) top() (top *Span) {
	for i := range r.Spans {
		s := &r.Spans[i]
		if s.parent < 0 && s.Duration != nil && (top == nil || *s.Duration > *top.Duration) {
			top = s
		}
	}
	return top
}

// ending words how the request ended, and after how long.
func (r *Result) ending() string {
	if r.EndToEnd == nil {
		return "has no time from end to end"
	}
	after := " after " + lone(*r.EndToEnd)
	switch r.Outcome {
	case attribution.Cut:
		return "timed out" + after
	case attribution.Failed:
		return "failed" + after
	case attribution.Partial:
		return "answered" + after + ", though a call of it had failed"
	}
	return "took " + lone(*r.EndToEnd)
}

func (r *Result) services() int {
	names := map[string]bool{}
	for i := range r.Spans {
		names[r.Spans[i].Service] = true
	}
	return len(names)
}

// chosen says by which rule the request was chosen, and what its picture cannot show.
func (r *Result) chosen() (lines []string) {
	if r.Rule != ByID {
		lines = append(lines, "Chosen: "+r.Why+".")
	}
	if r.Longest != "" {
		lines = append(lines, "The longest of all: trace "+string(r.Longest)+".")
	}
	if !r.Timed {
		lines = append(lines, "No start times: each bar is only as long as its attempt took.")
	} else if r.Basis == attribution.Containment {
		lines = append(lines, "The log names no callers: an attempt is drawn under the one that surely made it, as their times show.")
	}
	return lines
}

// mostCalls is of how many calls the story tells.
const mostCalls = 3

// story tells what went wrong, in the order of time.
func (r *Result) story() (lines []string) {
	gaveUp := 0
	for i := range r.Spans {
		s := &r.Spans[i]
		if s.Outcome == spans.Completed || s.CutBy == spans.Below || r.served(s) {
			continue
		}
		if gaveUp++; gaveUp <= mostCalls {
			lines = append(lines, r.tell(s))
		}
	}
	if gaveUp > mostCalls {
		lines = append(lines, fmt.Sprintf("And %d more that timed out or failed.", gaveUp-mostCalls))
	}
	if text := r.retried(); text != "" {
		lines = append(lines, text)
	}
	if text := r.orphaned(); text != "" {
		lines = append(lines, text)
	}
	if lines == nil {
		lines = []string{"Nothing timed out, failed or was retried."}
	}
	return lines
}

// more says how to have the request in other forms.
func (r *Result) more(v *report.View) string {
	if !r.Timed {
		return "More: --format json"
	}
	return fmt.Sprintf("More: --format json | for Jaeger's UI: tailscope trace %s --format jaeger -o trace.json%s", report.Word(r.Trace), v.Arguments())
}

// served reports whether a span serves a call of which the same is told.
func (r *Result) served(s *Span) bool {
	return s.parent >= 0 && r.Spans[s.parent].server >= 0 && &r.Spans[r.Spans[s.parent].server] == s && r.Spans[s.parent].Outcome != spans.Completed
}

// callName is a call as the page names it: by its caller's service and its callee's.
func (r *Result) callName(s *Span) string {
	if s.server < 0 || s.Service == "" || r.Spans[s.server].Service == "" {
		return s.Name
	}
	return s.Service + " → " + r.Spans[s.server].Service
}

// tell says how one call ended, and what its callee did meanwhile.
func (r *Result) tell(s *Span) string {
	text := r.callName(s) + " " + outcomeText(s)
	if s.Duration != nil {
		text += " after " + lone(*s.Duration)
	}
	text += "."
	switch {
	case s.server >= 0:
		server := &r.Spans[s.server]
		text += fmt.Sprintf(" %s began %s after the call and ran %s", server.Service, lone(*s.Wait), lone(*server.Duration))
		if server.Orphan != nil {
			text += fmt.Sprintf(", %s of it for nobody", lone(server.Orphan.Wasted))
		}
		return text + "."
	case s.Kind == spans.Client:
		return text + " No span of its callee is there: whether that ran on is not known."
	}
	return text
}

func (r *Result) retried() string {
	n, completed := 0, 0
	for i := range r.Spans {
		if s := &r.Spans[i]; s.Retry != "" {
			n++
			completed += count(s.Outcome == spans.Completed)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s, of which %d completed.", note.Count(n, "retry", "retries"), completed)
}

func (r *Result) orphaned() string {
	n, doubtful, ns := 0, 0, int64(0)
	for i := range r.Spans {
		if o := r.Spans[i].Orphan; o != nil {
			n++
			doubtful += count(o.Sure == orphans.Doubtful)
			ns += o.Wasted
		}
	}
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("Orphaned work: %s on after the caller had given up, %s added up", note.Count(n, "span ran", "spans ran"), lone(ns))
	if doubtful > 0 {
		text += fmt.Sprintf("; of %d the clocks may be apart by as much", doubtful)
	}
	return text + "."
}

// columns are those of CSV, a row for each span.
func (r *Result) columns() []report.Column[Span] {
	word := func(of func(*Span) string) func(*Span) report.Value {
		return func(s *Span) report.Value { return report.String(of(s)) }
	}
	return []report.Column[Span]{
		{Key: "trace", Of: word(func(*Span) string { return r.Trace })},
		{Key: "span", Of: word(func(s *Span) string { return s.ID })},
		{Key: "parent", Of: word(func(s *Span) string { return string(s.Parent) })},
		{Key: "hop", Of: word(func(s *Span) string { return s.Name })},
		{Key: "kind", Of: word(func(s *Span) string { return s.Kind.String() })},
		{Key: "offset_ns", Of: func(s *Span) report.Value { return report.Maybe(s.Start, report.Nanos) }},
		{Key: "duration_ns", Of: func(s *Span) report.Value { return report.Maybe(s.Duration, report.Nanos) }},
		{Key: "wait_ns", Of: func(s *Span) report.Value { return report.Maybe(s.Wait, report.Nanos) }},
		{Key: "outcome", Of: word(func(s *Span) string { return s.Outcome.String() })},
		{Key: "cut_by", Of: word(func(s *Span) string { return s.CutBy.String() })},
		{Key: "failure", Of: word(func(s *Span) string { return string(s.Failure) })},
		{Key: "retry", Of: word(func(s *Span) string { return string(s.Retry) })},
		{Key: "async", Of: func(s *Span) report.Value { return report.Flag(s.Async) }},
		{Key: "orphan", Of: word(func(s *Span) string { return string(orphanKind(s)) })},
		{Key: "wasted_ns", Of: func(s *Span) report.Value { return report.Maybe(wasted(s), report.Nanos) }},
	}
}

func orphanKind(s *Span) orphans.Kind {
	if s.Orphan == nil {
		return ""
	}
	return s.Orphan.Kind
}

func wasted(s *Span) *int64 {
	if s.Orphan == nil {
		return nil
	}
	return jsontype.If(true, s.Orphan.Wasted)
}
