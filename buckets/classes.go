package buckets

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Classes keeps a Set for each weight that traces carry, so that quantiles can
// be weighted once the whole input has told whether to. Like a Set it belongs to
// one worker and is merged at the end.
type Classes struct {
	config     Config
	unweighted *Set // attempts of no trace, and of traces without a weight
	byWeight   map[float64]*Set
	tooMany    bool // weights: all attempts are in unweighted
	stores     []*quantile.Store
}

// NewClasses returns empty classes.
func NewClasses(c Config) *Classes {
	var stores []*quantile.Store
	if c.Memory > 0 {
		c.store = quantile.NewStore(c.Memory, c.TempDir)
		stores = append(stores, c.store)
	}
	c.clusters = newHopClusters()
	return &Classes{config: c, unweighted: NewSet(c), byWeight: map[float64]*Set{}, stores: stores}
}

// Err returns the first error of writing samples to a file or reading them.
// After one no result is to be trusted.
func (c *Classes) Err() error {
	for _, s := range c.stores {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close deletes the files that samples were written to. The classes must not be
// used any more.
func (c *Classes) Close() error {
	var errs []error
	for _, s := range c.stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// AddBatch counts the attempts of a batch, as Set.Add does: logs hold every attempt,
// so each stands for itself. An error is one of writing samples to a file.
func (c *Classes) AddBatch(b *spans.Batch) error {
	c.unweighted.Add(b)
	return c.Err()
}

// AddTrace counts the spans of a whole trace that stands for weight traces, 0
// where that is not known or does not matter.
func (c *Classes) AddTrace(t *spans.Trace, weight float64) { c.of(weight).AddTrace(t) }

// of returns the set of a weight.
func (c *Classes) of(weight float64) *Set {
	if weight == 0 || c.tooMany {
		return c.unweighted
	}
	s := c.byWeight[weight]
	if s == nil {
		s = NewSet(c.config)
		c.byWeight[weight] = s
		if len(c.byWeight) > c.config.MaxWeights {
			c.giveUp()
			return c.unweighted
		}
	}
	return s
}

// giveUp forgets the weights. It comes once the input has more than MaxWeights
// of them, whoever saw them, so that no result depends on the workers.
func (c *Classes) giveUp() {
	c.tooMany = true
	c.join()
}

// join moves all attempts into one set.
func (c *Classes) join() {
	for _, weight := range slices.Sorted(maps.Keys(c.byWeight)) {
		c.unweighted.Merge(c.byWeight[weight])
	}
	clear(c.byWeight)
}

// Merge moves the attempts of o into c; o must not be used any more.
func (c *Classes) Merge(o *Classes) {
	if o.tooMany && !c.tooMany {
		c.giveUp()
	}
	c.stores = append(c.stores, o.stores...)
	c.config.clusters.merge(o.config.clusters)
	c.unweighted.Merge(o.unweighted)
	for weight, s := range o.byWeight {
		c.of(weight).Merge(s)
	}
}

// all yields every hop of every set.
func (c *Classes) all() iter.Seq2[spans.Hop, *hop] {
	return func(yield func(spans.Hop, *hop) bool) {
		for _, s := range append(slices.Collect(maps.Values(c.byWeight)), c.unweighted) {
			for id, h := range s.hops {
				if !yield(id, h) {
					return
				}
			}
		}
	}
}

// Attempts returns how many attempts were added.
func (c *Classes) Attempts() (n uint64) {
	for _, h := range c.all() {
		n += h.attempts()
	}
	return n
}

// Names returns the names of all hops.
func (c *Classes) Names() map[string]bool {
	names := map[string]bool{}
	for id := range c.all() {
		names[id.Name] = true
	}
	return names
}

// Results closes the classes and returns a Result per hop, as Set.Results does.
// With q.Weighted the tails and shares of hops whose first attempts have
// different weights are weighted; all others are the same as without.
func (c *Classes) Results(q Query) []Result {
	if q.Weighted && !c.tooMany {
		c.of(1).Merge(c.unweighted)
		c.unweighted = NewSet(c.config)
		c.label(q)
	}
	c.join()
	return c.unweighted.Results(q)
}

// label copies, within each hop that has several weights, what weighting needs
// of each. A row of folded hops needs it of all.
func (c *Classes) label(q Query) {
	occurs := map[spans.Hop]int{}
	for id := range c.all() {
		occurs[id]++
	}
	folds := q.MaxHops > 0 && len(occurs) > q.MaxHops
	for weight, s := range c.byWeight {
		s.passUp()
		for id, h := range s.hops {
			h.settle(h.tells(q))
			if folds || occurs[id] > 1 {
				h.classes = h.first.class(weight)
			}
		}
	}
}

// class is those first attempts of a hop that each stand for weight others.
type class struct {
	weight float64
	part
}

// class copies the settled attempts; an empty part has no class.
func (p *part) class(weight float64) []class {
	if p.all().N() == 0 {
		return nil
	}
	c := class{weight: weight}
	for _, of := range [...]int{completions, failures, censoredAt, ownCuts, otherCuts} {
		if from := p.samples[of]; from != nil {
			c.samples[of] = from.Clone()
		}
	}
	return []class{c}
}

// mergeClasses keeps a hop's classes sorted by weight, each weight once.
func (h *hop) mergeClasses(from []class) {
	for i := range from {
		f := &from[i]
		at, found := slices.BinarySearchFunc(h.classes, f.weight, func(c class, w float64) int { return cmp.Compare(c.weight, w) })
		if !found {
			h.classes = slices.Insert(h.classes, at, class{weight: f.weight})
		}
		h.classes[at].merge(&f.part)
	}
}

// weighted reports whether the first attempts stand for different numbers.
func (h *hop) weighted() bool { return len(h.classes) > 1 }

// tailsByWeight weights the tail of the first attempts. How they depend on each
// other is taken from them as they are.
func (h *hop) tailsByWeight(q Query) (t quantile.WeightedTails, effects []depend.Dependent, cut depend.Dependent) {
	var list []quantile.Class
	for i := range h.classes {
		c := &h.classes[i]
		list = append(list, quantile.Class{Weight: c.weight, Observed: c.observed()})
	}
	t = quantile.TailsByWeight(list, q.Quantiles, q.Confidence)
	effects, cut = h.effects(q, t.Tails)
	if cut.Effect.Counts() || slices.ContainsFunc(effects, func(d depend.Dependent) bool { return d.Effect.Counts() }) {
		t = quantile.WidenedByWeight(list, q.Quantiles, q.Confidence, effects, cut)
	}
	return t, effects, cut
}

// failedByWeight is the weight of the failed first attempts over that of all.
// Classes are sorted, so the sums depend on no order.
func (h *hop) failedByWeight() float64 {
	var failed, all float64
	for i := range h.classes {
		c := &h.classes[i]
		o := c.observed()
		ended := float64(c.ended().N()) * c.weight
		failed += ended
		all += ended + float64(o.Completed.N()+o.CutAt.N()+o.CutSeen.N())*c.weight
	}
	return failed / all
}

// FirstCompleted returns the completed first attempts of each hop.
func (c *Classes) FirstCompleted() map[spans.Hop]quantile.Union {
	return c.unions(func(h *hop) quantile.Union { return h.first.done() })
}

// Completed returns the completed attempts of each hop, first ones and retries.
func (c *Classes) Completed() map[spans.Hop]quantile.Union {
	return c.unions((*hop).completed)
}

func (c *Classes) unions(of func(*hop) quantile.Union) map[spans.Hop]quantile.Union {
	all := map[spans.Hop]quantile.Union{}
	for id, h := range c.all() {
		all[id] = append(all[id], of(h)...)
	}
	return all
}

// Hops returns how many hops of logs there are.
func (c *Classes) Hops() int { return len(c.unweighted.hops) }
