package sampling

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// MaxWeights is how many different weights are worth telling apart: samplers
// have a few rates. With more, traces count equally and the kind is unknown.
const MaxWeights = 256

// WeightOf returns how many traces of the population t stands for, 0 where
// nothing says so. The root decides, as the sampler that kept the trace decided
// there: the first root that says it, else the first span that does, in the
// total order of Trace.Spans. disagree reports that spans say different things.
func WeightOf(t *spans.Trace) (weight float64, disagree bool) {
	for i := range t.Spans {
		w := t.Spans[i].Weight
		switch {
		case !usable(w):
		case weight == 0:
			weight = w
		case w != weight:
			disagree = true
		}
	}
	for _, i := range t.Roots {
		if w := t.Spans[i].Weight; usable(w) {
			return w, disagree
		}
	}
	return weight, disagree
}

func usable(w float64) bool { return w > 0 && !math.IsInf(w, 1) }

// Accumulator sees every whole trace of a worker. The zero value is ready.
type Accumulator struct {
	traces      int64
	weighed     int64 // traces that carry a weight
	disagreeing int64 // traces whose spans carry different weights
	weights     map[float64]struct{}
	tooMany     bool // weights: none is kept

	// What may show that traces were picked by how they went.
	durations quantile.Sample // nanoseconds, of traces that lie in time
	gaveUp    int64           // traces whose root failed or in which anything was cut
	troubled  int64           // traces in which anything failed or was cut
}

// AddTrace looks at a whole trace, whose cuts from below are passed up already, and
// returns its weight as WeightOf does. It keeps nothing of the trace.
func (a *Accumulator) AddTrace(t *spans.Trace) float64 {
	a.traces++
	weight, disagree := WeightOf(t)
	if weight > 0 {
		a.weighed++
		a.keep(weight)
	}
	if ns, ok := Duration(t); ok {
		a.durations.Add(ns)
	}
	if disagree {
		a.disagreeing++
	}
	gaveUp, troubled := endings(t)
	if gaveUp {
		a.gaveUp++
	}
	if troubled {
		a.troubled++
	}
	return weight
}

func (a *Accumulator) keep(weight float64) {
	if a.tooMany {
		return
	}
	if a.weights == nil {
		a.weights = map[float64]struct{}{}
	}
	a.weights[weight] = struct{}{}
	if len(a.weights) > MaxWeights {
		a.weights, a.tooMany = nil, true
	}
}

// Merge adds what o saw; o must not be used any more.
func (a *Accumulator) Merge(o *Accumulator) {
	a.traces += o.traces
	a.weighed += o.weighed
	a.disagreeing += o.disagreeing
	if o.tooMany {
		a.weights, a.tooMany = nil, true
	}
	for weight := range o.weights {
		a.keep(weight)
	}
	a.durations.Merge(&o.durations)
	a.gaveUp += o.gaveUp
	a.troubled += o.troubled
}

// endings reports whether a trace gave up (its root failed or anything in it was
// cut) and whether anything at all failed in it: a failure inside, such as a
// lookup that finds nothing, is part of ordinary work.
func endings(t *spans.Trace) (gaveUp, troubled bool) {
	for i := range t.Spans {
		switch t.Spans[i].Outcome {
		case spans.Truncated:
			return true, true
		case spans.Failed:
			troubled = true
		}
	}
	failed := func(i int32) bool { return t.Spans[i].Outcome == spans.Failed }
	return slices.ContainsFunc(t.Roots, failed), troubled
}

// Duration returns how long a trace took, in nanoseconds: as long as its root,
// or from its first start to its last end where it has several roots or none.
// ok is false where no span lies in time.
func Duration(t *spans.Trace) (ns int64, ok bool) {
	if len(t.Roots) == 1 && len(t.Missing) == 0 {
		root := &t.Spans[t.Roots[0]]
		return root.Duration, root.Flags.Has(spans.HasDuration)
	}
	var first, last int64
	for i := range t.Spans {
		one := &t.Spans[i]
		if !one.Timed() {
			continue
		}
		if !ok {
			first, last, ok = one.Start, one.End(), true
		}
		first, last = min(first, one.Start), max(last, one.End())
	}
	if ns = last - first; ns < 0 { // more than 292 years apart
		return 0, false
	}
	return ns, ok
}
