package buckets

import (
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Accumulator keeps a hopSet for each weight that traces carry, so that quantiles can
// be weighted once the whole input has told whether to. It belongs to one worker
// and is merged at the end.
type Accumulator struct {
	config     Config
	unweighted *hopSet // attempts of no trace, and of traces without a weight
	byWeight   map[float64]*hopSet
	tooMany    bool // weights: all attempts are in unweighted
	stores     []*quantile.Store
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator(c Config) *Accumulator {
	var stores []*quantile.Store
	if c.Memory > 0 {
		c.store = quantile.NewStore(c.Memory, c.TempDir)
		stores = append(stores, c.store)
	}
	c.clusters = newHopClusters(c.Naming)
	return &Accumulator{config: c, unweighted: newHopSet(c), byWeight: map[float64]*hopSet{}, stores: stores}
}

// Err returns the first error of writing samples to a file or reading them.
// After one no result is to be trusted.
func (a *Accumulator) Err() error {
	for _, s := range a.stores {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close deletes the files that samples were written to. The accumulator must not
// be used any more.
func (a *Accumulator) Close() error {
	var err error
	for _, s := range a.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// AddBatch counts the attempts of a batch, as hopSet.Add does: logs hold every attempt,
// so each stands for itself. An error is one of writing samples to a file.
func (a *Accumulator) AddBatch(b *spans.Batch) error {
	a.unweighted.Add(b)
	return a.Err()
}

// EndBatches says that no batch comes any more; it forgets where their hops are. Traces and
// chains may come.
func (a *Accumulator) EndBatches() { clear(a.unweighted.bound) }

// Fold merges the hops whose names become the same as the run's Naming folds ids. It
// comes once that does, and before AddTrace and AddChain.
func (a *Accumulator) Fold() {
	old := *a
	a.config.clusters = newHopClusters(a.config.Naming)
	a.unweighted, a.byWeight, a.stores = newHopSet(a.config), map[float64]*hopSet{}, nil
	a.Merge(&old)
}

// AddTrace counts the spans of a whole trace that stands for weight traces, 0
// where that is not known or does not matter.
func (a *Accumulator) AddTrace(t *spans.Trace, weight float64) { a.of(weight).AddTrace(t) }

// AddChain notes which first attempts of a hop come together in a chain of a hop
// log, all of whose lines were added.
func (a *Accumulator) AddChain(chain *spans.Chain) { a.unweighted.addChain(chain) }

// of returns the set of a weight.
func (a *Accumulator) of(weight float64) *hopSet {
	if weight == 0 || a.tooMany {
		return a.unweighted
	}
	s := a.byWeight[weight]
	if s == nil {
		s = newHopSet(a.config)
		a.byWeight[weight] = s
		if len(a.byWeight) > a.config.MaxWeights {
			a.giveUp()
			return a.unweighted
		}
	}
	return s
}

// giveUp forgets the weights. It comes once the input has more than MaxWeights
// of them, whoever saw them, so that no result depends on the workers.
func (a *Accumulator) giveUp() {
	a.tooMany = true
	a.join()
}

// join moves all attempts into one set.
func (a *Accumulator) join() {
	for _, weight := range slices.Sorted(maps.Keys(a.byWeight)) {
		a.unweighted.Merge(a.byWeight[weight])
	}
	clear(a.byWeight)
}

// Merge moves the attempts of o into a; o must not be used any more.
func (a *Accumulator) Merge(o *Accumulator) {
	if o.tooMany && !a.tooMany {
		a.giveUp()
	}
	a.stores = append(a.stores, o.stores...)
	a.config.clusters.merge(o.config.clusters)
	a.unweighted.Merge(o.unweighted)
	for weight, s := range o.byWeight {
		a.of(weight).Merge(s)
	}
}

// all yields every hop of every set.
func (a *Accumulator) all() iter.Seq2[spans.Hop, *hop] {
	return func(yield func(spans.Hop, *hop) bool) {
		for _, s := range append(slices.Collect(maps.Values(a.byWeight)), a.unweighted) {
			for h := range s.each() {
				if !yield(h.Hop, h) {
					return
				}
			}
		}
	}
}

// Attempts returns how many attempts were added.
func (a *Accumulator) Attempts() (n uint64) {
	for _, h := range a.all() {
		n += h.attempts()
	}
	return n
}

// Names returns the names of all hops.
func (a *Accumulator) Names() map[string]bool {
	names := map[string]bool{}
	for id := range a.all() {
		names[id.Name] = true
	}
	return names
}

// Results closes the accumulator and returns a Result per hop, as hopSet.Results does.
// With q.Weighted the tails and shares of hops whose first attempts have
// different weights are weighted; all others are the same as without.
func (a *Accumulator) Results(q Query) []Result {
	if q.Weighted && !a.tooMany {
		a.of(1).Merge(a.unweighted)
		a.unweighted = newHopSet(a.config)
		a.label(q)
	}
	a.join()
	return a.unweighted.Results(q)
}

// FirstCompleted returns the completed first attempts of each hop.
func (a *Accumulator) FirstCompleted() map[spans.Hop]quantile.Union {
	return a.unions(func(h *hop) quantile.Union { return h.first.done() })
}

// Completed returns the completed attempts of each hop, first ones and retries.
func (a *Accumulator) Completed() map[spans.Hop]quantile.Union {
	return a.unions((*hop).completed)
}

func (a *Accumulator) unions(of func(*hop) quantile.Union) map[spans.Hop]quantile.Union {
	all := map[spans.Hop]quantile.Union{}
	for id, h := range a.all() {
		all[id] = append(all[id], of(h)...)
	}
	return all
}
