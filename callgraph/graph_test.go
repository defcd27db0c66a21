package callgraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

const (
	cut    = spans.Truncated
	failed = spans.Failed
)

func TestGraphOfATrace(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		{"calls through servers, in a row", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 40, hop: "call a"}, {id: 3, parent: 2, start: 15, end: 35, hop: "a"},
			{id: 4, parent: 3, start: 20, end: 30, hop: "call b"}, {id: 5, parent: 1, start: 50, end: 90, hop: "call c"},
		}, `
call a (0) -> call b 1×1; own 20
root (1) -> call a 1×1, call c 1×1; own 30`},
		{"calls side by side", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 40, hop: "call a"}, {id: 3, parent: 1, start: 20, end: 60, hop: "call b"},
			{id: 4, parent: 1, start: 60, end: 70, hop: "call c"},
		}, `
root (1) -> call a 1×1 | call b 1×1, call c 1×1; own 40`},
		{"two side by side with a third, but not with each other", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 30, hop: "call a"}, {id: 3, parent: 1, start: 10, end: 60, hop: "call b"},
			{id: 4, parent: 1, start: 40, end: 70, hop: "call c"},
		}, `
root (1) -> call a 1×1 | call b 1×1, call c 1×1; own 40`},
		{"many calls of one hop, of which two overlap", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 0, end: 10, hop: "call a"}, {id: 3, parent: 1, start: 5, end: 15, hop: "call a"},
			{id: 4, parent: 1, start: 20, end: 30, hop: "call a"}, {id: 5, parent: 1, start: 30, end: 40, hop: "call a"},
		}, `
root (1) -> call a 1×3; own 65`},
		{"a long call beside two short ones in a row", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 0, end: 90, hop: "call a"}, {id: 3, parent: 1, start: 10, end: 20, hop: "call a"},
			{id: 4, parent: 1, start: 20, end: 30, hop: "call a"},
		}, `
root (1) -> call a 1×2; own 10`},
		{"a call with its retry is one call, and its wait no own work", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 30, hop: "call a", outcome: cut}, {id: 3, parent: 1, start: 50, end: 70, hop: "call a"},
		}, `
root (1) -> call a 1×1; own 40`},
		{"so is one with several retries", []testSpan{
			{id: 1, end: 200, hop: "root"}, {id: 2, parent: 1, start: 10, end: 30, hop: "call a", outcome: cut}, {id: 3, parent: 1, start: 40, end: 60, hop: "call a", outcome: cut},
			{id: 4, parent: 1, start: 80, end: 100, hop: "call a", outcome: failed}, {id: 5, parent: 1, start: 110, end: 130, hop: "call a"},
		}, `
root (1) -> call a 1×1; own 80`},
		{"what nobody waits for is a request of its own", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 200, hop: "job", kind: spans.Consumer, ties: spans.Async},
			{id: 3, parent: 2, start: 20, end: 50, hop: "call a"},
		}, `
job (1) -> call a 1×1; own 160
root (1) -> ; own 100`},
		{"a trace that begins with a call", []testSpan{
			{id: 1, start: 0, end: 50, hop: "call a"}, {id: 2, parent: 1, start: 10, end: 40, hop: "a"},
		}, `
request (1) -> call a 1×1; own 0`},
		{"internal spans are passed through, spans without times too", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 90, hop: "work", kind: spans.Internal},
			{id: 3, parent: 2, hop: "lost", untimed: true}, {id: 4, parent: 3, start: 20, end: 60, hop: "call a"},
		}, `
root (1) -> call a 1×1; own 60`},
		{"calls outside their caller's time are clipped", []testSpan{
			{id: 1, start: 50, end: 100, hop: "root"}, {id: 2, parent: 1, start: 20, end: 60, hop: "call a"}, {id: 3, parent: 1, start: 90, end: 150, hop: "call b"},
		}, `
root (1) -> call a 1×1, call b 1×1; own 30`},
		{"a cut call's own work is that of its server", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 40, hop: "call a", outcome: cut}, {id: 3, parent: 2, start: 12, end: 92, hop: "a"},
			{id: 4, parent: 3, start: 20, end: 70, hop: "call b"},
		}, `
call a (0) -> call b 1×1; own 30
root (1) -> call a 1×1; own 70`},
		{"without its server nothing is known of it", []testSpan{
			{id: 1, end: 100, hop: "root"}, {id: 2, parent: 1, start: 10, end: 40, hop: "call a", outcome: cut}, {id: 3, parent: 2, start: 12, end: 92, hop: "a", outcome: failed},
			{id: 4, parent: 3, start: 20, end: 70, hop: "call b"},
		}, `
call a (0) -> call b 1×1; own 
root (1) -> call a 1×1; own 70`},
	} {
		w := NewAccumulator(Config{})
		w.AddTrace(traceOf(1, c.spans...))
		if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), describe(w.Graph())); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestGraphOfAChain(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []testLine
		want  string
	}{
		{"nested lines", []testLine{{hop: "orders", end: 100}, {hop: "stock", start: 10, end: 60, in: 1}, {hop: "bill", start: 110, end: 150}}, `
request (1) -> bill 1×1, orders 1×1; own 10
orders (0) -> stock 1×1; own 50`},
		{"a retry is known by what gave up before it", []testLine{
			{hop: "orders", end: 100}, {hop: "stock", start: 10, end: 30, in: 1, outcome: cut}, {hop: "stock", start: 35, end: 60, in: 1},
		}, `
request (1) -> orders 1×1; own 0
orders (0) -> stock 1×1; own 50`},
		{"a second retry too", []testLine{
			{hop: "stock", start: 10, end: 30, outcome: cut}, {hop: "stock", start: 35, end: 60, outcome: failed}, {hop: "stock", start: 70, end: 90},
		}, `
request (1) -> stock 1×1; own 0`},
		{"calls without times come in a row", []testLine{
			{hop: "a", end: 10, untimed: true}, {hop: "b", end: 20, untimed: true, outcome: cut}, {hop: "b", end: 20, untimed: true}, {hop: "c", end: 5, untimed: true},
			{hop: "c", end: 5, untimed: true}, {hop: "d", end: 5, untimed: true, outcome: failed},
		}, `
request (1) -> a 1×1, b 1×1, c 1×2, d 1×1; own `},
		{"a line that is not completed and holds calls", []testLine{{hop: "orders", end: 100, outcome: cut}, {hop: "stock", start: 10, end: 100, in: 1, outcome: cut}}, `
request (1) -> orders 1×1; own 0
orders (0) -> stock 1×1; own `},
	} {
		w := NewAccumulator(Config{})
		w.AddChain(chainOf(c.lines...))
		if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), describe(w.Graph())); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestInRowIsTheNearestRankOfTheCallers(t *testing.T) {
	w := NewAccumulator(Config{})
	for i := range 10 {
		list := []testSpan{{id: 1, end: 1000, hop: "root"}}
		for k := range i + 1 {
			list = append(list, testSpan{id: 2 + k, parent: 1, start: 10 * k, end: 10*k + 5, hop: "call a"})
		}
		w.AddTrace(traceOf(i+1, list...))
	}
	call := &w.Graph().Nodes[0].Calls[0]
	for p, want := range map[string]uint32{"0": 1, "0.1": 1, "0.11": 2, "0.5": 5, "0.9": 9, "0.91": 10, "1": 10} {
		if got := call.InRow(quantile.MustP(p)); got != want {
			t.Errorf("p %s: %d in a row, want %d", p, got, want)
		}
	}
	g := w.Graph()
	if g.Requests != 10 || g.Calls != 55 {
		t.Errorf("%d requests, %d calls", g.Requests, g.Calls)
	}
}

// A split over accumulators and the order of traces change nothing.
func TestGraphDoesNotDependOnWhoSawWhat(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	one, parts := NewAccumulator(Config{}), []*Accumulator{NewAccumulator(Config{}), NewAccumulator(Config{Memory: 1, TempDir: t.TempDir()}), NewAccumulator(Config{})}
	for i := range 300 {
		tr := randomTrace(r, i)
		one.AddTrace(tr)
		parts[r.IntN(3)].AddTrace(tr)
	}
	for i := range 300 {
		chain := randomChain(r, i)
		one.AddChain(chain)
		parts[r.IntN(3)].AddChain(chain)
	}
	parts[2].Merge(parts[0])
	parts[2].Merge(parts[1])
	defer func() {
		if err := parts[2].Close(); err != nil {
			t.Error(err)
		}
	}()
	if d := cmp.Diff(describe(one.Graph()), describe(parts[2].Graph())); d != "" {
		t.Error(d)
	}
	if err := parts[2].Err(); err != nil {
		t.Error(err)
	}
	if a, b := one.Graph(), parts[2].Graph(); a.Requests != b.Requests || a.Calls != b.Calls || a.Window != b.Window {
		t.Errorf("%+v, %+v", a, b)
	}
}

func randomTrace(r *rand.Rand, n int) *spans.Trace {
	list := []testSpan{{id: 1, end: 1000, hop: "root"}}
	for k := range r.IntN(12) {
		parent := 1 + r.IntN(len(list))
		start := r.IntN(900)
		list = append(list, testSpan{
			id: k + 2, parent: parent, start: start, end: start + r.IntN(300), hop: []string{"call a", "call b", "a", "b", "work"}[r.IntN(5)],
			outcome: []spans.Outcome{spans.Completed, cut, failed}[r.IntN(3)], untimed: r.IntN(20) == 0,
		})
	}
	return traceOf(n, list...)
}

func randomChain(r *rand.Rand, n int) *spans.Chain {
	var list []testLine
	for k := range 1 + r.IntN(5) {
		list = append(list, testLine{hop: fmt.Sprint("hop", r.IntN(4)), start: 10 * k, end: 10*k + 1 + r.IntN(30), in: r.IntN(k + 1), outcome: []spans.Outcome{spans.Completed, cut}[r.IntN(2)], untimed: n%7 == 0})
	}
	return chainOf(list...)
}

func TestWindowIsFromTheFirstStartToTheLast(t *testing.T) {
	w := NewAccumulator(Config{})
	if w.window.Length() != 0 {
		t.Error("an empty window has a length")
	}
	w.AddTrace(traceOf(1, testSpan{id: 1, start: 5, end: 10, hop: "root"}))
	w.AddTrace(traceOf(2, testSpan{id: 1, start: 905, end: 10_000, hop: "root"}))
	if got := w.Graph().Window.Length(); got != 900e3 {
		t.Errorf("%d ns", got)
	}
	w.AddTrace(traceOf(3, testSpan{id: 1, hop: "root", untimed: true}))
	if got := w.Graph().Window.Length(); got != 0 {
		t.Errorf("%d ns, although one start is not known", got)
	}
}

// Own work is never below nothing nor above all that its hop took.
func TestOwnWorkIsWithinTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	w, whole := NewAccumulator(Config{}), map[string]int64{}
	for i := range 2000 {
		tr := randomTrace(r, i)
		for k := range tr.Spans {
			whole[tr.HopOf(int32(k)).Name] += tr.Spans[k].Duration
		}
		w.AddTrace(tr)
	}
	for _, n := range w.Graph().Nodes {
		own := quantile.Summarize(quantile.Union{n.Own}, nil)
		if own.N == 0 && n.Name != "" || own.Min < 0 || n.Served == 0 && n.Name != "" && int64(own.Sum.Lo) > whole[n.Name] {
			t.Errorf("%s: own %+v of %d, served %d", n.Name, own, whole[n.Name], n.Served)
		}
	}
}

// Calls join the first group in each of which they run beside or instead of every
// other one, as the plain search over all finds it.
func TestGroupsAreThoseOfThePlainSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		n, hops := new(node), 1+r.IntN(40)
		for hop := range hops {
			n.edge(int32(hop)).callers = uint64(1 + r.IntN(4))
			n.edge(int32(hop)).crowded = r.IntN(10) == 0
		}
		for range r.IntN(hops * hops) {
			if a, b := int32(r.IntN(hops)), int32(r.IntN(hops)); a != b {
				n.callsBoth(pairOf(a, b))
				n.sideBySide(pairOf(a, b), uint64(r.IntN(4)))
			}
		}
		if d := cmp.Diff(slowGroups(n), newSharing(n.edges, n).groups()); d != "" {
			t.Fatal(d)
		}
	}
}

func slowGroups(n *node) (all [][]int) {
	fits := func(i, k int) bool {
		a, b := &n.edges[i], &n.edges[k]
		p := pairOf(a.hop, b.hop)
		beside := n.pairs[p] > min(a.callers, b.callers)/2
		return a.crowded == b.crowded && (beside || !a.crowded && !n.both[p])
	}
	for i := range n.edges {
		at := slices.IndexFunc(all, func(group []int) bool {
			return !slices.ContainsFunc(group, func(k int) bool { return !fits(i, k) })
		})
		if at < 0 {
			at, all = len(all), append(all, nil)
		}
		all[at] = append(all[at], i)
	}
	return all
}

// Calls of which each caller makes one or the other take as long as the longest; one
// caller that makes both in a row is enough to add them up.
func TestCallsMadeInsteadOfEachOther(t *testing.T) {
	w := NewAccumulator(Config{})
	chain := func(hops ...string) {
		var list []testLine
		for i, h := range hops {
			list = append(list, testLine{hop: h, start: 10 * i, end: 10*i + 5})
		}
		w.AddChain(chainOf(list...))
	}
	for range 3 {
		chain("a", "x")
		chain("b")
	}
	if got, want := describe(w.Graph()), "request (6) -> a 3×1 or b 3×1, x 3×1; own 0 0 0 5 5 5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	chain("b", "a")
	if got, want := describe(w.Graph()), "request (7) -> a 4×1, b 4×1 or x 3×1; own 0 0 0 5 5 5 5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Callers of more hops than are looked through know what they call, too.
func TestACallerOfManyHops(t *testing.T) {
	n := new(node)
	for range 3 {
		for hop := range int32(3 * few) {
			n.edge(hop).call(1)
		}
	}
	if len(n.edges) != 3*few || n.edge(2*few).callers != 3 || n.edge(1).callers != 3 {
		t.Errorf("%d edges, %+v", len(n.edges), n.edge(2*few))
	}
}

// A request of thousands of hops side by side, and thousands of requests with a hop
// of their own each, are looked at in no more than a moment.
func TestCallsOfManyHops(t *testing.T) {
	const hops = 3000
	w, alone := NewAccumulator(Config{}), NewAccumulator(Config{})
	list := []testLine{}
	for i := range hops {
		list = append(list, testLine{hop: fmt.Sprint("many", i), start: i, end: 2 * hops})
		alone.AddChain(chainOf(testLine{hop: fmt.Sprint("many", i), end: 5}))
	}
	w.AddChain(chainOf(list...))
	if n := w.Graph().Nodes[0]; len(n.Calls) != hops || len(n.Groups) >= hops || w.calls != hops {
		t.Errorf("%d calls, %d groups, %d counted", len(n.Calls), len(n.Groups), w.calls)
	}
	if n := alone.Graph().Nodes[0]; len(n.Calls) != hops || len(n.Groups) != 1 {
		t.Errorf("%d calls, %d groups", len(n.Calls), len(n.Groups))
	}
}

// What one caller calls is known beyond the edges that have a bit, and after merges.
func TestHopsCalledTogetherAreKnownWhereverTheirEdgeIs(t *testing.T) {
	n, o := new(node), new(node)
	for hop := range int32(2 * inBits) {
		n.together([]int32{hop})
	}
	n.together([]int32{1, 2})
	n.together([]int32{3, 2*inBits - 1})
	n.together([]int32{2*inBits - 3, 2*inBits - 2})
	hops := make([]int32, 2*inBits)
	for i := range hops {
		hops[i] = int32(i)
	}
	o.together([]int32{5, 4})
	n.merge(o, hops)
	got := map[pair]bool{}
	n.eachBoth(func(p pair) { got[p] = true })
	want := map[pair]bool{{1, 2}: true, {3, 2*inBits - 1}: true, {2*inBits - 3, 2*inBits - 2}: true, {4, 5}: true}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
