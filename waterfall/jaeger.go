package waterfall

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/tailscope/tailscope/spans"
)

// The document that Jaeger's UI opens, as its API answers: times are whole microseconds.
type (
	jaegerFile struct {
		Data []jaegerTrace `json:"data"`
	}
	jaegerTrace struct {
		TraceID   string                   `json:"traceID"`
		Spans     []jaegerSpan             `json:"spans"`
		Processes map[string]jaegerProcess `json:"processes"`
	}
	jaegerSpan struct {
		TraceID    string      `json:"traceID"`
		SpanID     string      `json:"spanID"`
		Operation  string      `json:"operationName"`
		References []jaegerRef `json:"references"`
		Start      int64       `json:"startTime"`
		Duration   int64       `json:"duration"`
		Tags       []jaegerTag `json:"tags"`
		Logs       []jaegerTag `json:"logs"`
		Process    string      `json:"processID"`
		Warnings   []string    `json:"warnings"`
	}
	jaegerRef struct {
		Type    string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	}
	jaegerTag struct {
		Key   string `json:"key"`
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	jaegerProcess struct {
		Service string      `json:"serviceName"`
		Tags    []jaegerTag `json:"tags"`
	}
)

// ErrNoTimes says that a request without start times cannot be laid out in time.
var ErrNoTimes = errors.New("not every start is known, and Jaeger's UI draws nothing without: --format text shows how long each took")

// WriteJaeger writes the request as a file for Jaeger's UI, with the marks that tailscope
// reads, so that it finds the same in it.
func (r *Result) WriteJaeger(w io.Writer) error {
	if !r.Timed {
		return ErrNoTimes
	}
	t := jaegerTrace{TraceID: traceNumber(r.Trace), Processes: map[string]jaegerProcess{}}
	ids, processes := r.spanNumbers(), map[string]string{}
	for i := range r.Spans {
		s := &r.Spans[i]
		if !s.timed() {
			continue
		}
		name := serviceOf(s)
		if processes[name] == "" {
			processes[name] = fmt.Sprintf("p%d", len(processes)+1)
			t.Processes[processes[name]] = jaegerProcess{name, []jaegerTag{}}
		}
		one := r.jaegerSpan(s, t.TraceID, ids)
		one.SpanID, one.Process = ids[i], processes[name]
		t.Spans = append(t.Spans, one)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(jaegerFile{[]jaegerTrace{t}})
}

func (r *Result) jaegerSpan(s *Span, trace string, ids []string) jaegerSpan {
	start, end := micros(r.From+*s.Start), micros(r.From+s.end())
	one := jaegerSpan{
		TraceID: trace, Operation: operationOf(s), Start: start, Duration: end - start,
		References: []jaegerRef{}, Tags: tagsOf(s), Logs: []jaegerTag{}, Warnings: warningsOf(s),
	}
	if s.parent >= 0 {
		kind := "CHILD_OF"
		if s.Async {
			kind = "FOLLOWS_FROM"
		}
		one.References = append(one.References, jaegerRef{kind, trace, ids[s.parent]})
	}
	return one
}

// micros rounds down, so that what lies in something still does.
func micros(ns int64) int64 {
	us := ns / 1000
	if ns%1000 < 0 {
		us--
	}
	return us
}

func serviceOf(s *Span) string {
	if s.Service != "" {
		return s.Service
	}
	return s.Name
}

func operationOf(s *Span) string {
	if s.Operation != "" {
		return s.Operation
	}
	return s.Name
}

// tagsOf are the marks of how a span ended, as tailscope reads them.
func tagsOf(s *Span) []jaegerTag {
	list := []jaegerTag{}
	word := func(key, value string) {
		if value != "" {
			list = append(list, jaegerTag{key, "string", value})
		}
	}
	flag := func(key string, is bool) {
		if is {
			list = append(list, jaegerTag{key, "bool", true})
		}
	}
	word("span.kind", s.Kind.String())
	flag("error", s.Outcome == spans.Truncated || s.Outcome == spans.Failed)
	switch s.CutBy {
	case spans.Below:
		list = append(list, jaegerTag{"http.status_code", "int64", 504})
	case spans.Caller:
		list = append(list, jaegerTag{"http.status_code", "int64", 499})
	default:
		flag("truncated", s.Outcome == spans.Truncated)
	}
	word("failure", string(s.Failure))
	flag("retry", s.Retry != "")
	if s.Orphan != nil {
		word("orphan", string(s.Orphan.Kind))
		list = append(list, jaegerTag{"wasted_us", "int64", s.Orphan.Wasted / 1000})
	}
	if s.Wait != nil {
		list = append(list, jaegerTag{"wait_us", "int64", *s.Wait / 1000})
	}
	return list
}

// warningsOf is what Jaeger's UI shows beside a span.
func warningsOf(s *Span) []string {
	if s.Orphan == nil {
		return nil
	}
	return []string{fmt.Sprintf("ran %s for nobody: its caller had given up (%s: %s)", lone(s.Orphan.Wasted), s.Orphan.Sure, s.Orphan.Evidence)}
}

// traceNumber is an id of hexadecimal digits: the id itself, or a hash of one that is no
// number.
func traceNumber(id string) string {
	number, _ := spans.ParseTraceID([]byte(id))
	return number.String()
}

// spanNumbers are ids of hexadecimal digits, all different: two halves of a call may have
// one id.
func (r *Result) spanNumbers() []string {
	ids, taken := make([]string, len(r.Spans)), map[string]bool{}
	for i := range r.Spans {
		id, _ := spans.ParseSpanID([]byte(r.Spans[i].ID))
		text := id.String()
		for n := 0; taken[text]; n++ {
			h := fnv.New64a()
			fmt.Fprint(h, text, n) // which cannot fail
			text = spans.SpanID(h.Sum64() | 1).String()
		}
		taken[text], ids[i] = true, text
	}
	return ids
}
