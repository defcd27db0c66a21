package orphans

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// callOf is a client's call of 100 ms that was cut, and the server's work.
func callOf(id, start, serverStart, serverEnd int) []testSpan {
	return []testSpan{
		{id: id, parent: 1, start: start, end: start + 100, hop: "a/call", kind: client, outcome: cut},
		{id: id + 1, parent: id, start: serverStart, end: serverEnd, hop: "b/get", kind: server},
	}
}

func TestPairOfACallAndItsServer(t *testing.T) {
	list := []testSpan{{id: 1, end: 2000, hop: "a"}}
	list = append(list, callOf(10, 0, 10, 400)...)       // lag 10, work 390, runs on for 300
	list = append(list, callOf(20, 50, 250, 260)...)     // parallel: starts late, by 200; 260 - 150 = 110, works 10
	list = append(list, callOf(30, 100, 110, 220)...)    // the retry of 10: runs on for 20
	list = append(list, callOf(40, 1000, 1010, 1100)...) // stopped with the call: no orphan
	list = append(list, testSpan{id: 50, parent: 1, start: 1500, end: 1600, hop: "a/call", kind: client, outcome: cut})
	list = append(list, testSpan{id: 60, parent: 1, start: 1700, end: 1750, hop: "a/call", kind: client})
	r := resultOf(list...)
	p := pairOf(t, r, "a/call", "b/get")
	if len(r.Pairs) != 1 || p.Orphaned != 3 || p.CutCalls != 5 || p.CutCallsWithChild != 4 {
		t.Errorf("%+v", r.Pairs)
	}
	// Wasted 300 + 10 + 20: of a late start only what it ran itself.
	if p.Wasted != 330*ms || p.Overrun.Sum.Lo != uint64(430*ms) || p.Overrun.Quantiles[0] != 110*ms || p.Overrun.Max != 300*ms {
		t.Errorf("wasted %d, overrun %+v", p.Wasted, p.Overrun)
	}
	if p.StartLag.Min != 10*ms || p.StartLag.Max != 200*ms || p.Work.Min != 10*ms || p.Work.Max != 390*ms {
		t.Errorf("lag %+v, work %+v", p.StartLag, p.Work)
	}
}

func TestWhichCallsAreFirst(t *testing.T) {
	list := []testSpan{{id: 1, end: 2000}}
	list = append(list, callOf(10, 0, 10, 130)...)
	list = append(list, callOf(30, 100, 110, 220)...) // the retry of 10
	marked := callOf(50, 400, 410, 520)
	marked[0].retry = true
	list = append(list, marked...)
	p := pairOf(t, resultOf(list...), "a/call", "b/get")
	if p.CutCalls != 3 || p.CutCallsWithChild != 3 || p.Cancellation.Completed != 1 || p.StoppedOf != 1 {
		t.Errorf("%+v", p)
	}
}

func TestCancellationHonoured(t *testing.T) {
	root := testSpan{id: 1, end: 2000, hop: "a"}
	call := testSpan{id: 2, parent: 1, end: 100, hop: "a/call", kind: client, outcome: cut}
	serve := func(id, end int) testSpan {
		return testSpan{id: id, parent: 2, start: 10, end: end, hop: "b/get", kind: server}
	}
	stop := func(id, end int) testSpan { // cancelled
		s := serve(id, end)
		s.outcome, s.by = cut, spans.Caller
		return s
	}
	with := func(s testSpan, change func(*testSpan)) testSpan { change(&s); return s }
	ending := func(s testSpan, o spans.Outcome, by spans.CutBy) testSpan { s.outcome, s.by = o, by; return s }
	under := func(end int, by spans.CutBy) testSpan { // a call of serve(3)
		return testSpan{id: 6, parent: 3, start: 20, end: end, hop: "b/call", kind: client, outcome: cut, by: by}
	}
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string // stopped, ran on, completed of left; cut calls with child of cut calls
	}{
		{"cancelled with the cut", []testSpan{call, stop(3, 100)}, "1/0/0 of 1; 1 of 1"},
		{"before the cut, whose deadline it knew", []testSpan{call, ending(serve(3, 99), cut, spans.Own)}, "1/0/0 of 1; 1 of 1"},
		{"cancelled 50 ms on", []testSpan{call, stop(3, 150)}, "1/0/0 of 1; 1 of 1"},
		{"1 ns more", []testSpan{call, with(stop(3, 150), func(s *testSpan) { s.ns = 1 })}, "0/1/0 of 1; 1 of 1"},
		{"failed 50 ms on", []testSpan{call, ending(serve(3, 150), failed, spans.NotCut)}, "1/0/0 of 1; 1 of 1"},
		{"failed 50 ms before", []testSpan{call, ending(serve(3, 50), failed, spans.NotCut)}, "1/0/0 of 1; 1 of 1"},
		{"failed long before: the answer was lost", []testSpan{call, ending(serve(3, 49), failed, spans.NotCut)}, "0/0/0 of 1; 1 of 1"},
		{"completed before", []testSpan{call, serve(3, 99)}, "0/0/1 of 1; 1 of 1"},
		{"completed with the cut", []testSpan{call, serve(3, 100)}, "0/0/1 of 1; 1 of 1"},
		{"completed 50 ms on", []testSpan{call, serve(3, 150)}, "0/0/1 of 1; 1 of 1"},
		{"completed 1 ns later", []testSpan{call, with(serve(3, 150), func(s *testSpan) { s.ns = 1 })}, "0/1/0 of 1; 1 of 1"},
		{"a call of its own timed out", []testSpan{call, ending(serve(3, 120), cut, spans.Below), under(119, spans.Own)}, "0/0/0 of 1; 1 of 1"},
		{"a call of its own timed out later", []testSpan{call, ending(serve(3, 220), cut, spans.Below), under(219, spans.Own)}, "0/1/0 of 1; 1 of 1"},
		{"it cancelled a call of its own", []testSpan{call, ending(serve(3, 120), cut, spans.Below), under(119, spans.Caller)}, "1/0/0 of 1; 1 of 1"},
		{"several, the last counts", []testSpan{call, stop(3, 110), stop(4, 300), stop(5, 120)}, "0/1/0 of 1; 1 of 1"},
		{"several, the last soon", []testSpan{call, stop(3, 110), serve(4, 90)}, "1/0/0 of 1; 1 of 1"},
		{"a retry", []testSpan{with(call, func(s *testSpan) { s.retry = true }), stop(3, 110)}, "0/0/0 of 0; 1 of 1"},
		{"cut from below: it had its answer", []testSpan{with(call, func(s *testSpan) { s.by = spans.Below }), stop(3, 99)}, "0/0/0 of 0; 1 of 1"},
		{"cut by its caller", []testSpan{with(call, func(s *testSpan) { s.by = spans.Caller }), stop(3, 99)}, "1/0/0 of 1; 1 of 1"},
		{"a callee that never ended", []testSpan{call, with(serve(3, 0), func(s *testSpan) { s.noEnd = true })}, "0/0/0 of 0; 1 of 1"},
		{"of two the one with an end", []testSpan{call, with(serve(3, 0), func(s *testSpan) { s.noEnd = true }), stop(4, 120)}, "1/0/0 of 1; 1 of 1"},
		{"a call without an end", []testSpan{with(call, func(s *testSpan) { s.noEnd = true }), stop(3, 99)}, "0/0/0 of 0; 1 of 1"},
		{"failed and cut", []testSpan{call, serve(3, 190), {id: 5, parent: 1, start: 0, end: 20, hop: "a/call", kind: client, outcome: failed}, with(serve(6, 500), func(s *testSpan) { s.parent = 5 })}, "0/1/0 of 1; 1 of 1"},
		{"no callee", []testSpan{call, {id: 5, parent: 1, end: 100, hop: "a/call", kind: client, outcome: cut}, stop(3, 110)}, "1/0/0 of 1; 1 of 2"},
		{"a message", []testSpan{call, stop(3, 110), with(serve(4, 500), func(s *testSpan) { s.ties = spans.Async })}, "1/0/0 of 1; 1 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pairOf(t, resultOf(append(c.spans, root)...), "a/call", "b/get")
			one := p.Cancellation
			if got := fmt.Sprintf("%d/%d/%d of %d; %d of %d", one.Stopped, one.RanOn, one.Completed, p.StoppedOf, p.CutCallsWithChild, p.CutCalls); got != c.want || p.Stopped != one.Stopped {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// manyCalls are completed calls of usual ms, and calls cut at 100 ms whose servers end
// in turn as told; each is a trace of its own.
func manyCalls(usual []int, cuts int, ends ...testSpan) *Accumulator {
	w := NewAccumulator(Config{Tolerance: ms, Limit: 1000})
	for i, length := range usual {
		w.AddTrace(traceOf(i, testSpan{id: 1, end: length + 2, hop: "a/call", kind: client}, testSpan{id: 2, parent: 1, start: 1, end: length + 1, hop: "b/get", kind: server}))
	}
	for i := range cuts {
		served := ends[i%len(ends)]
		served.id, served.parent, served.hop, served.kind = 2, 1, "b/get", server
		w.AddTrace(traceOf(len(usual)+i, testSpan{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut}, served))
	}
	return w
}

// lengths are n times of lowest ms and more.
func lengths(n, lowest int) (list []int) {
	for i := range n {
		list = append(list, lowest+i%50)
	}
	return list
}

func TestWhetherCalleesHonourACancellation(t *testing.T) {
	cancelled := testSpan{start: 1, end: 105, outcome: cut, by: spans.Caller}
	ranOn := testSpan{start: 1, end: 400}
	completed := testSpan{start: 1, end: 120}
	late := testSpan{start: 90, end: 110} // works 20 ms
	for _, c := range []struct {
		name  string
		usual []int
		cuts  int
		ends  []testSpan
		want  string
	}{
		// 0.05^(1/5) = .5493 and 0.05^(1/4) = .4729.
		{"five that stop", nil, 5, []testSpan{cancelled}, "yes: 5/0/0, .549 to 1.000"},
		{"four that stop", nil, 4, []testSpan{cancelled}, "unknown: 4/0/0, .473 to 1.000"},
		{"five that run on", nil, 5, []testSpan{ranOn}, "no: 0/5/0, .000 to .451"},
		{"four that run on", nil, 4, []testSpan{ranOn}, "unknown: 0/4/0, .000 to .527"},
		{"half and half", nil, 100, []testSpan{cancelled, ranOn}, "unknown: 50/50/0, .414 to .586"},
		{"all completed", nil, 100, []testSpan{completed}, "unknown: 0/0/100, .000 to 1.000"},
		{"those that completed tell nothing", nil, 10, []testSpan{completed, ranOn}, "no: 0/5/5, .000 to .451"},
		{"surely shorter than usual", lengths(100, 21), 5, []testSpan{late}, "yes: 5/0/0, .549 to 1.000"},
		{"as short as the shortest", lengths(100, 20), 5, []testSpan{late}, "unknown: 0/0/5, .000 to 1.000"},
		{"shorter than too few", lengths(99, 21), 5, []testSpan{late}, "unknown: 0/0/5, .000 to 1.000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := pairOf(t, manyCalls(c.usual, c.cuts, c.ends...).Result(Query{}), "a/call", "b/get").Cancellation
			got := fmt.Sprintf("%s: %d/%d/%d, %.3f to %.3f", one.Honours, one.Stopped, one.RanOn, one.Completed, one.Lower, one.Upper)
			if got = strings.ReplaceAll(got, " 0.", " ."); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestACallMayReachSeveralHops(t *testing.T) {
	r := resultOf(testSpan{id: 1, end: 100, hop: "a", kind: client, outcome: cut},
		testSpan{id: 2, parent: 1, end: 300, hop: "b", kind: server}, testSpan{id: 3, parent: 1, end: 120, hop: "c", kind: server}, testSpan{id: 4, parent: 1, end: 250, hop: "b", kind: server})
	var got []string
	for _, p := range r.Pairs {
		got = append(got, fmt.Sprintf("%s: %d, %d/%d, %s", p.Child.Name, p.Orphaned, p.Stopped, p.StoppedOf, inMS(p.Wasted)))
	}
	// 200 + 150 and 20.
	if s := strings.Join(got, "; "); s != "b: 2, 0/1, 350; c: 1, 0/1, 20" {
		t.Error(s)
	}
}

// TestPairsThatAreNoCalls: a server that was cut over its work is counted like a
// call, but shown only where there are orphans.
func TestPairsThatAreNoCalls(t *testing.T) {
	served := testSpan{id: 1, end: 100, hop: "b", kind: server, outcome: cut}
	if r := resultOf(served, testSpan{id: 2, parent: 1, end: 90, hop: "work"}); len(r.Pairs) != 0 {
		t.Errorf("%+v", r.Pairs)
	}
	p := pairOf(t, resultOf(served, testSpan{id: 2, parent: 1, end: 190, hop: "work"}), "b", "work")
	if p.Orphaned != 1 || p.CutCalls != 1 || p.CutCallsWithChild != 1 || p.StoppedOf != 1 {
		t.Errorf("%+v", p)
	}
	if r := resultOf(testSpan{id: 1, end: 100, hop: "log", line: true, outcome: cut}, testSpan{id: 2, parent: 1, end: 90, hop: "log", line: true}); len(r.Pairs) != 1 {
		t.Errorf("lines of a hop log are calls: %+v", r.Pairs)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		n, lag, work int
		want         Verdict
	}{
		{7, 500, 10, TooFew}, {8, 500, 10, Queue}, {8, 201, 200, Queue}, {8, 200, 200, Mixed}, {8, 20, 200, Mixed}, {8, 19, 200, Slow}, {8, 0, 200, Slow}, {1000, 0, 200, Slow},
	} {
		var list []testSpan
		for i := range c.n { // each call is a trace root of 100 ms
			list = append(list, testSpan{id: 2*i + 1, end: 100, hop: "a", kind: client, outcome: cut},
				testSpan{id: 2*i + 2, parent: 2*i + 1, start: c.lag, end: c.lag + c.work, hop: "b", kind: server})
		}
		if p := pairOf(t, resultOf(list...), "a", "b"); p.Verdict != c.want || p.Orphaned != uint64(c.n) {
			t.Errorf("%+v: %s of %d", c, p.Verdict, p.Orphaned)
		}
	}
}

// Of orphans the verdict on all calls holds, where there is one.
func TestTheVerdictOnAllCallsHoldsForOrphans(t *testing.T) {
	for _, c := range []struct {
		n         int
		all, want Verdict
	}{{8, "", Slow}, {8, Queue, Queue}, {8, OnTheWay, OnTheWay}, {7, Queue, TooFew}} {
		var list []testSpan
		for i := range c.n {
			list = append(list, testSpan{id: 2*i + 1, end: 100, hop: "a", kind: client, outcome: cut},
				testSpan{id: 2*i + 2, parent: 2*i + 1, start: 0, end: 200, hop: "b", kind: server})
		}
		r := watchOf(usual, list...).Result(Query{Why: func(call, callee spans.Hop) Verdict {
			if call.Name != "a" || callee.Name != "b" {
				return ""
			}
			return c.all
		}})
		if p := pairOf(t, r, "a", "b"); p.Verdict != c.want {
			t.Errorf("%+v: %s", c, p.Verdict)
		}
	}
}

// attempts makes first attempts of one hop: cut ones at 100 ms, whose servers
// took 200, 210, ... except for those that are lost; completed ones of 50 to 69
// ms, whose servers took as many ms less as their number.
func attempts(cuts, lost, completed int) (list []testSpan, durations *quantile.Sample) {
	durations = new(quantile.Sample)
	id := 1
	for i := range cuts {
		list = append(list, testSpan{id: id, end: 100, hop: "a/call", kind: client, outcome: cut})
		if i >= lost {
			list = append(list, testSpan{id: id + 1, parent: id, end: 200 + 10*(i-lost), hop: "b/get", kind: server})
		}
		id += 2
	}
	for i := range completed {
		length := 50 + i%20
		durations.Add(int64(length) * ms)
		list = append(list, testSpan{id: id, end: length, hop: "a/call", kind: client}, testSpan{id: id + 1, parent: id, end: length - 1 - i%20, hop: "b/get", kind: server})
		id += 2
	}
	return list, durations
}

func serverSideText(list []ServerSide) string {
	var s []string
	for _, one := range list {
		value := "beyond"
		if one.Value != nil {
			value = inMS(*one.Value)
		}
		s = append(s, one.P.Label()+" "+value)
	}
	if len(list) > 0 {
		s = append(s, fmt.Sprintf("%d of %d", list[0].N, list[0].Of))
		if list[0].Selected {
			s = append(s, "selected")
		}
	}
	return strings.Join(s, ", ")
}

func TestServerSide(t *testing.T) {
	ps := []quantile.P{quantile.MustP("0.99"), quantile.MustP("0.5"), quantile.MustP("0.95"), quantile.MustP("1")}
	for _, c := range []struct {
		cuts, lost, completed int
		want                  string
	}{
		// 80 completed and 20 cut ones of 200..390: rank 95 is the 15th cut one, 99 the 19th.
		{20, 0, 80, "p99 380, p50 62, p95 340, p100 390, 20 of 20"},
		// One in 20 is lost: 95 % is just enough. Ranks 95 and 99 are the 15th
		// and 19th; the last is infinite.
		{20, 1, 80, "p99 380, p50 62, p95 340, p100 beyond, 19 of 20"},
		{20, 2, 80, "p99 beyond, p50 62, p95 340, p100 beyond, 18 of 20, selected"},
		{20, 19, 80, "p99 beyond, p50 62, p95 beyond, p100 beyond, 1 of 20, selected"},
		{20, 20, 80, ""}, // no server span of a cut call
		{0, 0, 80, ""},   // nothing was cut
		// Nothing completed: neither how far the clocks are apart is known nor what a
		// call adds.
		{2, 0, 0, "p99 210, p50 200, p95 210, p100 210, 2 of 2"},
	} {
		list, durations := attempts(c.cuts, c.lost, c.completed)
		w := watchOf(usual, list...)
		got := serverSideText(w.ServerSide(list[0].hopValue(), quantile.Union{durations}, ps))
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}

func TestServerSideOfFirstAttemptsOnly(t *testing.T) {
	call := testSpan{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut}
	w := watchOf(usual, call, testSpan{id: 2, parent: 1, end: 300, hop: "b/get", kind: server}, testSpan{id: 3, parent: 1, end: 500, hop: "b/get", kind: server}, // the longest stands
		testSpan{id: 4, parent: 1, end: 900, hop: "b/put", kind: server, ties: spans.Async}, testSpan{id: 5, parent: 1, end: 950, hop: "b/wait"},
		testSpan{id: 6, parent: 1, hop: "b/get", kind: server, noEnd: true},
		testSpan{id: 11, end: 100, hop: "a/call", kind: client, outcome: cut, retry: true}, testSpan{id: 12, parent: 11, end: 700, hop: "b/get", kind: server})
	for hop, want := range map[spans.Hop]string{
		call.hopValue(): "p50 500, 1 of 1",
		testSpan{hop: "b/get", kind: server}.hopValue(): "",
		{Name: "unheard of"}:                            "",
	} {
		if got := serverSideText(w.ServerSide(hop, nil, median)); got != want {
			t.Errorf("%v: %s, want %s", hop, got, want)
		}
	}
}

// TestServerThatWasCutCoversNothing: its own duration is a bound as well.
func TestServerThatWasCutCoversNothing(t *testing.T) {
	call := testSpan{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut}
	for outcome, want := range map[spans.Outcome]string{spans.Completed: "p50 300, 1 of 1", cut: "", failed: ""} {
		w := watchOf(usual, call, testSpan{id: 2, parent: 1, end: 300, hop: "b/get", kind: server, outcome: outcome})
		if got := serverSideText(w.ServerSide(call.hopValue(), nil, median)); got != want {
			t.Errorf("server %v: %q, want %q", outcome, got, want)
		}
	}
}

// TestServerSideAgreesWithASortedList over random numbers of calls.
func TestServerSideAgreesWithASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		cuts := 1 + r.IntN(40)
		lost, completed := r.IntN(cuts), r.IntN(100)
		list, durations := attempts(cuts, lost, completed)
		var sorted []int64
		for ns, count := range durations.All() {
			for range count {
				sorted = append(sorted, ns)
			}
		}
		for i := range cuts - lost {
			sorted = append(sorted, int64(200+10*i)*ms)
		}
		w, p := watchOf(usual, list...), quantile.MustP("0.9")
		got := w.ServerSide(list[0].hopValue(), quantile.Union{durations}, []quantile.P{p})[0]
		switch rank := int(p.Rank(uint64(cuts + completed))); {
		case rank > len(sorted) != (got.Value == nil):
			t.Fatalf("%d cut, %d lost, %d completed: %+v", cuts, lost, completed, got)
		case got.Value != nil && *got.Value != sorted[rank-1]:
			t.Fatalf("%d cut, %d lost, %d completed: %d, want %d", cuts, lost, completed, *got.Value, sorted[rank-1])
		}
	}
}
