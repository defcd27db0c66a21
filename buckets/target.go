package buckets

import (
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
)

// Target is the tail of the first attempts at a quantile that was asked for apart,
// with what a timeout is judged by beside it. Durations are ns.
type Target struct {
	Tail, Median Tail
	// Recorded95 is the p95 of the recorded durations of the first attempts, all
	// mixed; nil where there are none.
	Recorded95 *int64
	// Strata has the first attempts of each stratum, by name, where the run has
	// strata.
	Strata []StratumTail
}

// StratumTail is the tail of the first attempts of one stratum at the target. Its
// cuts are placed where they were recorded, or at their timeout where that is
// shorter.
type StratumTail struct {
	Name string
	Cut  uint64
	quantile.Tail
}

var median, p95 = quantile.MustP("0.5"), quantile.MustP("0.95")

// withTarget lists the quantiles asked for, and behind them those of the target.
func (q Query) withTarget() []quantile.P {
	if q.Target == nil {
		return q.Quantiles
	}
	return append(slices.Clip(q.Quantiles), *q.Target, median, p95)
}

// asked is how many quantiles have limits that somebody reads.
func (q Query) asked() int {
	n := len(q.Quantiles)
	if q.Target != nil && !slices.ContainsFunc(q.Quantiles, func(p quantile.P) bool { return p.Compare(*q.Target) == 0 }) {
		n++
	}
	return n
}

// setApart takes out of the results what withTarget added, and returns the tails
// of it.
func (r *Result) setApart(q Query, t *quantile.WeightedTails, effects *[]depend.Dependent) []quantile.Tail {
	if q.Target == nil {
		return nil
	}
	n := len(q.Quantiles)
	*effects = (*effects)[:min(n, len(*effects))]
	r.Target = &Target{}
	if first := r.Recorded.First; first.N > 0 {
		r.Target.Recorded95 = &first.Quantiles[n+2]
	}
	for _, s := range r.summaries() {
		s.Quantiles = s.Quantiles[:min(n, len(s.Quantiles))]
	}
	apart := t.Tails.Tails[n:]
	t.Tails.Tails = t.Tails.Tails[:n:n]
	return apart
}

// fillTarget explains the tails that were set apart.
func (h *hop) fillTarget(r *Result, q Query, t quantile.WeightedTails, apart []quantile.Tail) {
	if q.Target == nil {
		return
	}
	if why := h.tailless(q); why != "" {
		list := noTail(apart, why)
		r.Target.Tail, r.Target.Median = list[0], list[1]
		return
	}
	t.Tails.Tails = nil // how large a canary must be for these is said beside them
	tail := tailer{hop: h, query: q, r: r, tails: t, groups: h.strata.groups(), floor: h.floor(q, r)}
	r.Target.Tail, r.Target.Median = tail.tail(apart[0]), tail.tail(apart[1])
	tail.estimateTarget()
	if h.tells(q) && r.Effective == 0 {
		r.Target.Strata = h.strata.tails(*q.Target, q.Confidence, h.step())
	}
}

// tails returns the tail of each stratum at one quantile, by name. Traces of a run
// without strata are all in one that has no name.
func (s *strata) tails(p, confidence quantile.P, step int64) []StratumTail {
	if s.byName[""] != nil && len(s.byName) == 1 {
		return nil
	}
	var list []StratumTail
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		one := s.byName[name]
		o := quantile.Observed{Completed: one.done(), CutSeen: one.union(censoredAt), Failed: one.union(failures), Step: step}
		t := o.Tails([]quantile.P{p}, confidence)
		list = append(list, StratumTail{name, t.Cut, t.Tails[0]})
	}
	return list
}

// MainWall returns the wall that cut most attempts, the first of several that cut
// as many; ok is false where none is known.
func (r *Result) MainWall() (main Wall, ok bool) {
	for _, w := range r.Walls {
		if !ok || w.Count > main.Count {
			main, ok = w, true
		}
	}
	return main, ok
}
