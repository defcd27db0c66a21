package timeouts

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Calls that overlap for a while take longer than the longest of them: what requests
// were seen to take has a place in the budget, and so has it inside a call.
func TestABudgetIsNoShorterThanWhatIsSeen(t *testing.T) {
	hops := []hop{{name: "a", n: 5000, ms: 1000}, {name: "b", n: 5000, ms: 1000}, {name: "outer", n: 5000, ms: 1900}}
	r := world{hops: hops, graph: requests(5000, call{"a", 0, 1000, 0}, call{"b", 900, 1900, 0})}.advise()
	want := []Part{{"a, side by side with b", 1500 * ms}, {"seen beyond these", 1027 * ms}, {"one retry of a", 1500 * ms}} // 1.33 × 1900 - 1500
	if d := cmp.Diff(want, []Part(r.Total.Parts)); d != "" || *r.Total.Effective != 1 {
		t.Errorf("%+v %s", r.Total, d)
	}
	s := usual
	s.EntryBudget = 2000 * ms
	r = world{hops: hops, settings: s, graph: requests(5000, call{"outer", 0, 1900, 0}, call{"a", 0, 1000, 1}, call{"b", 900, 1900, 1})}.advise()
	if h := r.hop("outer"); number(h.Timeout) != "3000 ms" || number(h.Inner.Own) != "10 ms" || number(h.Inner.Grants) != "1500 ms" || number(h.Inner.Rest) != "1017 ms" ||
		!strings.Contains(h.Reason, "1 s of its calls in a row, and 900 ms that its attempts are seen to take beyond both") {
		t.Errorf("%+v %+v", h, h.Inner)
	}
	if s := r.Allocation.Infeasible; s == nil || s.Name != "a" || s.Needs != 1500*ms {
		t.Errorf("%+v", s)
	}
}

func TestADeadlineFarAboveTheSlowestRequestIsNamed(t *testing.T) {
	for budget, want := range map[int64]bool{0: false, 2000: false, 2001: true} {
		s := usual
		s.EntryBudget = budget * ms
		r := world{hops: []hop{{name: "a", n: 5000, ms: 500}}, settings: s, graph: requests(5000, call{"a", 0, 500, 0})}.advise()
		if got := strings.Contains(fmt.Sprint(r.Warnings), "deadline_far_above"); got != want {
			t.Errorf("%d ms: %v", budget, r.Warnings)
		}
	}
}

// Retries that were seen explain what requests took with them.
func TestWhatRetriesTookIsNotCountedTwice(t *testing.T) {
	r := world{hops: []hop{{name: "a", n: 5000, ms: 100, retries: 9}}, graph: requests(5000, call{"a", 0, 1000, 0})}.advise()
	want := []Part{{"a", 150 * ms}, {"9 retries of a", 1350 * ms}}
	if d := cmp.Diff(want, []Part(r.Total.Parts)); d != "" {
		t.Error(d)
	}
}

// Hops of which each request calls one or the other are not added up; few requests do
// not tell that they never come together.
func TestCallsMadeInsteadOfEachOtherAreNotAddedUp(t *testing.T) {
	for n, evidence := range map[int]Evidence{1498: Certified, 1497: TooFew} {
		w := callgraph.NewAccumulator(callgraph.Config{})
		w.Merge(requests(n, call{"outer", 0, 300, 0}, call{"a", 0, 300, 1}))
		w.Merge(requests(n, call{"outer", 0, 300, 0}, call{"b", 0, 200, 1}))
		h := world{hops: []hop{{name: "outer", n: 2 * n, ms: 300}, {name: "a", n: 5000, ms: 300}, {name: "b", n: 5000, ms: 200}}, graph: w}.advise().hop("outer")
		if h.Evidence != evidence || number(h.Inner.Grants) != "400 ms" {
			t.Errorf("%d requests: %s, %s", 2*n, h.Evidence, number(h.Inner.Grants))
		}
	}
}

// A time that int64 does not hold is no advice.
func TestNoTimeoutIsLongerThanAClockTells(t *testing.T) {
	huge := int64(math.MaxInt64 / ms)
	r := world{
		hops:  []hop{{name: "a", n: 5000, ms: huge}, {name: "b", n: 5000, ms: huge / 4}, {name: "outer", n: 5000, ms: huge}, {name: "c", n: 5000, ms: huge / 4}},
		graph: requests(5000, call{"outer", 0, huge / 2, 0}, call{"b", 0, huge / 4, 1}, call{"c", huge / 4, huge / 2, 1}),
	}.advise()
	for _, name := range []string{"a", "outer"} {
		if h := r.hop(name); h.Timeout != nil || h.Evidence != None || h.Reason != tooLong || h.Canary != nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	if r.hop("b").Timeout == nil || r.Total.Budget != nil || r.Total.Reason == "" {
		t.Errorf("%+v", r.Total)
	}
}

// Own work is counted by traces, not by what they stand for.
func TestOwnWorkOfABiasedOrWeightedSampleIsNotKnown(t *testing.T) {
	for _, w := range []world{{biased: true}, {weighted: true}} {
		w.hops = []hop{{name: "outer", n: 5000, ms: 300}, {name: "a", n: 5000, ms: 200}}
		w.graph = requests(5000, call{"outer", 0, 300, 0}, call{"a", 0, 200, 1})
		r := w.advise()
		// Its own limit by weight stands all the same.
		if h := r.hop("outer"); (number(h.Timeout) == "400 ms") != w.weighted || h.Canary != nil || h.Inner.Own != nil || h.Inner.OwnBound != nil || r.Total.Budget != nil {
			t.Errorf("%+v %+v %+v", h, h.Inner, r.Total)
		}
		if h := r.hop("a"); (h.Timeout != nil) != w.weighted {
			t.Errorf("%+v", h)
		}
	}
}

// What is left for a call is not known where the need of another one is not; what is
// left for the other one is.
func TestABudgetIsNotHandedDownBesideWhatIsNotKnown(t *testing.T) {
	s := usual
	s.EntryBudget = 100 * ms
	w := world{
		hops:     []hop{{name: "a", n: 5000, ms: 30}, {name: "b", n: 900, ms: 20, cut: 100, wall: 400}, {name: "c", n: 5000, ms: 20}},
		settings: s, graph: requests(5000, call{"a", 0, 30, 0}, call{"c", 5, 25, 1}, call{"b", 30, 50, 0}),
	}
	for _, biased := range []bool{false, true} {
		w.biased = biased
		a := w.advise().Allocation
		var got []string
		for _, g := range a.Grants {
			got = append(got, fmt.Sprintf("%s needs %s of %s, %s each", g.Name, number(g.Needs), number(g.Limit), number(g.PerTry)))
		}
		want := []string{"a needs 40 ms of null, null each", "c needs 30 ms of null, null each", "b needs null of 60 ms, 60 ms each"}
		if biased {
			want = []string{"a needs null of null, null each", "c needs null of null, null each", "b needs null of null, null each"}
		}
		if d := cmp.Diff(want, got); d != "" || a.Infeasible != nil {
			t.Errorf("%s %+v", d, a.Infeasible)
		}
	}
}

func TestNoShareIsCutWhereNothingIsMarked(t *testing.T) {
	if h := (world{hops: []hop{{name: "a", n: 5000, ms: 300, unmarked: true}}}).advise().hop("a"); h.Cut != nil {
		t.Errorf("%+v", h.Cut)
	}
}

func TestSentencesNameNoMoreThanAFew(t *testing.T) {
	var w world
	var calls []call
	for i := range int64(40) {
		name := fmt.Sprintf("hop %02d", i)
		w.hops = append(w.hops, hop{name: name, n: 9, ms: 1, cut: 9, wall: 5})
		calls = append(calls, call{name, i, i + 1, 0})
	}
	w.graph = requests(3000, calls...)
	r := w.advise()
	if want := "hop 09, 30 more"; !strings.HasSuffix(string(r.Total.Reason), want) || !strings.Contains(r.Steps[1].Do, ", 30 more") {
		t.Errorf("%s; %+v", r.Total.Reason, r.Steps)
	}
}

// A canary of a call that makes calls is longer than today's timeout.
func TestACanaryRaisesTheTimeoutOfACallThatMakesCalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		outer, inner hop
		want         string
	}{
		{"its own work is hidden", hop{n: 900, ms: 30, cut: 100, wall: 300}, hop{n: 5000, ms: 20}, "600 ms"},
		{"so it is with nothing completed", hop{cut: 900, wall: 300}, hop{n: 5000, ms: 20}, "600 ms"},
		{"what it calls is hidden", hop{n: 5000, ms: 30, wall: 300}, hop{n: 900, ms: 20, cut: 100, wall: 200}, "500 ms"},
		{"today's has room", hop{n: 5000, ms: 30, wall: 3000}, hop{n: 900, ms: 20, cut: 100, wall: 200}, "null"},
	} {
		c.outer.name, c.inner.name = "outer", "inner"
		h := world{hops: []hop{c.outer, c.inner}, graph: requests(900, call{"outer", 0, 30, 0}, call{"inner", 5, 25, 1})}.advise().hop("outer")
		got := "null"
		if h.Canary != nil {
			got = number(&h.Canary.RaiseTo)
		}
		if got != c.want || h.Timeout != nil || h.Evidence != NotIdentified {
			t.Errorf("%s: %s, %s", c.name, got, h.Evidence)
		}
	}
}

func TestHowLongTheInputCovers(t *testing.T) {
	for _, c := range []struct {
		calls []call
		want  string
	}{
		{[]call{{"a", 5, 30, 0}, {"b", 5, 25, 1}}, "all attempts start at one moment"},
		{[]call{{"a", 5, 30, 0}, {"b", 6, 25, 1}}, "less than a day"},
		{nil, "not every attempt has a start"},
	} {
		w := world{hops: []hop{{name: "a", n: 9, ms: 1}}, graph: callgraph.NewAccumulator(callgraph.Config{})}
		if len(c.calls) > 0 {
			w.graph = tracesOf(c.calls...)
		}
		if got := fmt.Sprint(w.advise().Warnings); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s", c.calls, got)
		}
	}
}

// tracesOf gives calls to an accumulator that takes the window from them.
func tracesOf(calls ...call) *callgraph.Accumulator {
	w := callgraph.NewAccumulator(callgraph.Config{})
	var list []spans.Span
	for i, c := range calls {
		list = append(list, spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(c.in), Start: c.start * ms, Duration: (c.end - c.start) * ms, Flags: spans.HasStart | spans.HasDuration})
	}
	w.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{{Name: "a"}}, []string{""}))
	return w
}

func TestWhyThereIsNoBudget(t *testing.T) {
	if got := (world{hops: []hop{{name: "a", n: 9, ms: 1}}}).advise().Total.Reason; !strings.Contains(string(got), "--field trace=KEY") {
		t.Error(got)
	}
	if got := (world{hops: []hop{{name: "a", n: 9, ms: 1}}, graph: tracesOf(call{"a", 0, 1, 0})}).advise().Total.Reason; got != "no request shows a call of one hop by another" {
		t.Error(got)
	}
}

// A budget goes down once for each hop, however many ways lead to it.
func TestManyWaysToAHop(t *testing.T) {
	const layers = 48
	w, graph := world{settings: Settings{FalseTimeout: 1e6, Headroom: 100, EntryBudget: math.MaxInt64 / 2}}, callgraph.NewAccumulator(callgraph.Config{})
	name := func(i int64) string { return fmt.Sprintf("hop %02d", i) }
	for i := range int64(layers) {
		w.hops = append(w.hops, hop{name: name(i), n: 5000, ms: 1 + i%3})
		graph.Merge(requests(3000, call{name(i), 0, 30, 0}, call{name(i + 1), 0, 10, 1}, call{name(i + 2), 10, 30, 1}))
	}
	w.graph = graph
	w.hops = append(w.hops, hop{name: name(layers), n: 5000, ms: 1}, hop{name: name(layers + 1), n: 5000, ms: 2})
	a := w.advise().Allocation
	if len(a.Grants) != layers+2 || a.Grants[0].PerTry == nil || a.Grants[0].Name != "hop 00" || a.Grants[layers+1].Name != name(layers+1) {
		t.Errorf("%+v", a.Grants)
	}
}

// How the attempts of a stratum depend on each other is not known: where those of
// all do, its limit is no certificate.
func TestAStratumOfDependentAttemptsIsNotCertified(t *testing.T) {
	completed := new(quantile.Sample)
	completed.AddN(300*ms, 5000)
	target := quantile.MustP("0.999")
	row := hop{name: "a"}.row(completed, target)
	one := quantile.Observed{Completed: quantile.Union{completed}}.Tails([]quantile.P{target}, confidence)
	row.Target.Strata = []buckets.StratumTail{{Name: "raised", Tail: one.Tails[0]}}
	a := &adviser{Query: Query{Settings: usual, Target: target, Confidence: confidence}}
	for effect, want := range map[depend.Effect]Evidence{{}: Certified, {Hundredths: 400}: Identified} {
		row.Target.Tail.Effect = effect
		if s := a.strata(&row)[0]; s.Evidence != want || number(s.Timeout) != "400 ms" {
			t.Errorf("%+v: %+v", effect, s)
		}
	}
}

func TestFailuresTakeTheCertificateOfTheQuantilesThatTheyTouch(t *testing.T) {
	for _, c := range []struct {
		share    float64
		evidence Evidence
	}{{0, Certified}, {.0009, Certified}, {.001, Identified}, {.2, Identified}} {
		h := (world{hops: []hop{{name: "a", n: 5000, ms: 300, wall: 1000, failed: c.share}}}).advise().hop("a")
		if h.Evidence != c.evidence || number(h.Timeout) != "400 ms" || h.SafeToLower != (c.evidence == Certified) {
			t.Errorf("%v failed: %s, %s: %s", c.share, h.Evidence, number(h.Timeout), h.Reason)
		}
		if touched := c.evidence == Identified; strings.Contains(h.Reason, "of those that did not fail") != touched {
			t.Errorf("%v failed: %s", c.share, h.Reason)
		}
	}
}
