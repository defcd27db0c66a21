package timeouts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

func number(ns *int64) string {
	if ns == nil {
		return "null"
	}
	return fmt.Sprintf("%g ms", float64(*ns)/1e6)
}

func TestEvidenceOfALeaf(t *testing.T) {
	value, longer := 1500*ms, 2200*ms
	for _, c := range []struct {
		name     string
		hop      hop
		evidence Evidence
		timeout  string
		canary   string
		reason   string
	}{
		{"certified from 2995 on", hop{n: 2995, ms: 300}, Certified, "400 ms", "", "at most 300 ms at 95 % confidence (n = 2995)"},
		{"too few below", hop{n: 2994, ms: 300}, TooFew, "null", "", "2994 first attempts: too few for p99.9, which takes 2995; of the slowest, 300 ms, comes a timeout of 400 ms, by which at most 0.1 % are needlessly timed out (95 %)"},
		{"so few allow little", hop{n: 200, ms: 300}, TooFew, "null", "", "by which at most 1.49 % are needlessly timed out"},
		{"one attempt is no advice", hop{n: 1, ms: 71}, TooFew, "null", "", "1 first attempt: too few for p99.9, which takes 2995; of the slowest, 71 ms, comes a timeout of 100 ms, by which at most 95 % are needlessly timed out"},
		{"within two steps of the clock", hop{n: 5000, ms: 1, clock: 1000}, None, "null", "", "p99.9 lies within two steps of the clock, which are of 1 s"},
		{"certified beside few cuts", hop{n: 10_000, ms: 300, cut: 1, wall: 500}, Certified, "400 ms", "", ""},
		{"exact, but the limit lies among the cuts", hop{n: 10_000, ms: 300, cut: 9, wall: 500}, Identified, "400 ms", "", "p99.9 is 300 ms of 10009 first attempts; cut"},
		{"a suspected timeout takes the certificate away", hop{n: 5000, ms: 300, warnings: []string{"suspected_unmarked_wall"}}, NotIdentified, "null", "400 ms", "p99.9 is not known: suspected_unmarked_wall"},
		{"hidden by the wall", hop{n: 900, ms: 300, cut: 100, wall: 500}, NotIdentified, "null", "1000 ms", "hidden by today's timeout"},
		{"the servers tell more", hop{n: 900, ms: 300, cut: 100, wall: 500, servers: &buckets.ServerSide{Value: &value, Coverage: buckets.Coverage{N: 95, Of: 100}}}, NotIdentified, "null", "2000 ms", ""},
		{"a canary raises the timeout", hop{n: 900, ms: 300, cut: 100, wall: 2000, servers: &buckets.ServerSide{Value: &value, Coverage: buckets.Coverage{N: 95, Of: 100}}}, NotIdentified, "null", "4000 ms", ""},
		{"too few servers tell nothing", hop{n: 900, ms: 300, cut: 100, wall: 500, servers: &buckets.ServerSide{Value: &value, Coverage: buckets.Coverage{N: 94, Of: 100}}}, NotIdentified, "null", "1000 ms", ""},
		{"models say how far to raise it", hop{n: 900, ms: 300, cut: 100, wall: 500, estimate: 1400}, NotIdentified, "null", "2000 ms", ""},
		{"servers come before models", hop{n: 900, ms: 300, cut: 100, wall: 500, estimate: 1400, servers: &buckets.ServerSide{Value: &longer, Coverage: buckets.Coverage{N: 95, Of: 100}}}, NotIdentified, "null", "3000 ms", ""},
		{"a guess within today's timeout is no canary", hop{n: 900, ms: 300, cut: 100, wall: 500, estimate: 310}, NotIdentified, "null", "1000 ms", ""},
		{"nothing completed", hop{n: 0, cut: 100, wall: 500}, NotIdentified, "null", "1000 ms", ""},
		{"nothing completed, under a timeout that is not known", hop{n: 0, cut: 100, loose: 500}, NotIdentified, "null", "1000 ms", ""},
		{"cut within a step of the clock", hop{n: 900, ms: 0, cut: 100, loose: 0, clock: 1000}, NotIdentified, "null", "2000 ms", ""},
		{"no attempts", hop{}, None, "null", "", ""},
		{"no marks", hop{n: 5000, ms: 300, unmarked: true}, None, "null", "", "--field truncated=KEY"},
		{"no timeout below the floor", hop{n: 5000, ms: 0}, Certified, "10 ms", "", ""},
		{"the allowance counts for short calls", hop{n: 5000, ms: 3}, Certified, "15 ms", "", ""},
	} {
		c.hop.name = "a"
		h := world{hops: []hop{c.hop}}.advise().hop("a")
		raise := ""
		if h.Canary != nil {
			raise = number(&h.Canary.RaiseTo)
		}
		if h.Evidence != c.evidence || number(h.Timeout) != c.timeout || raise != c.canary || !strings.Contains(h.Reason, c.reason) {
			t.Errorf("%s: %s, %s, canary %s: %s", c.name, h.Evidence, number(h.Timeout), raise, h.Reason)
		}
	}
}

func TestWhatTooFewAllowIsATimeoutWhereItIsAskedFor(t *testing.T) {
	s := usual
	s.Allowed = true
	few := world{hops: []hop{{name: "a", n: 500, ms: 812}}, settings: s}.advise().hop("a")
	if number(few.Timeout) != "1200 ms" || few.Evidence != TooFew || few.Allows.FalseTimeout > .006 || few.SafeToLower {
		t.Errorf("%s, %+v", number(few.Timeout), few)
	}
	if h := (world{hops: []hop{{name: "a", n: 5000, ms: 812}}, settings: s}).advise().hop("a"); h.Evidence != Certified || h.Allows != nil {
		t.Errorf("%+v", h)
	}
}

func TestWhatTooFewAllowSaysWhatItCuts(t *testing.T) {
	h := (world{hops: []hop{{name: "a", n: 1500, ms: 812}}}).advise().hop("a")
	if h.Timeout != nil || h.Under == nil || h.Under.N != 0 || h.Under.Of != 1500 || h.Under.Upper < .00199 || h.Under.Upper > .002 {
		t.Errorf("%s, %+v", number(h.Timeout), h.Under)
	}
}

func TestACertificateIsOfTheDaysSeen(t *testing.T) {
	for days, want := range map[int64]string{0: "(n = 5000)", 1: "(n = 5000, 1 day seen)", 3: "(n = 5000, 3 days seen)"} {
		w := world{hops: []hop{{name: "a", n: 5000, ms: 300}}, graph: tracesOf(call{"a", 0, 1, 0}, call{"a", days*24*3600_000 + 1, days*24*3600_000 + 2, 0})}
		if h := w.advise().hop("a"); !strings.HasSuffix(h.Reason, want) {
			t.Errorf("%d days: %s", days, h.Reason)
		}
	}
}

func TestWhatIsMissingForACertificateIsCounted(t *testing.T) {
	for n, want := range map[int]uint64{2995: 0, 2994: 1, 200: 2795} {
		if h := (world{hops: []hop{{name: "a", n: n, ms: 300}}}).advise().hop("a"); h.Missing != want {
			t.Errorf("of %d: %d", n, h.Missing)
		}
	}
}

func TestABiasedSampleGivesNoTimeout(t *testing.T) {
	r := world{hops: []hop{{name: "a", n: 5000, ms: 300}}, graph: requests(5000, call{name: "a", end: 300}), biased: true}.advise()
	if h := r.hop("a"); h.Evidence != None || h.Timeout != nil || r.Total.Budget != nil {
		t.Errorf("%+v %+v", h, r.Total)
	}
}

func TestOnlyWhatACallerSetsHasATimeout(t *testing.T) {
	for kind, listed := range map[spans.Kind]int{spans.NoKind: 1, spans.Client: 1, spans.Server: 0, spans.Internal: 0, spans.Producer: 0, spans.Consumer: 0} {
		row := hop{name: "x", n: 10, ms: 1}.row(new(quantile.Sample), quantile.MustP("0.999"))
		row.Kind = kind
		if got := setByCaller(&row); got != (listed == 1) {
			t.Errorf("kind %q: %v", kind, got)
		}
	}
}

func TestThreeHopsInARowAreGivenTwentySevenSeconds(t *testing.T) {
	s := usual
	s.Allowance = 1000 * ms
	w := world{
		hops:     []hop{{name: "forward", n: 4000, ms: 300}, {name: "generate", n: 4000, ms: 9000}, {name: "retrieve", n: 4000, ms: 400}},
		settings: s, graph: requests(4000, call{"forward", 0, 300, 0}, call{"retrieve", 300, 700, 0}, call{"generate", 700, 9700, 0}),
	}
	r := w.advise()
	if a, b, c := number(r.hop("forward").Timeout), number(r.hop("retrieve").Timeout), number(r.hop("generate").Timeout); a+b+c != "1500 ms1500 ms12000 ms" {
		t.Errorf("%s, %s, %s", a, b, c)
	}
	want := []Part{{"forward", 1500 * ms}, {"generate", 12_000 * ms}, {"retrieve", 1500 * ms}, {"one retry of generate", 12_000 * ms}}
	if d := cmp.Diff(want, []Part(r.Total.Parts)); d != "" || number(r.Total.Budget) != "27000 ms" || *r.Total.Effective != 1 {
		t.Errorf("%s: %s", number(r.Total.Budget), d)
	}
	for code, want := range map[string]bool{"close_to_median": true} {
		if got := strings.Contains(fmt.Sprint(r.hop("generate").Warnings), code); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

func TestARequestForAWholeShareOfRequestsNeedsMoreOfEachCall(t *testing.T) {
	s := usual
	s.PerRequest = true
	g := requests(5000, call{"a", 0, 1, 0}, call{"b", 1, 2, 0}, call{"c", 2, 3, 0})
	if got := s.Target(g.Graph()).String(); got != "0.999666667" {
		t.Error(got)
	}
	if got := usual.Target(g.Graph()).String(); got != "0.999" {
		t.Error(got)
	}
	if got := s.Target(nil).String(); got != "0.999" {
		t.Error(got)
	}
}

// The tree of the article: an entry of 1000 ms, 950 for A, and 400, 200 and 100 below
// it.
func articleTree() world {
	return world{
		hops: []hop{
			{name: "call A", n: 5000, ms: 560}, {name: "call B", n: 5000, ms: 270}, {name: "call C", n: 5000, ms: 130}, {name: "call db", n: 5000, ms: 70},
		},
		graph: requests(5000, call{"gateway", 0, 597, 0}, call{"call A", 37, 597, 1}, call{"call B", 200, 470, 2}, call{"call C", 300, 430, 3}, call{"call db", 340, 410, 4}),
	}
}

func TestInnerCallsAreGivenTheirOwnWorkAndWhatTheyGrant(t *testing.T) {
	r := articleTree().advise()
	for _, c := range []struct{ hop, own, grants, timeout string }{
		{"call db", "", "", "100 ms"}, // 1.33 × 70 = 93.1
		{"call C", "79.8 ms", "100 ms", "200 ms"},
		{"call B", "186.2 ms", "200 ms", "400 ms"},
		{"call A", "385.7 ms", "400 ms", "800 ms"},
	} {
		h := r.hop(c.hop)
		if c.own == "" && h.Inner != nil || c.own != "" && (number(h.Inner.Own) != c.own || number(h.Inner.Grants) != c.grants) || number(h.Timeout) != c.timeout || h.Evidence != Certified {
			t.Errorf("%s: %s, %+v, %s", c.hop, number(h.Timeout), h.Inner, h.Evidence)
		}
	}
	if h := r.hop("call A"); h.Reason != "it calls others: at most 290 ms of its own work and 270 ms of its calls in a row, with headroom once for all" || number(h.Bound) != "560 ms" {
		t.Error(h.Reason, number(h.Bound))
	}
}

func TestAnEntryBudgetIsHandedDown(t *testing.T) {
	w := articleTree()
	w.settings = usual
	w.settings.EntryBudget = 1000 * ms
	a := w.advise().Allocation
	var got []string
	for _, g := range a.Grants {
		got = append(got, fmt.Sprintf("%s needs %s of %s", g.Name, number(g.Needs), number(g.Limit)))
	}
	// Gateway: a line of the log, of which the advice knows no row: 37 ms of its own with
	// headroom. 597 ms in all make 800. Of what a call has its own work at most is taken off:
	// 950.79 - 290, - 140, - 60.
	want := []string{
		"gateway needs 800 ms of 1000 ms", "call A needs 800 ms of 950.79 ms", "call B needs 400 ms of 660.79 ms", "call C needs 200 ms of 520.79 ms", "call db needs 100 ms of 460.79 ms",
	}
	if d := cmp.Diff(want, got); d != "" || a.Infeasible != nil {
		t.Errorf("%s %+v", d, a.Infeasible)
	}
}

func TestTheHopThatMakesABudgetInfeasibleIsNamed(t *testing.T) {
	for budget, want := range map[int64]string{
		1000: "", 800: "", 799: "call A 385.7 of 384.7", 790: "call A 385.7 of 375.7", 45: "call A 385.7 of 0",
	} {
		w := articleTree()
		w.settings = usual
		w.settings.EntryBudget = budget * ms
		got := ""
		if s := w.advise().Allocation.Infeasible; s != nil {
			got = fmt.Sprintf("%s %g of %g", s.Name, float64(s.Needs)/1e6, float64(s.Has)/1e6)
		}
		if got != want {
			t.Errorf("%d ms: %q, want %q", budget, got, want)
		}
	}
}

func TestFiveSecondsAndThreeRetriesLeaveAQuarterEach(t *testing.T) {
	for _, c := range []struct {
		backoff, want int64
	}{{0, 1250}, {100, 1175}} {
		s := usual
		s.EntryBudget = 5000 * ms
		r := world{hops: []hop{{name: "a", n: 5000, ms: 700, retries: 3, backoff: c.backoff}}, settings: s, graph: requests(5000, call{"a", 0, 700, 0})}.advise()
		if g := r.Allocation.Grants[0]; *g.PerTry != c.want*ms || g.Tries != 3 {
			t.Errorf("%+v", g)
		}
	}
}

func TestRetriesAreCountedOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		hops  []hop
		calls []call
		parts []Part
		fits  uint64
	}{
		{"of the call with the longest ones", // 133 -> 150 and 266 -> 300; 2 × 300 + 2 × 20
			[]hop{{name: "a", n: 5000, ms: 100, retries: 1}, {name: "b", n: 5000, ms: 200, retries: 2, backoff: 20}},
			[]call{{"a", 0, 100, 0}, {"b", 100, 300, 0}},
			[]Part{{"a", 150 * ms}, {"b", 300 * ms}, {"2 retries of b", 640 * ms}}, 2},
		{"those inside a call are its own", // a: 100 + 200 -> 400, and with b's 2 × 300: 1000
			[]hop{{name: "a", n: 2000, ms: 300, cut: 1, wall: 2000}, {name: "b", n: 5000, ms: 200, retries: 2}},
			[]call{{"a", 0, 300, 0}, {"b", 50, 250, 1}},
			[]Part{{"a", 400 * ms}, {"2 retries of b", 600 * ms}}, 2},
		{"of two layers the outer one counts", // a: 100 + 200 -> 400
			[]hop{{name: "a", n: 5000, ms: 300, retries: 1}, {name: "b", n: 5000, ms: 200, retries: 2}},
			[]call{{"a", 0, 300, 0}, {"b", 50, 250, 1}},
			[]Part{{"a", 400 * ms}, {"one retry of a", 400 * ms}}, 1},
		{"calls side by side take as long as the longest",
			[]hop{{name: "a", n: 5000, ms: 100}, {name: "b", n: 5000, ms: 200}},
			[]call{{"a", 0, 100, 0}, {"b", 0, 200, 0}},
			[]Part{{"b, side by side with a", 300 * ms}, {"one retry of b", 300 * ms}}, 1},
		{"time between calls counts",
			[]hop{{name: "a", n: 5000, ms: 100}, {name: "b", n: 5000, ms: 200}},
			[]call{{"a", 0, 100, 0}, {"b", 107, 307, 0}},
			[]Part{{"between calls", 7 * ms}, {"a", 150 * ms}, {"b", 300 * ms}, {"one retry of b", 300 * ms}}, 1},
	} {
		r := world{hops: c.hops, graph: requests(5000, c.calls...)}.advise()
		if d := cmp.Diff(c.parts, []Part(r.Total.Parts)); d != "" || r.Total.Effective == nil || *r.Total.Effective != c.fits {
			t.Errorf("%s: %s %+v", c.name, d, r.Total)
		}
	}
}

// What a caller was seen to take, its retries among it, bounds it where its parts, each at
// its most, come to more: then no retry is reserved, nor where none was seen.
func TestAMeasuredCallerNeedsNoMoreThanItsOwnLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 6000
	graph := callgraph.NewAccumulator(callgraph.Config{})
	durations := map[string]*quantile.Sample{"gateway": {}, "a": {}, "b": {}, "c": {}}
	var all []float64
	for range n {
		list, at := []call{{name: "gateway"}}, int64(1)
		for _, name := range []string{"a", "b", "c"} {
			took := int64(30 * math.Exp(.9*r.NormFloat64()))
			list = append(list, call{name, at, at + took, 1})
			durations[name].Add(took * ms)
			at += took
		}
		list[0].end = at + 1
		durations["gateway"].Add(list[0].end * ms)
		all = append(all, float64(list[0].end))
		graph.Merge(requests(1, list...))
	}
	w := world{graph: graph, settings: usual}
	w.settings.Headroom = 150
	g := graph.Graph()
	q := Query{Settings: w.settings, Target: quantile.MustP("0.999"), Confidence: confidence, Graph: g, Retries: &retries.Result{}}
	for name, took := range durations {
		q.Hops = append(q.Hops, rowOf(hop{name: name}, quantile.Observed{Completed: quantile.Union{took}}, q.Target))
	}
	result := Advise(q)
	gateway, parts := result.hop("gateway"), int64(0)
	for _, name := range []string{"a", "b", "c"} {
		parts += *result.hop(name).Timeout
	}
	slices.Sort(all)
	truth := int64(all[n*999/1000]) * ms
	if *gateway.Timeout < truth || *gateway.Timeout > 3*truth || *gateway.Timeout*3 > parts*2 || gateway.Evidence != Certified {
		t.Errorf("gateway %s, its parts %d ms, p99.9 %d ms: %s", number(gateway.Timeout), parts/ms, truth/ms, gateway.Reason)
	}
	if !strings.Contains(gateway.Reason, "its own p99.9 is at most") || *result.Total.Budget != *gateway.Timeout || result.Total.Effective != nil {
		t.Errorf("%s; %+v", gateway.Reason, result.Total)
	}
}

func TestWhatIsNotKnownBelowIsNotKnownAbove(t *testing.T) {
	r := world{
		hops:  []hop{{name: "orders", n: 5000, ms: 30, cut: 0}, {name: "stock", n: 900, ms: 20, cut: 100, wall: 400}},
		graph: requests(5000, call{"orders", 0, 30, 0}, call{"stock", 5, 25, 1}),
	}.advise()
	h := r.hop("orders")
	// Its own 10 ms and 10 more; stock's canary is 800 ms.
	if h.Evidence != NotIdentified || h.Timeout != nil || h.Canary == nil || h.Canary.RaiseTo != 1000*ms || h.Inner.Grants != nil || number(h.Inner.Own) != "20 ms" {
		t.Errorf("%+v %+v %+v", h, h.Inner, h.Canary)
	}
	if r.Total.Budget != nil || r.Total.Reason != "not known without orders" {
		t.Errorf("%+v", r.Total)
	}
	if len(r.Steps) != 3 || !strings.Contains(r.Steps[1].Do, "orders to 1 s for 2995 first attempts, stock to 800 ms") {
		t.Errorf("%+v", r.Steps)
	}
}

func TestCutCallsMakeOwnWorkUnknown(t *testing.T) {
	r := world{
		hops:  []hop{{name: "orders", n: 900, ms: 30, cut: 100, wall: 300}, {name: "stock", n: 5000, ms: 20}},
		graph: requests(900, call{"orders", 0, 30, 0}, call{"stock", 5, 25, 1}),
	}.advise()
	if h := r.hop("orders"); h.Timeout != nil || h.Inner.Evidence != NotIdentified || h.Inner.Own != nil || number(h.Inner.Grants) != "30 ms" {
		t.Errorf("%+v", h.Inner)
	}
}

func TestInvertedTimeoutsAreNamed(t *testing.T) {
	for _, c := range []struct {
		outer, inner int64
		want         string
	}{{300, 400, "orders waits 300 ms for a call that gives stock 400 ms"}, {400, 400, "orders waits 400 ms for a call that gives stock 400 ms"}, {500, 400, ""}, {0, 400, ""}} {
		r := world{
			hops:  []hop{{name: "orders", n: 5000, ms: 30, wall: c.outer}, {name: "stock", n: 900, ms: 20, wall: c.inner}},
			graph: requests(5000, call{"orders", 0, 30, 0}, call{"stock", 5, 25, 1}),
		}.advise()
		got := ""
		for _, w := range r.Warnings {
			if w.Code == "timeouts_inverted" {
				_, got, _ = strings.Cut(w.Text, ": ")
			}
		}
		if got != c.want || (len(r.Inversions) == 1) != (c.want != "") {
			t.Errorf("%d over %d: %q", c.outer, c.inner, got)
		}
	}
}

func TestHopsThatSeemToCallEachOther(t *testing.T) {
	w := requests(5000, call{"a", 0, 30, 0}, call{"b", 5, 25, 1})
	w.Merge(requests(5000, call{"b", 0, 30, 0}, call{"a", 5, 25, 1}))
	r := world{hops: []hop{{name: "a", n: 5000, ms: 30}, {name: "b", n: 5000, ms: 30}}, graph: w}.advise()
	if r.hop("a").Inner != nil || r.hop("b").Inner != nil || !strings.Contains(fmt.Sprint(r.Warnings), "a and b each seem to call the other") {
		t.Errorf("%+v", r)
	}
	w = requests(5000, call{"a", 0, 30, 0}, call{"b", 5, 25, 1})
	w.Merge(requests(60, call{"b", 0, 30, 0}, call{"a", 5, 25, 1}))
	if r = (world{hops: []hop{{name: "a", n: 5000, ms: 30}, {name: "b", n: 5000, ms: 30}}, graph: w}).advise(); r.hop("a").Inner == nil || r.hop("b").Inner != nil {
		t.Errorf("%+v", r)
	}
	// A circle of three is no way to hang.
	w = requests(5000, call{"a", 0, 30, 0}, call{"b", 5, 25, 1})
	w.Merge(requests(5000, call{"b", 0, 30, 0}, call{"c", 5, 25, 1}))
	w.Merge(requests(5000, call{"c", 0, 30, 0}, call{"a", 5, 25, 1}))
	s := usual
	s.EntryBudget = 1000 * ms
	r = world{hops: []hop{{name: "a", n: 5000, ms: 30}, {name: "b", n: 5000, ms: 30}, {name: "c", n: 5000, ms: 30}}, graph: w, settings: s}.advise()
	if r.hop("a").Timeout != nil || r.Total.Budget != nil || !strings.Contains(fmt.Sprint(r.Warnings), "calls go round in a circle through a:") {
		t.Errorf("%+v", r)
	}
}

func TestLoweringIsSafeOnlyWithACertificate(t *testing.T) {
	for _, c := range []struct {
		hop    hop
		change Change
		safe   bool
	}{
		{hop{n: 5000, ms: 300, wall: 5000}, Lower, true},
		{hop{n: 5000, ms: 300, cut: 3, wall: 5000}, Lower, false},
		{hop{n: 5000, ms: 300, wall: 400}, Keep, false},
		{hop{n: 5000, ms: 300, wall: 350}, Raise, false},
		{hop{n: 5000, ms: 300}, "", false},
	} {
		c.hop.name = "a"
		if h := (world{hops: []hop{c.hop}}).advise().hop("a"); h.Change != c.change || h.SafeToLower != c.safe || h.Timeout == nil {
			t.Errorf("%+v: %s %v", c.hop, h.Change, h.SafeToLower)
		}
	}
}

func TestWhatWouldBeCutCountsWhatIsCutToday(t *testing.T) {
	h := world{hops: []hop{{name: "a", n: 10_000, ms: 300, cut: 4, wall: 500}}}.advise().hop("a")
	if h.Under == nil || h.Under.N != 4 || h.Under.Of != 10_004 {
		t.Errorf("%+v", h.Under)
	}
}

// A certified bound lies below the true quantile in no more than one world of
// twenty, and where the wall hides the quantile there is no number.
func TestCertifiedAdviceCutsNoMoreThanItMay(t *testing.T) {
	const worlds = 250
	target := quantile.MustP("0.99")
	for _, s := range systems {
		bad, certified, short := 0, 0, 0
		r := rand.New(rand.NewPCG(11, 17))
		for range worlds {
			completed, cut := new(quantile.Sample), new(quantile.Sample)
			wall := int64([]float64{0.3, 1, 3, 10}[r.IntN(4)] * 200e6)
			for range 600 {
				if ns := int64(s.draw(r)); ns < wall {
					completed.Add(ns)
				} else {
					cut.Add(wall)
				}
			}
			row := rowOf(hop{name: "a", wall: wall / ms}, quantile.Observed{Completed: quantile.Union{completed}, CutAt: quantile.Union{cut}}, target)
			st := usual
			st.FalseTimeout = 1e7
			a := &adviser{Query: Query{Settings: st, Target: target, Confidence: confidence}}
			evidence, bound := a.evidenceOf(&row)
			if bound != nil && *bound > wall {
				t.Errorf("%s: a bound of %d above the wall at %d", s.name, *bound, wall)
			}
			if evidence != Certified {
				continue
			}
			certified++
			if s.survival(float64(*bound)) > .01 {
				bad++
			}
			if s.survival(float64(st.from(*bound))) > .01 {
				short++
			}
		}
		if certified < worlds/10 || bad*20 > certified+certified/2 || short > bad {
			t.Errorf("%s: %d of %d certified bounds too short, %d timeouts", s.name, bad, certified, short)
		}
	}
}

// Attempts that come together are worth fewer: that is why there is no limit, and not
// a cut where nothing was cut.
func TestMissingOfDependentAttempts(t *testing.T) {
	for _, c := range []struct {
		n, effective uint64
		want         string
	}{
		{3100, 1143, "an upper limit takes an n_eff of 2995, and theirs is 1143"},
		{2994, 0, "an upper limit takes 2995, 1 more"},
		{10_000, 5000, "cut"},
	} {
		a := &adviser{Query: Query{Confidence: confidence}}
		target := &buckets.Target{Tail: buckets.Tail{Tail: quantile.Tail{P: quantile.MustP("0.999"), N: c.n, Effective: c.effective}, Reason: "cut"}}
		got := a.uncertified(&buckets.Result{Target: target})
		if got != c.want {
			t.Errorf("%d worth %d: %q, want %q", c.n, c.effective, got, c.want)
		}
	}
}

// The roll-out asks for independent attempts where today's come together.
func TestCanaryStepOfDependentAttempts(t *testing.T) {
	for _, c := range []struct {
		effect depend.Effect
		want   string
	}{
		{depend.Effect{Hundredths: 400}, "raise a to 1 s for 2995 independent first attempts (today's are not)"},
		{depend.Effect{Hundredths: 100}, "raise a to 1 s for 2995 first attempts"},
	} {
		steps := world{hops: []hop{{name: "a", n: 900, ms: 300, cut: 100, wall: 500, effect: c.effect}}}.advise().Steps
		if got := steps[1].Do; !strings.HasSuffix(got, c.want) {
			t.Errorf("effect %v: %q, want %q at its end", c.effect.Float(), got, c.want)
		}
	}
}
