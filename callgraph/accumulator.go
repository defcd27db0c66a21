package callgraph

import (
	"math"

	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// request is the hop that stands for who makes the calls of a chain or of a trace
// that begins with a call: nobody wrote it down.
const request = 0

// Config holds the settings of a run for its accumulators.
type Config struct {
	// Memory is how many bytes the times of one accumulator hold before the rest goes to
	// a file in TempDir; 0 sets no limit.
	Memory  int64
	TempDir string
}

// Accumulator collects the calls of requests. Not safe for concurrent use: each worker
// has its own. Close must be called.
type Accumulator struct {
	hops     spans.HopIndex
	nodes    []node // by hop
	requests uint64
	calls    uint64
	untimed  uint64 // requests without times
	window   Window
	store    *quantile.Store
	stores   []*quantile.Store
	placer   *nesting.Placer // of chains of hop logs

	room room
}

// Window is when attempts started, in ns since the Unix epoch.
type Window struct {
	First, Last    int64
	Timed, Untimed uint64 // attempts with and without a start
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator(c Config) *Accumulator {
	w := &Accumulator{nodes: make([]node, 1), window: Window{First: math.MaxInt64, Last: math.MinInt64}}
	if c.Memory > 0 {
		w.store = quantile.NewStore(c.Memory, c.TempDir)
		w.stores = append(w.stores, w.store)
	}
	w.hops.Reserve(spans.Hop{})
	return w
}

// SetNesting says what calls what in chains of hop logs, before the first AddChain: only
// what is surely a call counts as one. Without it an attempt lies in the one that the
// chain itself says.
func (a *Accumulator) SetNesting(f *nesting.Finding) { a.placer = f.Sure().NewPlacer() }

// Err returns the first error of writing times to a file or reading them. After
// one the graph is not to be trusted.
func (a *Accumulator) Err() error {
	for _, s := range a.stores {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close deletes the files that times were written to. The accumulator and its graph
// must not be used any more.
func (a *Accumulator) Close() error {
	var first error
	for _, s := range a.stores {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// hopAt returns the number of a hop of a source's list, which has a node.
func (a *Accumulator) hopAt(hops []spans.Hop, i int32) int32 {
	n := a.hops.Translate(hops, i)
	if int(n) >= len(a.nodes) {
		a.nodes = append(a.nodes, node{})
	}
	return n
}

// AddBatch takes the window from a batch of a hop log with the column Starts; the
// calls come by AddChain. There is no error.
func (a *Accumulator) AddBatch(b *spans.Batch) error {
	for i := range b.Len() {
		if ns, known := b.Start(i); known {
			a.window.see(ns)
		} else {
			a.window.Untimed++
		}
	}
	return nil
}

func (w *Window) see(ns int64) {
	w.Timed++
	w.First, w.Last = min(w.First, ns), max(w.Last, ns)
}

func (w *Window) merge(o Window) {
	w.First, w.Last = min(w.First, o.First), max(w.Last, o.Last)
	w.Timed += o.Timed
	w.Untimed += o.Untimed
}

// Length is from the first start to the last, in ns, and 0 where a start is not
// known or all are the same.
func (w Window) Length() int64 {
	if w.Timed == 0 || w.Untimed > 0 || w.First < 0 && w.Last > math.MaxInt64+w.First {
		return 0
	}
	return w.Last - w.First
}

// Merge moves what o collected into a; o must not be used any more.
func (a *Accumulator) Merge(o *Accumulator) {
	a.flush()
	o.flush()
	a.requests += o.requests
	a.calls += o.calls
	a.untimed += o.untimed
	a.window.merge(o.window)
	a.stores = append(a.stores, o.stores...)
	hops := a.hops.Merge(&o.hops)
	a.nodes = append(a.nodes, make([]node, a.hops.Len()-len(a.nodes))...)
	for i := range o.nodes {
		a.nodes[hops[i]].merge(&o.nodes[i], hops)
	}
}

// flush enters the times that wait for others.
func (a *Accumulator) flush() {
	for i := range a.nodes {
		a.nodes[i].own.flush(a.store)
		a.nodes[i].whole.flush(a.store)
	}
}
