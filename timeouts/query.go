package timeouts

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

// Query is what an advice is made of.
type Query struct {
	Settings
	Hops       []buckets.Result // with a Target each
	Target     quantile.P
	Confidence quantile.P
	Graph      *callgraph.Graph
	Retries    *retries.Result
	// FirstCompleted is the durations of a row's completed first attempts.
	FirstCompleted func(*buckets.Result) quantile.Union
	Biased         bool // traces were chosen by how they went
	Sampled        bool // not all traces are there: counts give no rate
	Weighted       bool // traces stand for different numbers of them
}

// key is a row of the hop table. Several may have one name, that of their service.
type key struct {
	name                     string
	kind, service, operation jsontype.Text
}

func keyOf(h spans.Hop) key {
	return key{h.Name, jsontype.Text(h.Kind.String()), jsontype.Text(h.Service), jsontype.Text(h.Operation)}
}

func keyOfRow(r *buckets.Result) key { return key{r.Hop, r.Kind, r.Service, r.Operation} }

func (h *Hop) key() key { return key{h.Hop, h.Kind, h.Service, h.Operation} }

// adviser works an answer out.
type adviser struct {
	Query
	rows   map[key]*buckets.Result
	nodes  map[key]*callgraph.Node
	tries  map[key]*retries.Hop
	grants map[key]*grant
	owns   map[key]bound
	// without are calls that are left out, from the caller to the hop called; unsure
	// are the hops of these.
	without map[pair]bool
	unsure  []pair
	circle  []string // hops of calls that go round
	entries []key    // hops of result.Entries
	result  Result
}

// pair is two hops.
type pair struct{ a, b key }

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind), cmp.Compare(a.service, b.service), cmp.Compare(a.operation, b.operation))
}

// Advise returns the advice.
func Advise(q Query) Result {
	a := &adviser{
		Query: q, rows: map[key]*buckets.Result{}, nodes: map[key]*callgraph.Node{},
		tries: map[key]*retries.Hop{}, grants: map[key]*grant{}, owns: map[key]bound{}, without: map[pair]bool{},
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
		a.rows[keyOfRow(&a.Hops[i])] = &a.Hops[i]
	}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		a.nodes[keyOf(n.Hop)] = n
	}
	a.cutCircles()
	for i := range a.Retries.Hops {
		h := &a.Retries.Hops[i]
		a.tries[keyOf(h.Hop)] = h
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
			to := keyOf(c.Hop)
			if back := a.callers(to, k); k != (key{}) && back > 0 && c.Callers < back*mostlyOneWay {
				a.without[pair{k, to}] = true
				a.noteCircle(k, to)
			}
		}
	}
	slices.SortFunc(a.unsure, func(x, y pair) int { return cmp.Or(compareKeys(x.a, y.a), compareKeys(x.b, y.b)) })
}

func (a *adviser) noteCircle(x, y key) {
	if compareKeys(x, y) > 0 {
		x, y = y, x
	}
	if !slices.Contains(a.unsure, pair{x, y}) {
		a.unsure = append(a.unsure, pair{x, y})
	}
}

// callers is how many attempts of one hop call another.
func (a *adviser) callers(caller, callee key) uint64 {
	n := a.nodes[caller]
	if n == nil {
		return 0
	}
	for i := range n.Calls {
		if keyOf(n.Calls[i].Hop) == callee {
			return n.Calls[i].Callers
		}
	}
	return 0
}
