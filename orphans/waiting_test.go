package orphans

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// beside are n completed calls of one hop by another, each a trace of its own: the parent
// lasts from 0 to 100 ms, the child as told.
func beside(n int, child testSpan) (list [][]testSpan) {
	for range n {
		parent := testSpan{id: 1, end: 100, hop: "a/call", kind: client}
		child.id, child.parent = 2, 1
		if child.kind == spans.NoKind {
			parent = testSpan{id: 1, end: 100, hop: "a/serve", kind: server}
		}
		list = append(list, []testSpan{parent, child})
	}
	return list
}

// under is a call like these that was cut, or ended otherwise.
func under(o spans.Outcome, child testSpan) [][]testSpan {
	one := beside(1, child)
	one[0][0].outcome = o
	return one
}

func TestWhatOutlivesCompletedParentsAsARuleIsAwaitedByNobody(t *testing.T) {
	local := func(start, end int) testSpan { return testSpan{start: start, end: end, hop: "a/audit"} }
	far := func(op string, start, end int) testSpan {
		return testSpan{start: start, end: end, hop: "b/" + op, kind: server}
	}
	for _, c := range []struct {
		name   string
		traces [][][]testSpan
		want   string // orphaned + doubtful, not awaited; pairs
	}{
		// 0.05^(1/5) = .549 and 0.05^(1/4) = .473.
		{"five of five", [][][]testSpan{beside(5, local(90, 120)), under(cut, local(90, 120))}, "0+0, 1; a/audit 5/5 1"},
		{"four of four are too few", [][][]testSpan{beside(4, local(90, 120)), under(cut, local(90, 120))}, "1+0, 0;"},
		{"half of them", [][][]testSpan{beside(50, local(90, 120)), beside(50, local(9, 20)), under(cut, local(90, 120))}, "1+0, 0;"},
		{"most of them", [][][]testSpan{beside(60, local(90, 120)), beside(40, local(9, 20)), under(cut, local(90, 120))}, "0+0, 1; a/audit 60/100 1"},
		{"under a parent that failed", [][][]testSpan{beside(5, local(90, 120)), under(failed, local(90, 120))}, "0+0, 0; a/audit 5/5 0"},
		{"by the tolerance only", [][][]testSpan{beside(50, local(90, 101)), under(cut, local(90, 120))}, "1+0, 0;"},
		{"asynchronous ones tell nothing", [][][]testSpan{beside(50, testSpan{start: 90, end: 120, hop: "a/audit", ties: spans.Async}), under(cut, local(90, 120))}, "1+0, 0;"},
		// On another clock only what lasts longer than its parent surely outlives it.
		{"far, and longer", [][][]testSpan{beside(5, far("get", 10, 130)), under(cut, far("get", 10, 130))}, "0+0, 1; b/get 5/5 1"},
		{"far, and as the clocks have it", [][][]testSpan{beside(50, far("get", 40, 120)), under(cut, far("get", 40, 120))}, "0+1, 0;"},
		// Between the same services put fits by 1 ms: the clocks are no farther apart.
		{"far, and beyond what the clocks may be apart", [][][]testSpan{beside(50, far("get", 40, 120)), beside(20, far("put", 1, 100)), under(cut, far("get", 40, 120))}, "0+0, 1; b/get 50/50 1"},
		{"but of too few others", [][][]testSpan{beside(50, far("get", 40, 120)), beside(19, far("put", 1, 100)), under(cut, far("get", 40, 120))}, "0+1, 0;"},
		{"far, within what another leaves to the clocks", [][][]testSpan{beside(50, far("get", 40, 120)), beside(20, far("put", 21, 119)), under(cut, far("get", 40, 120))}, "0+1, 0;"},
		{"a straggler shows that clocks are apart", [][][]testSpan{beside(1, far("get", 40, 120)), beside(50, far("get", 1, 100)), under(cut, far("put", 50, 120))}, "0+1, 0;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewAccumulator(usual)
			for n, list := range slices.Concat(c.traces...) {
				w.AddTrace(traceOf(n, list...))
			}
			r := w.Result(Query{})
			got := fmt.Sprintf("%d+%d, %d;", r.Orphaned, r.Doubtful, r.OutlivedNotAwaited)
			for _, p := range r.NotAwaited {
				got += fmt.Sprintf(" %s %d/%d %d", p.Child.Name, p.Outlived, p.Of, p.Spared)
			}
			if got != c.want || len(r.Items) != int(r.Orphaned+r.Doubtful) {
				t.Errorf("%s, want %s; %d items", got, c.want, len(r.Items))
			}
		})
	}
}

// TestAnOrphanThatTheClocksHide: its clock is behind, and yet it lasted longer than its
// parent.
func TestAnOrphanThatTheClocksHide(t *testing.T) {
	r := resultOf(testSpan{id: 1, start: 100, end: 200, hop: "a/call", kind: client, outcome: cut}, testSpan{id: 2, parent: 1, start: 40, end: 170, hop: "b/get", kind: server})
	if r.Orphaned != 1 || r.Wasted != 30*ms || r.Items[0].Sure != Certain || r.Items[0].Overrun != 30*ms {
		t.Errorf("%+v", r)
	}
}

// TestAServerThatAnsweredIsNoOrphan: the call has its server's error, so that the server
// only seems to end later.
func TestAServerThatAnsweredIsNoOrphan(t *testing.T) {
	call := testSpan{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut, by: spans.Below}
	served := testSpan{id: 2, parent: 1, start: 40, end: 130, hop: "b/get", kind: server, outcome: cut, by: spans.Own}
	change := func(s testSpan, f func(*testSpan)) testSpan { f(&s); return s }
	for _, c := range []struct {
		name         string
		call, served testSpan
		want         uint64
	}{
		{"it answered", call, served, 0},
		{"its caller left", change(call, func(s *testSpan) { s.by = spans.Own }), served, 1},
		{"it completed", call, change(served, func(s *testSpan) { s.outcome = spans.Completed }), 1},
		{"it was cancelled", call, change(served, func(s *testSpan) { s.by = spans.Caller }), 1},
		{"it lasted longer", call, change(served, func(s *testSpan) { s.start, s.end = 10, 120 }), 1},
		{"it is no server", call, change(served, func(s *testSpan) { s.kind = client }), 1},
		{"one clock", change(call, func(s *testSpan) { s.host = "n1" }), change(served, func(s *testSpan) { s.host = "n1" }), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := resultOf(c.call, c.served); r.Orphaned+r.Doubtful != c.want {
				t.Errorf("%d and %d doubtful, want %d", r.Orphaned, r.Doubtful, c.want)
			}
		})
	}
}

func TestStepsAreTwelveADecade(t *testing.T) {
	for _, c := range []struct{ ns, edge int64 }{{0, 10}, {10, 10}, {11, 12}, {83, 100}, {45 * ms, 47 * ms}, {47 * ms, 47 * ms}, {47*ms + 1, 56 * ms}, {1 << 62, 47e17}, {none, none}} {
		if got := edges[stepOf(c.ns)]; got != c.edge {
			t.Errorf("%d: %d, want %d", c.ns, got, c.edge)
		}
	}
	if len(edges) > 255 {
		t.Errorf("%d steps are no grade", len(edges))
	}
}
