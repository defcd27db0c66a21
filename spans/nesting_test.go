package spans

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// nested builds a trace of spans given as "hop start-end" in ms and returns
// "hop<-parent" of each in the order given.
func nested(t *testing.T, lines ...string) string {
	t.Helper()
	hops := map[string]int32{}
	var table []Hop
	var spans []Span
	for i, line := range lines {
		var hop string
		var from, to int64
		if _, err := fmt.Sscanf(line, "%s %d-%d", &hop, &from, &to); err != nil {
			t.Fatal(err)
		}
		if _, ok := hops[hop]; !ok {
			hops[hop] = int32(len(table))
			table = append(table, Hop{Name: hop})
		}
		spans = append(spans, Span{ID: SpanID(i + 1), Hop: hops[hop], Start: from * 1e6, Duration: (to - from) * 1e6, Flags: HasStart | HasDuration})
	}
	tr := NewTrace(TraceID{Lo: 1}, spans, table, []string{""})
	tr.InferNesting()
	parts := make([]string, len(lines))
	for i := range tr.Spans {
		parent := "root"
		if p := tr.Parents[i]; p >= 0 {
			parent = tr.HopOf(p).Name
		}
		parts[tr.Spans[i].ID-1] = tr.HopOf(int32(i)).Name + "<-" + parent
	}
	if len(tr.TopDown()) != len(lines) {
		t.Errorf("top down lists %d of %d", len(tr.TopDown()), len(lines))
	}
	return strings.Join(parts, " ")
}

func TestNestingIsInferredFromTimes(t *testing.T) {
	for _, c := range []struct {
		want  string
		lines []string
	}{
		{"a<-root b<-a c<-b", []string{"a 0-100", "b 10-90", "c 20-30"}},
		{"a<-root b<-a b<-a", []string{"a 0-100", "b 10-40", "b 50-90"}},                 // retries are no parents of each other
		{"a<-root b<-a c<-b", []string{"a 0-100", "b 10-50", "c 40-200"}},                // runs on after both
		{"a<-root b<-root", []string{"a 0-100", "b 100-150"}},                            // starts when the other ended
		{"a<-root b<-a", []string{"a 0-100", "b 0-50"}},                                  // together: the longer is outside
		{"b<-a a<-root", []string{"b 0-50", "a 0-100"}},                                  // whatever the order
		{"a<-root a<-root", []string{"a 0-100", "a 10-90"}},                              // the same hop is never a parent
		{"a<-root b<-a c<-a", []string{"a 0-100", "b 10-20", "c 30-40"}},                 // b had ended
		{"a<-root b<-a a<-root", []string{"a 0-30", "b 1-41", "a 32-60"}},                // a retry of a while its first b still runs
		{"a<-root b<-a b<-a c<-b", []string{"a 0-100", "b 10-90", "b 20-80", "c 30-40"}}, // the one that started last
	} {
		if got := nested(t, c.lines...); got != c.want {
			t.Errorf("%v: %s, want %s", c.lines, got, c.want)
		}
	}
}

func TestSpansWithoutATimeStayRoots(t *testing.T) {
	tr := NewTrace(TraceID{Lo: 1}, []Span{{ID: 1, Hop: 0}, {ID: 2, Hop: 1, Start: 5, Duration: 5, Flags: HasStart | HasDuration}},
		[]Hop{{Name: "a"}, {Name: "b"}}, []string{""})
	tr.InferNesting()
	if len(tr.Roots) != 2 {
		t.Errorf("roots %v", tr.Roots)
	}
}

func TestOnlyLinesOfALogAreOfALog(t *testing.T) {
	line, span := Span{ID: 1, Ties: LogLine | Async}, Span{ID: 2}
	for _, c := range []struct {
		name  string
		spans []Span
		want  bool
	}{{"lines", []Span{line, line}, true}, {"a span among them", []Span{line, span}, false}, {"a span", []Span{span}, false}} {
		if got := NewTrace(TraceID{Lo: 1}, c.spans, []Hop{{Name: "a"}}, nil).OfLog(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// nestingByWords finds parents by the words of the rule: of the attempts that run,
// the last to start that has none of the hop above it.
func nestingByWords(hops []int32, starts, ends []int64) []int32 {
	parents := make([]int32, len(hops))
	above := func(i int32, hop int32) bool {
		for ; i >= 0; i = parents[i] {
			if hops[i] == hop {
				return true
			}
		}
		return false
	}
	for i := range hops {
		parents[i] = -1
		for k := i - 1; k >= 0 && parents[i] < 0; k-- {
			if ends[k] > starts[i] && !above(int32(k), hops[i]) {
				parents[i] = int32(k)
			}
		}
	}
	return parents
}

func TestNestingAgreesWithTheRuleReadAloud(t *testing.T) {
	var n nesting
	rapid.Check(t, func(t *rapid.T) {
		size, kinds := rapid.IntRange(0, 60).Draw(t, "size"), rapid.Int32Range(1, 8).Draw(t, "hops")
		var hops []int32
		var starts, ends []int64
		for i, at := 0, int64(0); i < size; i++ {
			at += rapid.Int64Range(0, 3).Draw(t, "later")
			hops = append(hops, rapid.Int32Range(0, kinds-1).Draw(t, "hop"))
			starts, ends = append(starts, at), append(ends, at+rapid.Int64Range(0, 40).Draw(t, "took"))
		}
		n.begin()
		for i, want := range nestingByWords(hops, starts, ends) {
			if got := n.place(hops[i], starts[i], ends[i]); got != want {
				t.Fatalf("attempt %d lies under %d, want %d", i, got, want)
			}
		}
	})
}

// Half of the lines are nested in each other, the other half are of the outermost
// hop: each asks all those above it. A walk for each of them would take minutes.
func TestALongChainIsNestedInOneLookAtEachAttempt(t *testing.T) {
	const half = 4000
	var n nesting
	n.begin()
	for i := range int32(2 * half) {
		hop, want := i, i-1
		if i >= half {
			hop, want = 0, -1
		}
		if got := n.place(hop, int64(i), 1_000_000); got != want {
			t.Fatalf("attempt %d lies under %d, want %d", i, got, want)
		}
	}
}
