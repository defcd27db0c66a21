package callees

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/spans"
)

// hops is the table that all traces share.
var hops = []spans.Hop{
	{Name: "a GET", Service: "a", Operation: "GET", Kind: spans.Client},
	{Name: "a POST", Service: "a", Operation: "POST", Kind: spans.Client},
	{Name: "b GET", Service: "b", Operation: "GET", Kind: spans.Server},
	{Name: "b PUT", Service: "b", Operation: "PUT", Kind: spans.Server},
	{Name: "c GET", Service: "c", Operation: "GET", Kind: spans.Server},
	{Name: "alone", Kind: spans.Server},
}

// call is a call of hop 0 or 1 and what serves it, -1 for nothing. A retry follows the
// call before it.
type call struct {
	hop, server int32
	cut, retry  bool
}

func traceOf(calls ...call) *spans.Trace {
	const ms = 1_000_000
	list := []spans.Span{{ID: 1, Hop: 5, Duration: 1000 * ms, Flags: spans.HasStart | spans.HasDuration}}
	for i, c := range calls {
		one := spans.Span{ID: spans.SpanID(2*i + 2), Parent: 1, Hop: c.hop, Start: int64(10*i) * ms, Duration: 5 * ms, Flags: spans.HasStart | spans.HasDuration}
		if c.cut {
			one.Outcome, one.CutBy = spans.Truncated, spans.Own
		}
		if c.retry {
			one.Flags |= spans.RetryByMark
		}
		list = append(list, one)
		if c.server >= 0 {
			list = append(list, spans.Span{ID: one.ID + 1, Parent: one.ID, Hop: c.server, Start: one.Start, Duration: ms, Flags: one.Flags})
		}
	}
	t := spans.NewTrace(spans.TraceID{Lo: 1}, list, hops, nil)
	t.MarkRetries(spans.RetryOptions{NoSiblings: true})
	return t
}

// surveyOf looks at traces, in two workers.
func surveyOf(traces ...*spans.Trace) *Survey {
	s, o := NewSurvey(), NewSurvey()
	for i, t := range traces {
		[]*Survey{s, o}[i%2].AddTrace(t)
	}
	s.Merge(o)
	return s
}

// namesOf are the hops of the calls of a trace.
func namesOf(t *spans.Trace) (list []string) {
	for i := range t.Spans {
		if h := t.HopOf(int32(i)); h.Kind == spans.Client {
			list = append(list, h.Name)
		}
	}
	return list
}

func TestCallsOfOneNameToSeveralServicesAreToldApart(t *testing.T) {
	toB, toC, nowhere := call{server: 2}, call{server: 4}, call{server: -1}
	cut := func(c call) call { c.cut = true; return c }
	retry := func(c call) call { c.retry = true; return c }
	for name, c := range map[string]struct {
		calls []call
		want  string // the hops of the calls
		warns string
	}{
		"to two services":                {[]call{toB, toC, {hop: 1, server: 2}}, "a GET -> b, a GET -> c, a POST", ""},
		"to one service":                 {[]call{toB, {server: 3}}, "a GET, a GET", ""},
		"to one service and to none":     {[]call{toB, nowhere}, "a GET, a GET", ""},
		"to one without a service":       {[]call{toB, {server: 5}}, "a GET -> b, a GET -> alone", ""},
		"a cut one that is tried again":  {[]call{toB, cut(nowhere), retry(toC)}, "a GET -> b, a GET -> c, a GET -> c", ""},
		"a cut one, tried again in vain": {[]call{toB, cut(toC), cut(retry(nowhere))}, "a GET -> b, a GET -> c, a GET -> c", ""},
		"some without a server":          {[]call{toB, toC, nowhere}, "a GET, a GET, a GET", "calls of a GET (client) go to several services (b, c) and are shown as one hop: only 4 of 6 calls looked at have a server's span that names it"},
		"few without one, but the cut ones": {append(slices.Repeat([]call{toB}, 30), toC, cut(nowhere)), strings.Repeat("a GET, ", 31) + "a GET",
			"calls of a GET (client) go to several services (b, c) and are shown as one hop: only 0 of 2 timed-out calls looked at have a server's span that names it"},
		"few without one": {append(slices.Repeat([]call{toB}, 30), toC, nowhere), strings.Repeat("a GET -> b, ", 30) + "a GET -> c, a GET", ""},
	} {
		apart, warnings := surveyOf(traceOf(c.calls...), traceOf(c.calls...)).Apart()
		warned := ""
		for _, w := range warnings {
			warned += w.Text
		}
		s := NewSplitter(apart)
		for range 2 { // the second trace comes with the table of the first
			tr := traceOf(c.calls...)
			changed := s.Split(tr)
			got := strings.Join(namesOf(tr), ", ")
			if got != c.want || warned != c.warns || changed != strings.Contains(got, "->") {
				t.Errorf("%s: %s, warned %q", name, got, warned)
			}
		}
	}
}

func TestVeryManyServicesAreNotToldApart(t *testing.T) {
	of := &hop{services: map[string]struct{}{}}
	for i := range 2 * mostServices {
		of.serve(fmt.Sprint("pod ", i))
	}
	s := &Survey{hops: map[spans.Hop]*hop{hops[0]: of}}
	apart, warnings := s.Apart()
	if len(apart) > 0 || len(warnings) != 1 || !strings.HasSuffix(warnings[0].Text, "more than 64") {
		t.Errorf("%v %v", apart, warnings)
	}
}

// The traces that share a table go on with the one that has the new hops.
func TestHopsOfCalleesComeBehindTheOthers(t *testing.T) {
	apart := map[spans.Hop]bool{hops[0]: true}
	s := NewSplitter(apart)
	for _, c := range []call{{server: 2}, {server: 4}, {server: 3}, {server: 2}} {
		s.Split(traceOf(c))
	}
	want := append(slices.Clone(hops), spans.Hop{Name: "a GET -> b", Service: "a", Operation: "GET", Kind: spans.Client}, spans.Hop{Name: "a GET -> c", Service: "a", Operation: "GET", Kind: spans.Client})
	if d := cmp.Diff(want, s.table); d != "" {
		t.Error(d)
	}
}
