package orphans

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// wallsOf knows the timeouts of hops by name, in ms.
func wallsOf(ms64 map[string]int) func(spans.Hop) (int64, bool) {
	return func(h spans.Hop) (int64, bool) {
		wall, known := ms64[h.Name]
		return int64(wall) * ms, known
	}
}

func inversionsText(list []Inversion) string {
	var s []string
	for _, i := range list {
		s = append(s, fmt.Sprintf("%s %s > %s %s: %d", i.Parent.Name, inMS(i.ParentWall), i.Child.Name, inMS(i.ChildWall), i.Seen))
	}
	return strings.Join(s, ", ")
}

// callChain nests calls under each other by hop, each with a server span
// between, and each beginning so many ms after the one above it.
func callChain(from int, hops []string, delay int) (list []testSpan) {
	parent := 0
	for i, hop := range hops {
		start := i * delay
		list = append(list, testSpan{id: from, parent: parent, start: start, end: 1000, hop: hop, kind: client},
			testSpan{id: from + 1, parent: from, start: start, end: 1000, hop: "serve " + hop, kind: server})
		from, parent = from+2, from+1
	}
	return list
}

func TestInversions(t *testing.T) {
	for _, c := range []struct {
		name  string
		hops  []string
		delay int
		walls map[string]int
		want  string
	}{
		{"the child has more", []string{"a", "b"}, 0, map[string]int{"a": 300, "b": 400}, "a 300 > b 400: 1"},
		{"equal", []string{"a", "b"}, 0, map[string]int{"a": 300, "b": 300}, "a 300 > b 300: 1"},
		{"the child has less", []string{"a", "b"}, 0, map[string]int{"a": 300, "b": 299}, ""},
		// 200 + 100 = 300 is no less; 199 + 100 is.
		{"less, but late", []string{"a", "b"}, 100, map[string]int{"a": 300, "b": 200}, "a 300 > b 200: 1"},
		{"less, and not late enough", []string{"a", "b"}, 100, map[string]int{"a": 300, "b": 199}, ""},
		{"no wall above", []string{"a", "b"}, 0, map[string]int{"b": 400}, ""},
		{"no wall below", []string{"a", "b"}, 0, map[string]int{"a": 300}, ""},
		{"a wall of a server is not asked for", []string{"a", "b"}, 0, map[string]int{"a": 500, "serve a": 100, "b": 400}, ""},
		// b has none, so c's nearest is a: 150 + 2 * 100 >= 300.
		{"none between", []string{"a", "b", "c"}, 100, map[string]int{"a": 300, "c": 150}, "a 300 > c 150: 1"},
		{"the nearest alone", []string{"a", "b", "c"}, 0, map[string]int{"a": 100, "b": 90, "c": 80}, ""},
		{"the nearest is sound, the one above it not", []string{"a", "b", "c"}, 0, map[string]int{"a": 70, "b": 90, "c": 80}, "a 70 > b 90: 1"},
		{"itself", []string{"a", "a", "a"}, 0, map[string]int{"a": 70}, "a 70 > a 70: 2"},
		{"as far up as is looked", strings.Split("abcdefghi", ""), 0, map[string]int{"a": 100, "i": 100}, "a 100 > i 100: 1"},
		{"farther", strings.Split("abcdefghij", ""), 0, map[string]int{"a": 100, "j": 100}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watchOf(usual, callChain(1, c.hops, c.delay)...)
			if got := inversionsText(w.Result(Query{Wall: wallsOf(c.walls)}).Inversions); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestNearestCallerIsOfEachCall(t *testing.T) {
	// c is called by b under a, and elsewhere by d: d's wall says nothing about
	// the first. 80 ms of c are more than a's 70.
	list := append(callChain(1, []string{"a", "b", "c"}, 0), callChain(21, []string{"d", "c"}, 0)...)
	w := watchOf(usual, list...)
	if got := inversionsText(w.Result(Query{Wall: wallsOf(map[string]int{"a": 70, "c": 80, "d": 90})}).Inversions); got != "a 70 > c 80: 1" {
		t.Error(got)
	}
}

func TestInversionsAreCountedByTheCall(t *testing.T) {
	// A call at 0 and its retry 250 ms later, of 100 under 300: 100 < 300 <= 350.
	list := []testSpan{{id: 1, end: 1000, hop: "a", kind: client},
		{id: 2, parent: 1, start: 0, end: 100, hop: "b", kind: client, outcome: cut}, {id: 3, parent: 1, start: 250, end: 300, hop: "b", kind: client}}
	w := watchOf(usual, list...)
	walls := Query{Wall: wallsOf(map[string]int{"a": 300, "b": 100})}
	if got := inversionsText(w.Result(walls).Inversions); got != "a 300 > b 100: 1" {
		t.Error(got)
	}
	if got := w.Result(Query{}).Inversions; got != nil {
		t.Errorf("no walls at all: %v", got)
	}
}

func TestInversionsWithoutAllTimes(t *testing.T) {
	outer := testSpan{id: 1, start: 0, end: 1000, hop: "a", kind: client}
	inner := testSpan{id: 2, parent: 1, start: 500, end: 600, hop: "b", kind: client}
	change := func(s testSpan, f func(*testSpan)) testSpan { f(&s); return s }
	for _, c := range []struct {
		name  string
		spans []testSpan
		b     int // b's wall; a's is 600
		want  string
	}{
		{"no end above", []testSpan{change(outer, func(s *testSpan) { s.noEnd = true }), inner}, 100, "a 600 > b 100: 1"},
		// Nothing is known of the time spent: it counts as none.
		{"no start above", []testSpan{change(outer, func(s *testSpan) { s.noStart = true }), inner}, 100, ""},
		{"no start above, and more", []testSpan{change(outer, func(s *testSpan) { s.noStart = true }), inner}, 600, "a 600 > b 600: 1"},
		{"no start below", []testSpan{outer, change(inner, func(s *testSpan) { s.noStart = true })}, 599, ""},
		{"the clock below is behind", []testSpan{outer, change(inner, func(s *testSpan) { s.start = -50 })}, 600, "a 600 > b 600: 1"},
		{"nobody waits", []testSpan{outer, change(inner, func(s *testSpan) { s.ties = spans.Async })}, 600, ""},
		{"lines of a log", []testSpan{change(outer, func(s *testSpan) { s.kind, s.line = spans.NoKind, true }), change(inner, func(s *testSpan) { s.kind, s.line = spans.NoKind, true })}, 100, "a 600 > b 100: 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watchOf(usual, c.spans...)
			if got := inversionsText(w.Result(Query{Wall: wallsOf(map[string]int{"a": 600, "b": c.b})}).Inversions); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestCutOrder(t *testing.T) {
	call := func(id, parent, end int, hop string) testSpan {
		return testSpan{id: id, parent: parent, end: end, hop: hop, kind: client, outcome: cut, host: "n1"}
	}
	apart := func(s testSpan) testSpan { s.host = ""; return s } // another clock
	// A call of a's to b that completed, out of which the server reaches by so much.
	skewed := func(out int) []testSpan {
		return []testSpan{{id: 11, end: 100, hop: "a", kind: client}, {id: 12, parent: 11, start: 1 + out, end: 100 + out, hop: "b", kind: server}}
	}
	change := func(s testSpan, f func(*testSpan)) testSpan { f(&s); return s }
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		{"the inner first", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 900, "b")}, "a > b 0/0/1"},
		{"the outer first", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 1100, "b")}, "a > b 1/0/0"},
		// 2 % of 1000 is 20.
		{"together", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 1000, "b")}, "a > b 0/1/0"},
		{"just together, before", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 980, "b")}, "a > b 0/1/0"},
		{"just together, after", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 1020, "b")}, "a > b 0/1/0"},
		{"1 ns less", []testSpan{call(1, 0, 1000, "a"), change(call(2, 1, 980, "b"), func(s *testSpan) { s.ns = -1 })}, "a > b 0/0/1"},
		{"1 ns more", []testSpan{call(1, 0, 1000, "a"), change(call(2, 1, 1020, "b"), func(s *testSpan) { s.ns = 1 })}, "a > b 1/0/0"},
		{"servers between", []testSpan{call(1, 0, 1000, "a"), {id: 5, parent: 1, end: 1000, kind: server, outcome: cut}, call(2, 5, 900, "b")}, "a > b 0/0/1"},
		{"a call between that was not cut", []testSpan{call(1, 0, 1000, "a"), {id: 5, parent: 1, end: 1000, kind: client, outcome: failed}, call(2, 5, 900, "b")}, "a > b 0/0/1"},
		{"three layers: each with the next", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 900, "b"), call(3, 2, 1100, "c")}, "a > b 0/0/1, b > c 1/0/0"},
		{"two inner ones", []testSpan{call(1, 0, 1000, "a"), call(2, 1, 900, "b"), call(3, 1, 1900, "b")}, "a > b 1/0/1"},
		{"one layer", []testSpan{call(1, 0, 1000, "a"), {id: 2, parent: 1, end: 900, kind: client}}, ""},
		{"no end above", []testSpan{change(call(1, 0, 0, "a"), func(s *testSpan) { s.noEnd = true }), call(2, 1, 900, "b")}, ""},
		{"no end below", []testSpan{call(1, 0, 1000, "a"), change(call(2, 1, 900, "b"), func(s *testSpan) { s.noEnd = true })}, ""},
		{"nobody waits", []testSpan{call(1, 0, 1000, "a"), change(call(2, 1, 900, "b"), func(s *testSpan) { s.ties = spans.Async })}, ""},
		{"two clocks of which nothing is known", []testSpan{call(1, 0, 1000, "a"), apart(call(2, 1, 1100, "b"))}, "a > b 1/0/0?"},
		// 1100 is 80 beyond the border of 1020; 80 + 2 is 82 in steps, 60 + 2 is 68.
		{"within the skew", append(skewed(80), call(1, 0, 1000, "a"), apart(call(2, 1, 1100, "b"))), "a > b 1/0/0?"},
		{"beyond the skew", append(skewed(60), call(1, 0, 1000, "a"), apart(call(2, 1, 1100, "b"))), "a > b 1/0/0"},
		{"no skew", append(skewed(0), call(1, 0, 1000, "a"), apart(call(2, 1, 1100, "b"))), "a > b 1/0/0"},
		{"together, within the skew", append(skewed(60), call(1, 0, 1000, "a"), apart(call(2, 1, 1000, "b"))), "a > b 0/1/0?"},
		{"the outer was cut from below", []testSpan{change(call(1, 0, 1000, "a"), func(s *testSpan) { s.by = spans.Below }), apart(call(2, 1, 1100, "b"))}, "a > b 0/0/1"},
		{"from below, on one clock", []testSpan{change(call(1, 0, 1000, "a"), func(s *testSpan) { s.by = spans.Below }), call(2, 1, 999, "b")}, "a > b 0/0/1"},
		{"from below, but by another", []testSpan{change(call(1, 0, 1000, "a"), func(s *testSpan) { s.by = spans.Below }), call(2, 1, 1100, "b")}, "a > b 1/0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, o := range resultOf(c.spans...).CutOrder {
				got = append(got, fmt.Sprintf("%s > %s %d/%d/%d", o.Outer.Name, o.Inner.Name, o.OuterFirst, o.Together, o.InnerFirst)+strings.Repeat("?", int(o.Doubtful)))
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}
