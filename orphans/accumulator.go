package orphans

import (
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its accumulators.
type Config struct {
	// Tolerance is how far, in ns, a child may outlast its parent and still
	// count as contained: clocks and resolutions differ by that much.
	Tolerance int64
	// Limit is how many of the worst cases are kept.
	Limit int
	// ByOverrun ranks cases by how long they ran on; else by the time wasted.
	ByOverrun bool
}

// Accumulator collects what traces tell about orphaned work. Not safe for concurrent
// use: each worker has its own.
type Accumulator struct {
	config  Config
	counts  Counts
	hops    spans.HopIndex
	pairs   map[hopPair]*pair
	calls   map[ref]*calls
	served  map[hopPair]*served        // calls that were cut, by what served them
	paths   map[path][]quantile.Sample // what each caller had spent before the call
	orders  map[hopPair]*order
	waits   map[hopPair]*waiting
	moments map[moment]int64 // ns in which somebody ran for nobody

	// Room for one trace, used again for the next.
	givenAt []int32 // by span: index into given
	given   []given
	causes  []cause
	tops    []interval
	rootEnd []int64
	caller  []int32
	cutAt   []int32
	running []interval
	callees []int32
	latest  []int32 // by hop

	recent [recentPairs]recent
	found  *[]Found // where those of one trace are asked for, and not counted
}

// hopPair is a parent's hop and its child's.
type hopPair struct{ parent, child ref }

// Counts is how spans relate to the end of their parents. Times are ns.
type Counts struct {
	SpansWithParent     uint64
	MissingParents      uint64
	Unfinished          uint64 // children without an end
	OutlivedAsync       uint64 // the parent does not wait for such children
	OutlivedCompleted   uint64 // the parent completed: a hedge's loser, an optional branch
	OutlivedNotAwaited  uint64 // the parent gave up, but nobody waits for such children
	OutlivedFailed      uint64 // the parent failed, and nothing says that it gave up
	WithinTolerance     uint64
	StartedAfterRootEnd uint64 // topmost spans that began when the whole request was over
	Orphaned            uint64
	Overruns            uint64
	LateStarts          uint64
	Doubtful            uint64 // orphans if the clocks are right, besides those
	Wasted              int64  // sum over orphans of the time each ran after its parent's end
	WastedDoubtful      int64  // the same of the doubtful ones
	WastedUnion         int64  // per trace the union of all running time in orphaned subtrees
	WastedUnionDoubtful int64  // what the doubtful ones add to that
}

// add adds what is known before the end of a run: not what depends on how all ended.
func (c *Counts) add(o Counts) {
	c.SpansWithParent += o.SpansWithParent
	c.MissingParents += o.MissingParents
	c.Unfinished += o.Unfinished
	c.OutlivedAsync += o.OutlivedAsync
	c.OutlivedCompleted += o.OutlivedCompleted
	c.OutlivedFailed += o.OutlivedFailed
	c.WithinTolerance += o.WithinTolerance
	c.StartedAfterRootEnd += o.StartedAfterRootEnd
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator(c Config) *Accumulator {
	return &Accumulator{
		config: c,
		pairs:  map[hopPair]*pair{}, calls: map[ref]*calls{}, served: map[hopPair]*served{}, paths: map[path][]quantile.Sample{},
		orders: map[hopPair]*order{}, waits: map[hopPair]*waiting{}, moments: map[moment]int64{},
	}
}

// AddTrace looks at a whole trace whose retries and cuts are marked. It keeps nothing
// of the trace but copies of its worst cases.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	a.counts.MissingParents += uint64(len(t.Missing))
	a.prepare(len(t.Spans))
	for at, i := range t.TopDown() {
		a.place(t, i, at < len(t.Roots))
		a.relate(t, i)
		a.call(t, i)
	}
	a.unite(t)
	if len(t.Spans) >= spans.LargeTrace {
		a.givenAt, a.rootEnd, a.caller, a.cutAt = nil, nil, nil, nil
	}
}

// Merge moves what o collected into a.
func (a *Accumulator) Merge(o *Accumulator) {
	a.counts.add(o.counts)
	numbers := a.hops.Merge(&o.hops)
	here := func(r ref) ref { return ref(numbers[r]) }
	for key, p := range o.pairs {
		a.pairOf(hopPair{here(key.parent), here(key.child)}).merge(p)
	}
	for hop, c := range o.calls {
		at(a.calls, here(hop)).merge(c)
	}
	for key, s := range o.served {
		at(a.served, hopPair{here(key.parent), here(key.child)}).merge(s)
	}
	for p, spent := range o.paths {
		into := a.spentOn(p.renamed(here))
		for level := range into {
			into[level].Merge(&spent[level])
		}
	}
	for key, order := range o.orders {
		at(a.orders, hopPair{here(key.parent), here(key.child)}).merge(order)
	}
	for key, w := range o.waits {
		at(a.waits, hopPair{here(key.parent), here(key.child)}).merge(w)
	}
	for m, ns := range o.moments {
		m = m.renamed(here)
		a.moments[m] = durations.Sum(a.moments[m], ns)
	}
}

// at returns what a map has at a key, new where there was nothing.
func at[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// ref is the number of a hop: small keys make small maps.
type ref int32

// hop returns the number of a span's hop.
func (a *Accumulator) hop(t *spans.Trace, i int32) ref {
	return ref(a.hops.Translate(t.Hops, t.Spans[i].Hop))
}

func (a *Accumulator) hopOf(r ref) spans.Hop { return a.hops.Hop(int32(r)) }
