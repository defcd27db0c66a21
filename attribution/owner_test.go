package attribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// runs is how often each case is simulated.
var runs = map[bool]int{false: 100, true: 20}[raceDetector]

// run makes n requests that call some hops one after the other. One in ten is
// slow: what it takes longer is shared out among the hops by their weights, with
// some chance in it.
func run(r *rand.Rand, n int, weights []float64) *Accumulator {
	w := NewAccumulator()
	for i := range n {
		extra := 0.0
		if r.Float64() < .1 {
			extra = 400_000 * math.Exp(.5*r.NormFloat64())
		}
		var parts []float64
		sum := 0.0
		for _, weight := range weights {
			parts = append(parts, weight*math.Exp(.4*r.NormFloat64()))
			sum += parts[len(parts)-1]
		}
		list := []testSpan{{id: 1, hop: "root"}}
		at := 0
		for k := range weights {
			took := int(20_000*math.Exp(.5*r.NormFloat64()) + extra*parts[k]/sum)
			list = append(list, testSpan{id: k + 2, parent: 1, start: at, end: at + took, hop: fmt.Sprint("hop-", k)})
			at += took
		}
		list[0].end = at + 500
		w.AddTrace(traceOf(i+1, list...))
	}
	return w
}

func TestAKnownOwnerIsFound(t *testing.T) {
	weights := []float64{.08, .78, .08, .06}
	r := rand.New(rand.NewPCG(1, 2))
	truth := run(r, 20_000, weights).Result(usual)
	if share := *shareOf(truth, "hop-1"); share < .7 || share > .8 {
		t.Fatalf("the true share is %v: the case should be a hard one above 0.7", share)
	}
	right := 0
	for range runs {
		if o := run(r, 500, weights).Result(usual).Owner; o != nil && o.Name == "hop-1" {
			right++
		}
	}
	if right*100 < 95*runs {
		t.Errorf("the owner was found in %d of %d runs", right, runs)
	}
}

func TestWhereAllHopsSlowDownAlikeThereIsNoOwner(t *testing.T) {
	for _, hops := range []int{2, 4} {
		r := rand.New(rand.NewPCG(3, uint64(hops)))
		named := 0
		for range runs {
			if run(r, 500, slices.Repeat([]float64{1}, hops)).Result(usual).Owner != nil {
				named++
			}
		}
		if named*100 > 5*runs {
			t.Errorf("%d hops: an owner was named in %d of %d runs", hops, named, runs)
		}
	}
}

func shareOf(r Result, hop string) *float64 {
	for _, h := range r.Hops {
		if h.Name == hop {
			return h.Share
		}
	}
	return nil
}

// fastAndSlow adds traces of about 1 ms in a hop, the later ones of 50, no two
// alike, and 10 µs in the root.
func fastAndSlow(w *Accumulator, fast, slow int, hop string, host func(i int) string) {
	for i := range fast + slow {
		took := 1000 + i
		if i >= fast {
			took += 50_000
		}
		name := ""
		if host != nil {
			name = host(i)
		}
		w.AddTrace(traceOf(i+1, testSpan{id: 1, end: took + 10, hop: "root"}, testSpan{id: 2, parent: 1, start: 5, end: took + 5, hop: hop, host: name}))
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name     string
		fill     func(w *Accumulator)
		owner    string
		verdict  string
		warnings string
	}{
		{"an owner", func(w *Accumulator) { fastAndSlow(w, 480, 25, "a", nil) }, "a", "a (internal): 100 % of the tail's excess (95 % interval ", ""},
		{"few tail traces", func(w *Accumulator) { fastAndSlow(w, 95, 5, "a", nil) }, "a", "a (internal): ", "few_tail_traces"},
		{"19 tail traces", func(w *Accumulator) { fastAndSlow(w, 342, 18, "a", nil) }, "a", "a (internal): ", "few_tail_traces"},
		{"20 tail traces", func(w *Accumulator) { fastAndSlow(w, 380, 20, "a", nil) }, "a", "a (internal): ", ""},
		{"two tail traces", func(w *Accumulator) { fastAndSlow(w, 19, 1, "a", nil) }, "", "no owner: too few, 2 tail and 10 typical traces where 3 and 10 are needed", ""},
		{"nothing", func(*Accumulator) {}, "", "no owner: no trace and no chain has a time from end to end", ""},
		{"one hop", func(w *Accumulator) { fastAndSlow(w, 480, 25, "root", nil) }, "", "one hop only: the chain's time cannot be attributed", ""},
		{"all alike", func(w *Accumulator) {
			for i := range 100 {
				w.AddTrace(traceOf(i+1, testSpan{id: 1, end: 100, hop: "root"}, testSpan{id: 2, parent: 1, start: 5, end: 20, hop: "a"}))
			}
		}, "", "no owner: the tail takes no longer than typical traces (means 100 µs and 100 µs)", ""},
		{"one of two hops has all the time", func(w *Accumulator) {
			for i := range 100 {
				end := 100 + i/90*1000
				w.AddTrace(traceOf(i+1, testSpan{id: 1, end: end, hop: "root"}, testSpan{id: 2, parent: 1, end: end, hop: "a"}))
			}
		}, "a", "a (internal): 100 % of the tail's excess (95 % interval ", "few_tail_traces"},
		{"two hops, one of which nobody waits for", func(w *Accumulator) {
			for i := range 500 {
				w.AddTrace(traceOf(i+1, testSpan{id: 1, end: 100 + i/450*1000, hop: "root"}, testSpan{id: 2, parent: 1, start: 5, end: 20, hop: "a", ties: spans.Async}))
			}
		}, "root", "root (internal): 100 % of the tail's excess (95 % interval ", ""},
		{"one slow trace in a tail of many", func(w *Accumulator) {
			for i := range 100 {
				w.AddTrace(traceOf(i+1, testSpan{id: 1, end: 100 + i/99, hop: "root"}, testSpan{id: 2, parent: 1, start: 5, end: 20, hop: "a"}))
			}
		}, "", "no owner: the tail is not surely slower than typical traces", ""},
	} {
		w := NewAccumulator()
		c.fill(w)
		r := w.Result(usual)
		owner := ""
		if r.Owner != nil {
			owner = r.Owner.Name
		}
		if owner != c.owner || !strings.HasPrefix(r.Verdict, c.verdict) {
			t.Errorf("%s: owner %q, verdict %q", c.name, owner, r.Verdict)
		}
		if got := strings.Join(codes(r.Warnings), " "); got != c.warnings {
			t.Errorf("%s: warnings %q", c.name, got)
		}
	}
}

func TestGapsDoNotOwn(t *testing.T) {
	var lines []testLine
	for i := range 200 {
		wait := 0
		if i >= 180 {
			wait = 9000
		}
		lines = append(lines, linesOf(fmt.Sprint("c-", i), "a 0-100 cut", fmt.Sprintf("a %d-%d", 100+wait, 200+wait+i%5), "b 10-20")...)
	}
	r := logOf(t, lines...).Result(usual)
	if r.Owner != nil || !strings.HasPrefix(r.Verdict, "no owner: the gaps between attempts come first") {
		t.Errorf("owner %v, verdict %q", r.Owner, r.Verdict)
	}
}

func TestATraceThatFailsBelongsToTheTailHoweverFast(t *testing.T) {
	w := NewAccumulator()
	fastAndSlow(w, 95, 5, "a", nil)
	w.AddTrace(traceOf(1000, testSpan{id: 1, end: 20, hop: "root", outcome: failed}, testSpan{id: 2, parent: 1, start: 1, end: 19, hop: "b"}))
	r := w.Result(usual)
	if r.Tail.Traces != 7 || r.Body.Traces != 50 || r.Failures.N != 1 {
		t.Errorf("tail %d, body %d, failures %d", r.Tail.Traces, r.Body.Traces, r.Failures.N)
	}
	for _, h := range r.Hops {
		if h.Name == "b" && (h.LargestIn != 1 || len(h.Exemplars) != 1 || h.Exemplars[0] != spans.TraceID{Lo: 1000}.String()) {
			t.Errorf("b is the largest in %d, exemplars %v", h.LargestIn, h.Exemplars)
		}
	}
}

func TestExemplarsAreTheLongest(t *testing.T) {
	w := NewAccumulator()
	fastAndSlow(w, 480, 25, "a", nil)
	for _, h := range w.Result(usual).Hops {
		want := []string{spans.TraceID{Lo: 505}.String(), spans.TraceID{Lo: 504}.String(), spans.TraceID{Lo: 503}.String()}
		if h.Name == "a" && !slices.Equal(h.Exemplars, want) || h.Name == "root" && h.Exemplars != nil {
			t.Errorf("%s: %v", h.Name, h.Exemplars)
		}
	}
}

func TestSlowNodeOrSlowService(t *testing.T) {
	spread := func(i int) string { return fmt.Sprint("n", i%4) }
	for _, c := range []struct {
		name string
		host func(i int) string
		want InstanceVerdict
		n    int
	}{
		{"one of four nodes", func(i int) string {
			if i >= 480 {
				return "n3"
			}
			return spread(i)
		}, SlowNode, 1},
		{"all nodes", spread, SlowService, 4},
		{"the only node", func(int) string { return "n0" }, OneInstance, 1},
		{"most is always there", func(i int) string {
			if i%10 > 0 || i >= 480 {
				return "n3"
			}
			return "n0"
		}, SlowService, 1},
		{"nothing is known", nil, "", 0},
	} {
		w := NewAccumulator()
		fastAndSlow(w, 480, 26, "a", c.host)
		r := w.Result(usual)
		if r.InstancesOf != c.want || len(r.Instances) != c.n {
			t.Errorf("%s: %q, %v", c.name, r.InstancesOf, r.Instances)
		}
	}
	w := NewAccumulator()
	fastAndSlow(w, 95, 5, "a", spread)
	if r := w.Result(usual); r.InstancesOf != TooFewTraces {
		t.Errorf("6 tail traces: %q", r.InstancesOf)
	}
}

func TestABiasedSampleHasNoOwner(t *testing.T) {
	w := NewAccumulator()
	fastAndSlow(w, 480, 25, "a", nil)
	q := usual
	q.Biased, q.Weighted = true, true
	r := w.Result(q)
	if r.Owner != nil || len(r.Hops) > 0 || r.EndToEnd.N > 0 || !strings.HasPrefix(r.Verdict, "no owner: the traces were chosen") {
		t.Errorf("%+v", r)
	}
	if got := codes(r.Warnings); !slices.Equal(got, []string{"weights_not_used"}) {
		t.Errorf("warnings %v", got)
	}
}

func TestHopsWithTheLargestExcessAreListed(t *testing.T) {
	w := NewAccumulator()
	fastAndSlow(w, 480, 25, "z", nil)
	q := usual
	q.MaxHops = 1
	r := w.Result(q)
	if list := r.Listed(); len(list) != 1 || list[0].Name != "z" || len(r.Hops) != 2 || r.Owner == nil {
		t.Errorf("%+v of %+v", list, r.Hops)
	}
	if got := codes(r.Warnings); !slices.Equal(got, []string{"hops_left_out"}) || !strings.HasPrefix(r.Warnings[0].Text, "1 of 2 hops") {
		t.Errorf("warnings %v", r.Warnings)
	}
	q.MaxHops = 2
	if r := w.Result(q); len(r.Listed()) != 2 || len(r.Warnings) > 0 {
		t.Errorf("%+v, warnings %v", r.Listed(), r.Warnings)
	}
}

func TestHopsWithoutTimeAreListed(t *testing.T) {
	lines := logOf(t, linesOf("c", "web 0-100", "api 0-100")...).Result(usual)
	trace := accumulatorOf(testSpan{id: 1, end: 100, hop: "web"}, testSpan{id: 2, parent: 1, end: 100, hop: "api"}).Result(usual)
	for name, r := range map[string]Result{"lines": lines, "spans": trace} {
		if len(r.Hops) != 2 || strings.HasPrefix(r.Verdict, "one hop only") {
			t.Errorf("%s: %d hops, %s", name, len(r.Hops), r.Verdict)
		}
	}
}

func TestChildrenOutsideTheirParentAreSaid(t *testing.T) {
	root := testSpan{id: 1, start: 10_000, end: 20_000, hop: "a"}
	gaveUp := root
	gaveUp.outcome = cut
	for _, c := range []struct {
		name   string
		parent testSpan
		child  testSpan
		want   bool
	}{
		{"inside", root, testSpan{start: 10_000, end: 20_000}, false},
		{"1 ms before", root, testSpan{start: 9_000, end: 12_000}, false},
		{"more before", root, testSpan{start: 8_999, end: 12_000}, true},
		{"1 ms longer", root, testSpan{start: 11_000, end: 21_000}, false},
		{"more longer", root, testSpan{start: 11_000, end: 21_001}, true},
		{"wholly after", root, testSpan{start: 50_000, end: 60_000}, true},
		{"nobody waits", root, testSpan{start: 50_000, end: 60_000, ties: spans.Async}, false},
		{"its parent gave up", gaveUp, testSpan{start: 11_000, end: 60_000}, false},
		{"its parent gave up later", gaveUp, testSpan{start: 1_000, end: 12_000}, true},
		{"its parent has no end", testSpan{id: 1, start: 10_000, noEnd: true, hop: "a"}, testSpan{start: 1_000, end: 12_000}, false},
	} {
		c.child.id, c.child.parent, c.child.hop = 2, 1, "b"
		got := codes(accumulatorOf(c.parent, c.child, testSpan{id: 9, end: 90_000, hop: "root"}).Result(usual).Warnings)
		if slices.Contains(got, "children_outside") != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestP99OfAHopCountsTracesWithoutIt(t *testing.T) {
	w := NewAccumulator()
	for i := range 200 {
		list := []testSpan{{id: 1, end: 1000, hop: "root"}}
		if i < 3 { // 1.5 %: its p99 is the third largest, 100 µs
			list = append(list, testSpan{id: 2, parent: 1, end: 100 * (i + 1), hop: "rare"})
		}
		if i == 199 { // 0.5 %: its p99 is 0
			list = append(list, testSpan{id: 2, parent: 1, end: 900, hop: "once"})
		}
		w.AddTrace(traceOf(i+1, list...))
	}
	if got, want := w.Result(usual).SumOfP99, 1100*us; got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
}

func TestOneConnectionIsSeen(t *testing.T) {
	fan := func(n int, overlap bool) *Accumulator {
		w := NewAccumulator()
		for i := range n {
			b := 50
			if overlap {
				b = 40
			}
			w.AddTrace(traceOf(i+1, testSpan{id: 1, end: 100, hop: "root"},
				testSpan{id: 2, parent: 1, start: 0, end: 50, hop: "call a"}, testSpan{id: 3, parent: 2, start: 1, end: 49, hop: "a"},
				testSpan{id: 4, parent: 1, start: 1, end: 99, hop: "call b"}, testSpan{id: 5, parent: 4, start: b, end: 98, hop: "b"}))
		}
		return w
	}
	for _, c := range []struct {
		n       int
		overlap bool
		want    int
	}{{20, false, 1}, {19, false, 0}, {20, true, 0}} {
		got := fan(c.n, c.overlap).Result(usual).Observations
		if len(got) != c.want || c.want > 0 && got[0].Code != "one_connection" {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestFailuresThatChangeKindAreSeen(t *testing.T) {
	log := func(kinds ...spans.Failure) *Accumulator {
		w := NewAccumulator()
		for i, k := range kinds {
			w.AddTrace(traceOf(i+1, testSpan{id: 1, start: i * 1000, end: i*1000 + 10, hop: "a", outcome: failed, failure: k}))
		}
		return w
	}
	five := func(k spans.Failure) []spans.Failure { return slices.Repeat([]spans.Failure{k}, 5) }
	for _, c := range []struct {
		name  string
		kinds []spans.Failure
		want  string
	}{
		{"one kind", slices.Concat(five(spans.Reset), five(spans.Reset)), ""},
		{"one, then the other", slices.Concat(five(spans.Refused), five(spans.Reset)),
			"the failures of a (internal) change kind: 5 refused from 1970-01-01T00:00:00Z to 1970-01-01T00:00:00.004Z, then 5 reset from 1970-01-01T00:00:00.005Z to 1970-01-01T00:00:00.009Z"},
		{"mixed", slices.Concat(five(spans.Refused), five(spans.Reset), five(spans.Refused)), ""},
		{"too few of one", slices.Concat(five(spans.Refused), five(spans.Reset)[:4]), ""},
	} {
		got := ""
		if list := log(c.kinds...).Result(usual).Observations; len(list) > 0 {
			got = list[0].Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for want, s := range map[string]spans.Span{
		"timeout": {Outcome: cut, CutBy: spans.Own}, "cancelled": {Outcome: cut, CutBy: spans.Caller}, "": {Outcome: cut, CutBy: spans.Below},
	} {
		if got := endedBy(s.Outcome, s.CutBy, s.Failure); got != want {
			t.Errorf("%v: %q, want %q", s.CutBy, got, want)
		}
	}
}

func TestEveryRuleSaysWhatItNeeds(t *testing.T) {
	for _, r := range Rules {
		if r.Name == "" || r.Needs == "" || r.Says == "" {
			t.Errorf("%+v", r)
		}
	}
}

// What the spans of both sides show decides whether a node is slow: of tail and body a
// queue before one node looks like a slow one.
func TestTheCauseOfTheOwnersCallsDecidesOnItsInstances(t *testing.T) {
	oneOfFour := func(i int) string {
		if i >= 480 {
			return "n3"
		}
		return fmt.Sprint("n", i%4)
	}
	all := func(i int) string { return fmt.Sprint("n", i%4) }
	for _, c := range []struct {
		verdict string // "": not known
		host    func(int) string
		want    InstanceVerdict
	}{
		{"", oneOfFour, SlowNode}, {"pool_full", oneOfFour, PoolFull}, {"network_or_clock", oneOfFour, NetworkOrClock},
		{"slow_work", oneOfFour, SlowService}, {"slow_instance", oneOfFour, SlowNode},
		{"slow_instance", all, SlowNode}, {"slow_work", all, SlowService}, {"pool_full", nil, ""},
	} {
		w := NewAccumulator()
		fastAndSlow(w, 480, 26, "a", c.host)
		q := usual
		q.Why = func(hop string) *Cause {
			if hop != "a" || c.verdict == "" {
				return nil
			}
			return &Cause{Verdict: c.verdict, Brief: "so"}
		}
		if r := w.Result(q); r.InstancesOf != c.want || (r.Cause != nil) != (c.verdict != "") {
			t.Errorf("%s: %q, %v", c.verdict, r.InstancesOf, r.Cause)
		}
	}
}
