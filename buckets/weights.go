package buckets

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// label copies, within each hop that has several weights, what weighting needs
// of each. A row of folded hops needs it of all.
func (a *Accumulator) label(q Query) {
	occurs := map[spans.Hop]int{}
	for id := range a.all() {
		occurs[id]++
	}
	folds := q.MaxHops > 0 && len(occurs) > q.MaxHops
	for weight, s := range a.byWeight {
		s.passUp(q)
		for h := range s.each() {
			h.settle(h.tells(q))
			if folds || occurs[h.Hop] > 1 {
				h.keep().classes = h.first.class(weight)
				for i := range h.classes {
					h.classes[i].calls = h.calls.clone()
				}
			}
		}
	}
}

// class is those first attempts of a hop that each stand for weight others.
type class struct {
	weight float64
	part
	calls callsThatCut
}

// class copies the settled attempts; an empty part has no class.
func (p *part) class(weight float64) []class {
	if p.all().N()+p.held(open).N() == 0 {
		return nil
	}
	c := class{weight: weight}
	for _, of := range [...]int{completions, doubtful, piledDone, failures, spoken, piledFailed, censoredAt, ownCuts, otherCuts, open, byCall} {
		if from := p.held(of); from != nil {
			*c.slot(of) = from.Clone()
		}
	}
	return []class{c}
}

// mergeClasses keeps a hop's classes sorted by weight, each weight once.
func (h *rare) mergeClasses(from []class) {
	for i := range from {
		f := &from[i]
		at, found := slices.BinarySearchFunc(h.classes, f.weight, func(c class, w float64) int { return cmp.Compare(c.weight, w) })
		if !found {
			h.classes = slices.Insert(h.classes, at, class{weight: f.weight})
		}
		h.classes[at].merge(&f.part)
		h.classes[at].calls.merge(f.calls)
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
		list = append(list, quantile.Class{Weight: c.weight, Observed: c.observed(h.step())})
	}
	t = quantile.TailsByWeight(list, q.Quantiles, q.Confidence)
	effects, cut = h.effects(q, t.Tails)
	if cut.Effect.Counts() || slices.ContainsFunc(effects, func(d depend.Dependent) bool { return d.Effect.Counts() }) {
		t = quantile.WidenedByWeight(list, q.Quantiles, q.Confidence, effects, cut)
	}
	return t, effects, cut
}

// failedByWeight is the weight of the failed first attempts over that of all.
// Accumulator are sorted, so the sums depend on no order.
func (h *hop) failedByWeight() float64 {
	var failed, all float64
	for i := range h.classes {
		c := &h.classes[i]
		ended, cut := c.ended().N(), c.union(censoredAt, ownCuts, otherCuts, byCall).N()
		failed += float64(ended) * c.weight
		all += float64(ended+cut+c.done().N()) * c.weight
	}
	if all == 0 { // none was seen to end
		return 0
	}
	return failed / all
}
