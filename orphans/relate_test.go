package orphans

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// marked gives all spans that are parents an outcome.
func marked(list []testSpan, o spans.Outcome) []testSpan {
	list = slices.Clone(list)
	for i := range list {
		if slices.ContainsFunc(list, func(c testSpan) bool { return c.parent == list[i].id }) {
			list[i].outcome = o
		}
	}
	return list
}

// TestPeers holds the cases of other tools, with every parent given up and with
// every parent completed or failed: then nothing is an orphan.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		name              string
		spans             []testSpan
		gaveUp, completed string
	}{
		// B runs on from 100 to 110; C lies inside B.
		{"1: a child outlives its parent", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 110}, {id: 3, parent: 2, start: 40, end: 50}},
			"overruns 1, wasted 10 of 10", "completed 1"},
		// C runs on from B's end at 70 to 120; A's end at 100 is not its parent's.
		{"2: a grandchild outlives both", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 10, end: 70}, {id: 3, parent: 2, start: 20, end: 120}},
			"overruns 1, wasted 50 of 50", "completed 1"},
		// B is 110-160, all after 100, and C inside it; both after the root's
		// end, B is the topmost. D lies inside A.
		{"3: a child begins after its parent ended", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 110, end: 160}, {id: 3, parent: 2, start: 120, end: 150}, {id: 4, parent: 1, start: 60, end: 90}},
			"after root 1, late 1, wasted 50 of 50", "completed 1, after root 1"},
		{"6: equal boundaries", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, end: 50}, {id: 3, parent: 1, start: 50, end: 100}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for outcome, want := range map[spans.Outcome]string{cut: c.gaveUp, failed: strings.Replace(c.completed, "completed", "failed", 1), spans.Completed: c.completed} {
				list := marked(c.spans, outcome)
				for range 2 { // case 7: in either order
					if got := told(resultOf(list...).Counts); got != want {
						t.Errorf("parents %v: %q, want %q", outcome, got, want)
					}
					slices.Reverse(list)
				}
			}
		})
	}
}

func TestWhatIsNoOrphan(t *testing.T) {
	parent := testSpan{id: 1, end: 100, outcome: cut}
	child := testSpan{id: 2, parent: 1, start: 10, end: 150} // runs on for 50
	with := func(s testSpan, change func(*testSpan)) testSpan { change(&s); return s }
	kind := func(k spans.Kind) func(*testSpan) { return func(s *testSpan) { s.kind, s.hop = k, k.String() } }
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		{"the plain orphan", []testSpan{parent, child}, "overruns 1, wasted 50 of 50"},
		{"the parent failed", []testSpan{with(parent, func(s *testSpan) { s.outcome = failed }), child}, "failed 1"},
		{"the parent completed", []testSpan{with(parent, func(s *testSpan) { s.outcome = spans.Completed }), child}, "completed 1"},
		{"client and server", []testSpan{with(parent, kind(client)), with(child, kind(server))}, "overruns 1, wasted 50 of 50"},
		{"FOLLOWS_FROM", []testSpan{parent, with(child, func(s *testSpan) { s.ties = spans.Async })}, "async 1"},
		{"FOLLOWS_FROM a parent that completed", []testSpan{with(parent, func(s *testSpan) { s.outcome = spans.Completed }), with(child, func(s *testSpan) { s.ties = spans.Async })}, "async 1"},
		{"the parent produces", []testSpan{with(parent, kind(spans.Producer)), child}, "async 1"},
		{"the parent consumes", []testSpan{with(parent, kind(spans.Consumer)), child}, "async 1"},
		{"the child produces", []testSpan{parent, with(child, kind(spans.Producer))}, "async 1"},
		{"the child consumes", []testSpan{parent, with(child, kind(spans.Consumer))}, "async 1"},
		{"FOLLOWS_FROM, late", []testSpan{parent, {id: 2, parent: 1, start: 150, end: 250, ties: spans.Async}}, "async 1"},
		{"the child has no end", []testSpan{parent, with(child, func(s *testSpan) { s.noEnd = true })}, "unfinished 1"},
		{"the child has no start", []testSpan{parent, with(child, func(s *testSpan) { s.noStart = true })}, ""},
		{"the parent has no end", []testSpan{with(parent, func(s *testSpan) { s.noEnd = true }), child}, ""},
		{"the parent has no start", []testSpan{with(parent, func(s *testSpan) { s.noStart = true }), child}, ""},
		{"neither has an end", []testSpan{with(parent, func(s *testSpan) { s.noEnd = true }), with(child, func(s *testSpan) { s.noEnd = true })}, "unfinished 1"},
		{"the parent is missing", []testSpan{with(child, func(s *testSpan) { s.parent = 9 })}, "missing 1"},
		{"the child ends before it starts", []testSpan{parent, {id: 2, parent: 1, start: 300, end: 200}}, "after root 1"},
		{"the parent ends before it starts", []testSpan{with(parent, func(s *testSpan) { s.start = 120 }), child}, ""},
		// A is not the parent of C, which runs on from 100 to 130 beside B.
		{"two generations", []testSpan{parent, {id: 2, parent: 1, start: 10, end: 100}, {id: 3, parent: 2, start: 20, end: 130}}, "completed 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(resultOf(c.spans...).Counts); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestToleranceIsInclusive(t *testing.T) {
	for _, c := range []struct {
		name      string
		tolerance int64
		outcome   spans.Outcome
		start     int
		over      int64 // ns after the parent's end
		want      string
	}{
		{"ends with it", ms, cut, 10, 0, ""},
		{"1 ns on", ms, cut, 10, 1, "tolerated 1"},
		{"exactly the tolerance", ms, cut, 10, ms, "tolerated 1"},
		{"1 ns more", ms, cut, 10, ms + 1, "overruns 1, wasted 1.000001 of 1.000001"},
		{"1 ns more, completed", ms, spans.Completed, 10, ms + 1, "completed 1"},
		{"none: ends with it", 0, cut, 10, 0, ""},
		{"none: 1 ns on", 0, cut, 10, 1, "overruns 1, wasted 1e-06 of 1e-06"},
		{"none: 1 ns on, completed", 0, spans.Completed, 10, 1, "completed 1"},
		// Begins with the parent's end: it was not running when the parent left.
		{"begins with the end", ms, cut, 100, 5 * ms, "late 1, wasted 5 of 5"},
		{"begins before the end", ms, cut, 99, 5 * ms, "overruns 1, wasted 5 of 5"},
		{"begins and ends within", ms, cut, 100, ms, "tolerated 1"},
		{"begins a tolerance later", ms, cut, 101, 5 * ms, "late 1, wasted 4 of 4"},
		{"begins later still", ms, cut, 102, 5 * ms, "after root 1, late 1, wasted 3 of 3"},
		{"none: begins with the end", 0, cut, 100, 5 * ms, "late 1, wasted 5 of 5"},
		{"none: begins later", 0, cut, 101, 5 * ms, "after root 1, late 1, wasted 4 of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watchOf(Config{Tolerance: c.tolerance}, testSpan{id: 1, end: 100, outcome: c.outcome}, testSpan{id: 2, parent: 1, start: c.start, end: 100, ns: c.over})
			if got := told(w.Result(Query{}).Counts); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestStartedAfterRootEnd(t *testing.T) {
	root := testSpan{id: 1, end: 100}
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  uint64
	}{
		{"within", []testSpan{root, {id: 2, parent: 1, start: 50, end: 200}}, 0},
		{"with the end", []testSpan{root, {id: 2, parent: 1, start: 100, end: 200}}, 0},
		{"the topmost alone", []testSpan{root, {id: 2, parent: 1, start: 110, end: 200}, {id: 3, parent: 2, start: 120, end: 150}, {id: 4, parent: 3, start: 130, end: 140}}, 1},
		{"under a child that outlived", []testSpan{root, {id: 2, parent: 1, start: 50, end: 200}, {id: 3, parent: 2, start: 120, end: 150}, {id: 4, parent: 2, start: 160, end: 170}}, 2},
		// 3's clock is behind, so it seems to begin before the end, but hangs
		// under one that did not.
		{"a grandchild whose clock is behind", []testSpan{root, {id: 2, parent: 1, start: 110, end: 200}, {id: 3, parent: 2, start: 90, end: 150}, {id: 4, parent: 3, start: 130, end: 140}}, 1},
		{"a parent without times", []testSpan{root, {id: 2, parent: 1, noStart: true, noEnd: true}, {id: 3, parent: 2, start: 120, end: 150}, {id: 4, parent: 3, start: 130, end: 140}}, 1},
		{"no times under a late one", []testSpan{root, {id: 2, parent: 1, start: 110, end: 200}, {id: 3, parent: 2, noStart: true, noEnd: true}, {id: 4, parent: 3, start: 130, end: 140}}, 1},
		{"one that never ended", []testSpan{root, {id: 2, parent: 1, start: 110, noEnd: true}}, 1},
		{"FOLLOWS_FROM", []testSpan{root, {id: 2, parent: 1, start: 110, end: 200, ties: spans.Async}, {id: 3, parent: 2, start: 120, end: 150}}, 0},
		{"a message sent in time", []testSpan{root, {id: 2, parent: 1, start: 50, end: 60, kind: spans.Producer}, {id: 3, parent: 2, start: 120, end: 150, kind: spans.Consumer}}, 0},
		{"two roots", []testSpan{root, {id: 2, end: 300}, {id: 3, parent: 1, start: 110, end: 120}, {id: 4, parent: 2, start: 110, end: 120}, {id: 5, parent: 2, start: 310, end: 320}}, 2},
		{"a root without an end", []testSpan{{id: 1, noEnd: true}, {id: 2, parent: 1, start: 110, end: 200}}, 0},
		{"a root without a start", []testSpan{{id: 1, noStart: true, end: 100}, {id: 2, parent: 1, start: 110, end: 200}}, 0},
		// 2's end is not known to be the request's.
		{"a missing parent is no root", []testSpan{{id: 2, parent: 9, end: 100}, {id: 3, parent: 2, start: 120, end: 150}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				if got := resultOf(c.spans...).StartedAfterRootEnd; got != c.want {
					t.Errorf("%d, want %d", got, c.want)
				}
				slices.Reverse(c.spans)
			}
		})
	}
}

// TestBugs holds what other tools report wrongly, in ms as Jaeger shows it, after
// the reader has undone what warnings state.
func TestBugs(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		// Exported as 1020-1080, adjusted by -60: raw 1080-1140.
		{"B01", []testSpan{{id: 1, start: 1000, end: 1100}, {id: 2, parent: 1, start: 1080, end: 1140, ties: spans.Shifted}}, "completed 1"},
		{"B01 with a timeout mark", []testSpan{{id: 1, start: 1000, end: 1100, outcome: cut}, {id: 2, parent: 1, start: 1080, end: 1140, ties: spans.Shifted}}, "overruns 1, wasted 40 of 40"},
		{"B02", []testSpan{{id: 1, end: 100}, {id: 2, parent: 1, start: 150, end: 250, ties: spans.Async}}, "async 1"},
		{"B03", []testSpan{{id: 1, end: 10}, {id: 2, parent: 1, start: 15, end: 20, ties: spans.Shifted}}, "completed 1, after root 1"},
		// 3.4 ms from 0, and 3 ms from 1: 600 us.
		{"B04", []testSpan{{id: 1, end: 3, ns: 4e5}, {id: 2, parent: 1, start: 1, end: 4}}, "tolerated 1"},
		{"B06", []testSpan{{id: 2, parent: 0xdead, end: 30, kind: server}}, "missing 1"},
		{"B07", []testSpan{{id: 1, end: 10}, {id: 2, parent: 0xce85, start: 1, end: 90}}, "missing 1"},
		{"B08", []testSpan{{id: 1, end: 100, outcome: cut}, {id: 2, parent: 1, end: 50}, {id: 3, parent: 1, start: 50, end: 100}}, ""},
		// The halves of one id: the client 1000-1900, the server 1200-2700.
		{"B09 with a timeout mark", []testSpan{{id: 2, start: 1000, end: 1900, kind: client, outcome: cut}, {id: 2, start: 1200, end: 2700, kind: server}}, "overruns 1, wasted 800 of 800"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(resultOf(c.spans...).Counts); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestDoubleExecution is FACTS.md's timeline: t20 sent, t170 timed out while the
// server holds its lock, t175 retried, t290 the second timeout, t300 the caller
// has left, t340 the first attempt succeeds; the second does at t360.
func TestDoubleExecution(t *testing.T) {
	w := watchOf(usual,
		testSpan{id: 1, end: 300, outcome: cut, hop: "entry/order", kind: server, by: spans.Below},
		testSpan{id: 2, parent: 1, start: 20, end: 170, outcome: cut, hop: "entry/price", kind: client},
		testSpan{id: 3, parent: 2, start: 20, end: 340, hop: "price/get", kind: server},
		testSpan{id: 4, parent: 1, start: 175, end: 290, outcome: cut, hop: "entry/price", kind: client},
		testSpan{id: 5, parent: 4, start: 175, end: 360, hop: "price/get", kind: server},
	)
	r := w.Result(Query{Quantiles: median})
	// 170 to 340 is 170, 290 to 360 is 70; together 170 to 360 without a gap.
	if got := told(r.Counts); got != "overruns 2, wasted 190 of 240" {
		t.Error(got)
	}
	p := pairOf(t, r, "entry/price", "price/get")
	if p.CutCalls != 2 || p.CutCallsWithChild != 2 || p.Stopped != 0 || p.StoppedOf != 1 {
		t.Errorf("%+v", p)
	}
	for i, want := range []int64{170 * ms, 70 * ms} {
		if c := r.Items[i]; c.Wasted != want || c.Overrun != want || c.Sure != Certain {
			t.Errorf("item %d: %+v", i, c)
		}
	}
}

func TestHowSure(t *testing.T) {
	parent := testSpan{id: 1, end: 100, hop: "a/x", outcome: cut}
	child := testSpan{id: 2, parent: 1, start: 60, end: 130, hop: "b/y"} // 70 long, runs on for 30
	onHost := func(s testSpan, host string) testSpan { s.host = host; return s }
	lasting := func(s testSpan, end int) testSpan { s.end = end; return s }
	shifted := func(s testSpan) testSpan { s.ties |= spans.Shifted; return s }
	// a's and b's clocks are apart: a child of 99 reaches out of 100 by so much.
	skewed := func(out int) []testSpan {
		return []testSpan{{id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 1 + out, end: 100 + out, hop: "b/z"}}
	}
	for _, c := range []struct {
		name     string
		spans    []testSpan
		want     Sure
		evidence string
	}{
		{"nothing known", []testSpan{parent, child}, Likely, "no skew seen between the two services"},
		{"longer than its parent", append(skewed(49), parent, lasting(child, 162)), Certain, "the child alone lasted longer than its parent"},
		{"longer by the tolerance", append(skewed(49), parent, lasting(child, 161)), Likely, "beyond the 56 ms by which the clocks of the two services may be apart"},
		{"beyond the skew", append(skewed(25), parent, child), Likely, "beyond the 27 ms by which the clocks of the two services may be apart"},
		{"exactly the skew", append(skewed(31), parent, lasting(child, 133)), Doubtful, "within the 33 ms by which the clocks of the two services may be apart"},
		{"within the skew", append(skewed(45), parent, child), Doubtful, "within the 47 ms by which the clocks of the two services may be apart"},
		{"one host", append(skewed(45), onHost(parent, "n1"), onHost(child, "n1")), Likely, "timestamps of one host"},
		{"two hosts", append(skewed(45), onHost(parent, "n1"), onHost(child, "n2")), Doubtful, "within the 47 ms by which the clocks of the two services may be apart"},
		{"a shift of the child undone", append(skewed(45), parent, shifted(child)), Likely, "timestamps moved back by the stated shift"},
		{"a shift of the parent undone", append(skewed(45), shifted(parent), child), Likely, "timestamps moved back by the stated shift"},

		{"the skew shows at the start", []testSpan{parent, child, {id: 11, start: 40, end: 140, hop: "a/x"}, {id: 12, parent: 11, start: 5, end: 50, hop: "b/z"}},
			Doubtful, "within the 100 ms by which the clocks of the two services may be apart"},
		{"the skew shows the other way round", []testSpan{parent, child, {id: 11, end: 100, hop: "b/x"}, {id: 12, parent: 11, start: 80, end: 140, hop: "a/z"}},
			Doubtful, "within the 82 ms by which the clocks of the two services may be apart"},
		{"the skew is within the tolerance", []testSpan{parent, lasting(child, 102), {id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 80, end: 101, hop: "b/z"}},
			Likely, "no skew seen between the two services"},
		{"other services", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 80, end: 140, hop: "c/z"}},
			Likely, "no skew seen between the two services"},
		{"a child that does not fit shows no skew", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 20, end: 140, hop: "b/z"}},
			Likely, "no skew seen between the two services"},
		{"one that just fits does", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 35, end: 135, hop: "b/z"}},
			Doubtful, "within the 39 ms by which the clocks of the two services may be apart"},
		{"nor does one before a parent that gave up", []testSpan{parent, child, {id: 11, start: 40, end: 140, hop: "a/x", outcome: failed}, {id: 12, parent: 11, start: 5, end: 50, hop: "b/z"}},
			Likely, "no skew seen between the two services"},
		{"nor does one whose parent gave up", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x", outcome: failed}, {id: 12, parent: 11, start: 80, end: 140, hop: "b/z"}},
			Likely, "no skew seen between the two services"},
		{"nor one whose parent does not wait", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x"}, {id: 12, parent: 11, start: 80, end: 140, hop: "b/z", ties: spans.Async}},
			Likely, "no skew seen between the two services"},
		{"nor one timed by one clock", []testSpan{parent, child, {id: 11, end: 100, hop: "a/x", host: "n1"}, {id: 12, parent: 11, start: 80, end: 140, hop: "b/z", host: "n1"}},
			Likely, "no skew seen between the two services"},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := resultOf(c.spans...).Items
			i := slices.IndexFunc(items, func(item Case) bool { return item.Child.Span == spans.SpanID(2).String() })
			if i < 0 || items[i].Sure != c.want || items[i].Evidence != c.evidence {
				t.Errorf("item %d of %+v", i, items)
			}
		})
	}
}

func TestWithoutParentsNothingCanBeChecked(t *testing.T) {
	r := resultOf(testSpan{id: 1, end: 100, outcome: cut}, testSpan{id: 2, start: 90, end: 200})
	if r.Checkable || r.Reason != "no parent ids" {
		t.Errorf("%+v", r)
	}
	for _, list := range [][]testSpan{{{id: 1, end: 9}, {id: 2, parent: 1, end: 3}}, {{id: 2, parent: 1, end: 3}}} {
		if r := resultOf(list...); !r.Checkable || r.Reason != "" || r.Tolerance != ms {
			t.Errorf("%+v", r)
		}
	}
}

// TestHugeTimesDoNotWrap: sums stop at the largest int64 and never turn negative.
func TestHugeTimesDoNotWrap(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	timed := spans.HasStart | spans.HasDuration
	at := func(id, parent uint64, start, duration int64) spans.Span {
		return spans.Span{ID: spans.SpanID(id), Parent: spans.SpanID(parent), Start: start, Duration: duration, Outcome: cut, Flags: timed}
	}
	w := NewAccumulator(Config{Tolerance: most, Limit: 3})
	u := NewAccumulator(Config{Limit: 3})
	for range 3 {
		for _, one := range []*Accumulator{w, u} {
			one.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{
				at(1, 0, least, 1), at(2, 1, least, most), at(3, 1, -5, most), at(4, 1, 5, most), at(5, 2, most, most), at(6, 4, least, 0),
			}, []spans.Hop{{Name: "h", Kind: client}}, nil))
		}
	}
	u.Merge(w)
	r := u.Result(Query{Quantiles: median, Wall: func(spans.Hop) (int64, bool) { return most, true }})
	if r.Wasted != most || r.WastedUnion != most || r.WastedBy[0].NS != most || r.Pairs[0].Wasted != most {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct{ a, b, want int64 }{{5, 3, 2}, {3, 5, -2}, {most, -1, most}, {least, 1, least}, {-2, most, least}, {0, least, most}, {least, least, 0}} {
		if got := after(c.a, c.b); got != c.want {
			t.Errorf("%d after %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
