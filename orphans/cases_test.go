package orphans

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscope/tailscope/spans"
)

// manyCases are orphans under a parent of 100 ms: 1 is a late start with a long
// overrun and little waste, 2 the other way round, and four are alike.
func manyCases() []testSpan {
	list := []testSpan{{id: 1, end: 100, hop: "a", outcome: cut}}
	add := func(id, start, end int) {
		list = append(list, testSpan{id: id, parent: 1, start: start, end: end, hop: "b"})
	}
	add(2, 500, 510) // over 410, wasted 10
	add(3, 50, 400)  // over 300, wasted 300
	for id := 4; id < 8; id++ {
		add(id, 60, 200) // over 100, wasted 100
	}
	return list
}

func ids(items []Case) string {
	var s []string
	for _, c := range items {
		s = append(s, strings.TrimLeft(c.Child.Span, "0"))
	}
	return strings.Join(s, " ")
}

func TestWorstCases(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Limit: 100}, "3 4 5 6 7 2"},
		{Config{Limit: 100, ByOverrun: true}, "2 3 4 5 6 7"},
		{Config{Limit: 3}, "3 4 5"},
		{Config{Limit: 3, ByOverrun: true}, "2 3 4"},
		{Config{Limit: 1}, "3"},
		{Config{}, ""},
		{Config{Limit: -1}, ""},
	} {
		for range 20 {
			// Each case in a trace of its own; all traces have one name.
			all := manyCases()
			w := NewAccumulator(c.config)
			for _, i := range r.Perm(len(all) - 1) {
				w.AddTrace(traceOf(1, all[0], all[i+1]))
			}
			got := w.Result(Query{})
			if s := ids(got.Items); s != c.want || got.Orphaned != 6 {
				t.Errorf("%+v: %s, want %s", c.config, s, c.want)
			}
		}
	}
}

// TestCasesThatDifferInOneFieldOnly come out in one order, whoever comes first.
func TestCasesThatDifferInOneFieldOnly(t *testing.T) {
	var list []Case
	for i := range 2 {
		for _, change := range []func(c *Case){
			func(c *Case) { c.Trace = "t" },
			func(c *Case) { c.Child.Span = "s" },
			func(c *Case) { c.Child.Start = 1 },
			func(c *Case) { c.Child.Duration = 1 },
			func(c *Case) { c.Child.Hop.Name = "h" },
			func(c *Case) { c.Child.Host = "n" },
			func(c *Case) { c.Child.Outcome = cut },
			func(c *Case) { c.Child.CutBy = spans.Own },
			func(c *Case) { c.Parent.Span = "s" },
			func(c *Case) { c.File = 1 },
			func(c *Case) { c.Line = 1 },
			func(c *Case) { c.Offset = 1 },
		} {
			c := Case{Wasted: int64(i)}
			change(&c)
			list = append(list, c)
		}
	}
	var want []Case
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 30 {
		w := worst{limit: 7}
		for _, i := range r.Perm(len(list)) {
			w.add(list[i])
		}
		if round == 0 {
			want = slices.Clone(w.sort())
		}
		if d := cmp.Diff(want, w.sort(), cmpopts.EquateComparable(Case{})); d != "" {
			t.Fatal(d)
		}
	}
}

func TestACaseSaysWhatAndWhere(t *testing.T) {
	items := resultOf(
		testSpan{id: 1, start: 10, end: 110, hop: "a/call", kind: client, outcome: cut, host: "n1"},
		testSpan{id: 2, parent: 1, start: 30, end: 125, hop: "b/get", kind: server, outcome: failed, host: "n2"}).Items
	want := []Case{{
		Trace: fmt.Sprintf("%032x", 1), Kind: Overrun,
		Parent:  End{Hop: spans.Hop{Name: "a/call", Service: "a", Operation: "call", Kind: client}, Span: fmt.Sprintf("%016x", 1), Start: 10 * ms, Duration: 100 * ms, Host: "n1", Outcome: cut, CutBy: spans.Own},
		Child:   End{Hop: spans.Hop{Name: "b/get", Service: "b", Operation: "get", Kind: server}, Span: fmt.Sprintf("%016x", 2), Start: 30 * ms, Duration: 95 * ms, Host: "n2", Outcome: failed},
		Overrun: 15 * ms, Wasted: 15 * ms, Sure: Likely, Evidence: "no skew seen between the two services",
		Position: Position{2, 200},
	}}
	if d := cmp.Diff(want, []Case(items), cmpopts.IgnoreUnexported(Case{})); d != "" {
		t.Error(d)
	}
	late := resultOf(testSpan{id: 1, end: 100, outcome: cut}, testSpan{id: 2, parent: 1, start: 150, end: 160}).Items
	if late[0].Kind != LateStart || late[0].Overrun != 60*ms || late[0].Wasted != 10*ms {
		t.Errorf("%+v", late[0])
	}
}
