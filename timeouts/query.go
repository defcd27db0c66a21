package timeouts

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

// Query is what an advice is made of.
type Query struct {
	Settings
	Hops           []buckets.Result // with a Target each
	Target         quantile.P
	Confidence     quantile.P
	Graph          *callgraph.Graph
	Retries        *retries.Result
	FirstCompleted map[spans.Hop]quantile.Union // durations of completed first attempts
	Biased         bool                         // traces were chosen by how they went
	Sampled        bool                         // not all traces are there: counts give no rate
	Weighted       bool                         // traces stand for different numbers of them
	// Queue returns the full pool that the calls of a hop wait for, nil where none is known;
	// a nil Queue knows none.
	Queue func(spans.Hop) *Queue
}

// adviser works an answer out.
type adviser struct {
	Query
	rows   map[spans.Hop]*buckets.Result
	nodes  map[spans.Hop]*callgraph.Node
	tries  map[spans.Hop]*retries.Hop
	grants map[spans.Hop]*grant
	owns   map[spans.Hop]amount
	// without are calls that are left out, from the caller to the hop called; unsure
	// are the hops of these.
	without map[pair]bool
	unsure  []pair
	circle  []string // hops of calls that go round
	result  Result
}

// pair is two hops.
type pair struct{ a, b spans.Hop }

// Advise returns the advice.
func Advise(q Query) Result {
	a := &adviser{
		Query: q, rows: map[spans.Hop]*buckets.Result{}, nodes: map[spans.Hop]*callgraph.Node{},
		tries: map[spans.Hop]*retries.Hop{}, grants: map[spans.Hop]*grant{}, owns: map[spans.Hop]amount{}, without: map[pair]bool{},
	}
	a.result = Result{Settings: q.Settings, Target: q.Target, Confidence: q.Confidence}
	a.enter()
	a.adviseAll()
	a.totals()
	a.allocate()
	a.findInversions()
	a.warn()
	a.planSteps()
	return a.result
}

func (a *adviser) enter() {
	for i := range a.Hops {
		a.rows[a.Hops[i].Hop] = &a.Hops[i]
	}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		a.nodes[n.Hop] = n
	}
	a.cutCircles()
	for i := range a.Retries.Hops {
		h := &a.Retries.Hops[i]
		a.tries[h.Hop] = h
	}
	if ns := a.Graph.Window.Length(); ns > 0 {
		a.result.Window = &ns
	}
}

// mostlyOneWay is how many times as often one of two hops must call the other for
// the few calls back to be taken for a trick of the clocks.
const mostlyOneWay = 10

// cutCircles leaves out calls of a hop by itself, and of two hops that each seem to
// call the other, as calls side by side do where times alone tell what ran inside
// what, both; or the few of them, where one way is usual.
func (a *adviser) cutCircles() {
	for k, n := range a.nodes {
		for _, c := range n.Calls {
			if back := a.callers(c.Hop, k); k != (spans.Hop{}) && back > 0 && c.Callers < back*mostlyOneWay {
				a.without[pair{k, c.Hop}] = true
				a.unsure = append(a.unsure, inOrder(k, c.Hop))
			}
		}
	}
	slices.SortFunc(a.unsure, func(x, y pair) int { return cmp.Or(x.a.Compare(y.a), x.b.Compare(y.b)) })
	a.unsure = slices.Compact(a.unsure)
}

func inOrder(x, y spans.Hop) pair {
	if x.Compare(y) > 0 {
		return pair{y, x}
	}
	return pair{x, y}
}

// callers is how many attempts of one hop call another. Calls are sorted by hop, and a
// hop may make very many.
func (a *adviser) callers(caller, callee spans.Hop) uint64 {
	if n := a.nodes[caller]; n != nil {
		if at, found := slices.BinarySearchFunc(n.Calls, callee, func(c callgraph.Call, h spans.Hop) int { return c.Hop.Compare(h) }); found {
			return n.Calls[at].Callers
		}
	}
	return 0
}

// counts reports whether a call is not one of those left out.
func (a *adviser) counts(n *callgraph.Node, c *callgraph.Call) bool {
	return !a.without[pair{n.Hop, c.Hop}]
}

// inGroup yields the calls of a group that count, by their places.
func (a *adviser) inGroup(n *callgraph.Node, group []int) iter.Seq2[int, *callgraph.Call] {
	return func(yield func(int, *callgraph.Call) bool) {
		for _, i := range group {
			if c := &n.Calls[i]; a.counts(n, c) && !yield(i, c) {
				return
			}
		}
	}
}
