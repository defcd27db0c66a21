package calls

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/spans"
)

// resultText is a result as JSON.
func resultText(t *testing.T, r Result) string {
	t.Helper()
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Neither who sees which trace, nor what is written to a file, changes a figure.
func TestTheResultDependsNeitherOnWorkersNorOnMemory(t *testing.T) {
	for _, k := range kindsOfWorlds()[36:] {
		w := k.draw(rand.New(rand.NewPCG(11, 7)))
		w.calls = min(w.calls, 600)
		traces := w.traces(w.run())
		want := resultText(t, resultOf(t, traces, 1, Config{}, Query{}))
		for _, workers := range []int{1, 3} {
			c := Config{Memory: 20_000, TempDir: t.TempDir()}
			got := resultText(t, resultOf(t, traces, workers, c, Query{Memory: 1}))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %d workers, little memory: %s", k.name, workers, d)
			}
			if d := cmp.Diff(want, resultText(t, resultOf(t, traces, workers, Config{}, Query{}))); d != "" {
				t.Errorf("%s, %d workers: %s", k.name, workers, d)
			}
		}
	}
}

const ms = 1_000_000

// span is one of a small trace, in ms.
func span(id, parent spans.SpanID, hop int32, start, took int64) spans.Span {
	return spans.Span{ID: id, Parent: parent, Hop: hop, Start: start * ms, Duration: took * ms, Flags: spans.HasStart | spans.HasDuration}
}

var smallHops = []spans.Hop{
	{Name: "a GET", Service: "a", Operation: "GET", Kind: spans.Server},
	{Name: "a call", Service: "a", Operation: "call", Kind: spans.Client},
	{Name: "b GET", Service: "b", Operation: "GET", Kind: spans.Server},
	{Name: "alone", Kind: spans.Server},
	{Name: "a sql", Service: "a", Operation: "sql", Kind: spans.Client},
}

// What a small trace shows, figure by figure.
func TestFiguresOfASmallTrace(t *testing.T) {
	cut := span(4, 1, 1, 20, 30)
	cut.Outcome, cut.CutBy = spans.Truncated, spans.Own
	below := span(6, 1, 1, 60, 8)
	below.Outcome, below.CutBy = spans.Truncated, spans.Below
	trace := spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{
		span(1, 0, 0, 0, 100),
		span(2, 1, 1, 0, 10), span(3, 2, 2, 2, 7), // gap 3: wait 2, return 1
		cut, span(5, 4, 2, 45, 20), // lag 25, 15 ms in vain
		below, span(7, 6, 2, 63, 4), span(8, 6, 2, 64, 1), // gap 4; the second span answers nothing
		span(9, 1, 4, 80, 5), span(10, 1, 1, 90, 5), // neither has a server's span
	}, smallHops, nil)
	r := resultOf(t, []*spans.Trace{trace}, 1, Config{}, Query{})
	if len(r.Pairs) != 1 || len(r.Callees) != 2 || len(r.Unanswered) != 1 {
		t.Fatalf("%d pairs, %d callees, %d unanswered", len(r.Pairs), len(r.Callees), len(r.Unanswered))
	}
	p, b, u := &r.Pairs[0], &r.Callees[1], &r.Unanswered[0]
	for what, c := range map[string]struct{ got, want any }{
		"call":         {p.Call.Name + " " + p.Callee, "a call b"},
		"n":            {p.N, uint64(3)},
		"calls":        {p.Calls, uint64(4)},
		"cut":          {p.Cut, uint64(1)},
		"gap":          {p.Gap.Min, int64(3 * ms)},
		"gap, largest": {p.Gap.Max, int64(26 * ms)}, // 25 - 2 + 3
		"gap of cut":   {p.GapCut.Min, int64(26 * ms)},
		"wait":         {p.Wait.Max, int64(25 * ms)},
		"return":       {[2]int64{p.Return.Min, p.Return.Max}, [2]int64{1 * ms, 1 * ms}},
		"work":         {p.Work.Max, int64(20 * ms)},
		"clock":        {p.Clock, UnknownClock},
		"verdict":      {string(p.Verdict) + " " + p.Figures.Reason, "unknown few_calls"},
		"callee":       {b.Hop, "b"},
		"spans":        {b.N, uint64(4)},
		"most":         {*b.OpenMax, 3},
		"busy":         {b.Busy, int64(29 * ms)}, // 7 + 20 + 2 beyond
		"in vain":      {b.Wasted, int64(15 * ms)},
		"work of all":  {b.Work, int64(32 * ms)},
		"unanswered":   {u.Call.Name, "a sql"},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

// Hosts say whose clock it is, and instances who works there.
func TestClocksAndInstances(t *testing.T) {
	of := func(server, client int32, lag int64) *spans.Trace {
		a, b := span(1, 0, 1, 10, 10), span(2, 1, 2, 10+lag, 5)
		a.Host, b.Host = client, server
		return spans.NewTrace(spans.TraceID{Lo: uint64(100*server) + uint64(lag+50)}, []spans.Span{a, b}, smallHops, []string{"", "x", "y"})
	}
	for name, c := range map[string]struct {
		traces []*spans.Trace
		clock  Clock
		places int // callees listed
	}{
		"one host":            {[]*spans.Trace{of(1, 1, 2)}, OneClock, 1},
		"two hosts":           {[]*spans.Trace{of(2, 1, 2)}, UnknownClock, 1},
		"none named":          {[]*spans.Trace{of(0, 0, 2)}, UnknownClock, 1},
		"begins too early":    {[]*spans.Trace{of(2, 1, -2)}, SkewedClock, 1},
		"ends too late":       {[]*spans.Trace{of(2, 1, 7)}, SkewedClock, 1},
		"one host and others": {[]*spans.Trace{of(1, 1, 2), of(2, 1, 2)}, UnknownClock, 3},
	} {
		r := resultOf(t, c.traces, 1, Config{}, Query{})
		if p := r.Pairs[0]; p.Clock != c.clock || (p.Wait == nil) != (c.clock == SkewedClock) || len(r.Callees) != c.places {
			t.Errorf("%s: clock %s, wait %v, %d callees", name, p.Clock, p.Wait, len(r.Callees))
		}
	}
}

func TestNothingToCheck(t *testing.T) {
	r := resultOf(t, []*spans.Trace{spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{span(1, 0, 1, 0, 5)}, smallHops, nil)}, 1, Config{}, Query{})
	want := `{"checkable":false,"reason":"no call has a server's span","warnings":[],"pairs":[],"callees":[],"unanswered":[{"call":"a call","kind":"client","calls":1}]}`
	if text, err := json.Marshal(r); err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}
