package buckets

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Query is what a run asks of its buckets.
type Query struct {
	Quantiles  []quantile.P
	Confidence quantile.P
	// Marked tells that the input says how attempts ended. Where it does not,
	// attempts as long as their configured timeout count as cut, and no tail
	// carries a certificate.
	Marked bool
	// Biased tells that what was kept was chosen by how it went, so that nothing
	// kept says how often anything happens: no quantile and no share has a value.
	Biased bool
	// NoneLeftOut tells that the input has every attempt, whatever its durations look like.
	NoneLeftOut bool
	// Weighted tells that every trace carries a weight and that they count.
	Weighted bool
	// MaxHops folds all but that many hops into one last row, which has no tail;
	// 0 folds none.
	MaxHops int
	// NoEstimate leaves out what models guess beyond the wall.
	NoEstimate bool
	// Simultaneous tells that the limits of all hops and quantiles together have
	// the confidence, instead of each.
	Simultaneous bool
	// Jobs is how many hops are worked on at once; 0 is one.
	Jobs int
	// Target is a quantile to give apart, in Result.Target; nil for none.
	Target *quantile.P

	claims int // that hold at once, 0 where each holds for itself
}

// Results closes the set and returns a Result per hop, sorted by hop and kind.
// Nothing may be added afterwards.
func (s *hopSet) Results(q Query) []Result {
	s.passUp(q)
	s.config.clusters.window.Flush()
	hops := make([]*hop, 0, len(s.hops))
	for h := range s.each() {
		h.settle(h.tells(q))
		hops = append(hops, h)
	}
	slices.SortFunc(hops, byName)
	if q.MaxHops > 0 && len(hops) > q.MaxHops {
		hops = fold(hops, q.MaxHops)
	}
	if q.Simultaneous {
		q.claims = max(1, len(hops)*q.asked())
		q.Confidence = q.Confidence.Shared(q.claims)
	}
	findPileUps(hops, q)
	placeByCalls(hops)
	return resultsOf(hops, q)
}

// findPileUps looks for timeouts without a mark, in several hops at once; what is found
// is written to samples that share a store, so one after the other.
func findPileUps(hops []*hop, q Query) {
	piles, target := make([]*quantile.PileUp, len(hops)), q.pileTarget()
	eachHop(hops, q, func(i int) {
		hops[i].readClock()
		piles[i] = hops[i].findPileUp(target)
	})
	for i, h := range hops {
		h.setPile(piles[i])
	}
}

// resultsOf computes each hop's result. Hops share nothing, so several can be
// worked on at once.
func resultsOf(hops []*hop, q Query) []Result {
	results := make([]Result, len(hops))
	eachHop(hops, q, func(i int) { results[i] = hops[i].result(q) })
	return results
}

// eachHop calls do with the place of each hop, in several goroutines.
func eachHop(hops []*hop, q Query, do func(i int)) {
	var begun atomic.Int64
	var workers sync.WaitGroup
	for range min(max(q.Jobs, 1), len(hops)) {
		workers.Go(func() {
			for i := begun.Add(1) - 1; i < int64(len(hops)); i = begun.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}

// fold keeps the hops with the most recorded time, by name, and merges the
// others into a last row. It reorders its argument, which is sorted by name.
func fold(hops []*hop, most int) []*hop {
	time := map[*hop]quantile.Sum{}
	for _, h := range hops {
		time[h] = quantile.Summarize(h.recorded(), nil).Sum
	}
	slices.SortStableFunc(hops, func(a, b *hop) int {
		return cmp.Or(cmp.Compare(time[b].Hi, time[a].Hi), cmp.Compare(time[b].Lo, time[a].Lo))
	})
	rest := newHop(spans.Hop{})
	rest.keep().merged = len(hops) - most
	rest.Name = fmt.Sprintf("(other: %d hops)", rest.merged)
	for _, h := range hops[most:] {
		rest.merge(h)
	}
	slices.SortFunc(hops[:most], byName)
	return append(hops[:most], rest)
}

func byName(a, b *hop) int { return a.Compare(b.Hop) }

func (h *hop) completed() quantile.Union { return append(h.first.done(), h.again().done()...) }

func (h *hop) recorded() quantile.Union { return append(h.first.all(), h.again().all()...) }

// result computes all that is known of the hop.
func (h *hop) result(q Query) Result {
	r := Result{
		Hop: h.Hop, Unfinished: h.unfinished, Confidence: q.Confidence, Claims: q.claims,
	}
	asked := q.Quantiles
	q.Quantiles = q.withTarget()
	h.fillBuckets(&r, q.Quantiles)
	r.FirstAttempts, r.Retries = r.Recorded.First.N, r.Recorded.Retries.N
	r.Attempts = r.FirstAttempts + r.Retries + r.Unfinished
	h.fillCounts(&r)
	t, effects := h.measure(&r, q)
	q.Quantiles = asked
	apart := r.setApart(q, &t, &effects)
	h.fillTail(&r, q, t, effects)
	h.fillTarget(&r, q, t, apart)
	if q.Biased {
		r.withhold()
	}
	return r
}

// measure fills the shares and returns the tail that goes with them. Without
// different weights Certifiable is left to who needs it.
func (h *hop) measure(r *Result, q Query) (quantile.WeightedTails, []depend.Dependent) {
	if h.weighted() && !q.Biased {
		t, effects, cut := h.tailsByWeight(q)
		r.Effective = t.Effective
		r.TruncatedShare = Share{
			Count: t.Cut, Of: t.Cut + h.first.done().N(), Value: t.CutShare, Lower: t.CutLower, Upper: t.CutUpper,
			Effect: cut.Effect, Effective: cut.Effect.Size(t.Effective),
		}
		r.FailedShare = jsontype.Number(h.failedByWeight())
		return t, effects
	}
	o := h.first.observed(h.step())
	t := quantile.WeightedTails{Tails: o.Tails(q.Quantiles, q.Confidence)}
	effects, cut := h.effects(q, t.Tails)
	if effects != nil {
		o.Widen(&t.Tails, effects, q.Confidence)
	}
	r.TruncatedShare = share(t.Cut, t.Cut+h.first.done().N(), cut.Effect, q.Confidence)
	if n := r.FirstAttempts; n > 0 && !q.Biased {
		r.FailedShare = jsontype.Number(r.Failed.First.N) / jsontype.Number(n)
	}
	return t, effects
}

// fillTail adds what may be said of the tail: walls, quantiles and warnings. A
// row of several hops has no tail: each hop has its own walls, and one hop's
// completed attempts prove nothing of another's cut ones.
func (h *hop) fillTail(r *Result, q Query, t quantile.WeightedTails, effects []depend.Dependent) {
	tail := tailer{hop: h, query: q, r: r, effects: effects, floor: h.floor(q, r)}
	if h.merged == 0 {
		r.Walls, tail.unlisted, tail.wrong = h.walls()
	}
	if why := h.tailless(q); why != "" {
		r.Tail = noTail(t.Tails.Tails, why)
		r.Warnings = tail.warnings()
		return
	}
	tail.tails, tail.groups = t, h.strata.groups()
	r.Certifiable = tail.certifiable()
	for _, one := range t.Tails.Tails {
		r.Tail = append(r.Tail, tail.tail(one))
	}
	tail.estimate()
	r.Warnings = tail.warnings()
}

// tailless says why the hop has no tail whatever its attempts are; else it is
// empty.
func (h *hop) tailless(q Query) string {
	switch {
	case q.Biased:
		return "biased sample: what was kept was chosen by how it went, so it says nothing of how often that happens among all; give --field weight=KEY if the traces carry their weights, or an input that was not chosen so"
	case h.merged > 0:
		return note.Count(uint64(h.merged), "hop has", "hops together have") + " no tail: --top all lists each"
	}
	return ""
}

func noTail(asked []quantile.Tail, why string) []Tail {
	var list []Tail
	for _, q := range asked {
		none := quantile.Tail{P: q.P, N: q.N, Rank: q.Rank, LowerRank: q.LowerRank, UpperRank: q.UpperRank, Effective: q.Effective}
		list = append(list, Tail{Tail: none, Reason: why})
	}
	return list
}

// withhold takes out what a reader would take for a value of the population:
// shares, means and quantiles. Counts and extremes are facts of what was kept.
func (r *Result) withhold() {
	r.Biased, r.FailedShare = true, 0
	if r.Target != nil {
		r.Target.Recorded95 = nil
	}
	r.TruncatedShare = Share{Count: r.TruncatedShare.Count, Of: r.TruncatedShare.Of}
	for _, s := range r.summaries() {
		s.Mean, s.Quantiles, s.Biased = 0, nil, true
	}
}

// summaries lists those of all buckets: of the first attempts, the retries and both.
func (r *Result) summaries() (list []*quantile.Summary) {
	for _, b := range [...]*Bucket{&r.Completed, &r.Truncated.Bucket, &r.Failed.Bucket, &r.Recorded} {
		list = append(list, &b.First, &b.Retries, &b.All)
	}
	return list
}

// fillBuckets reads all samples once for all buckets.
func (h *hop) fillBuckets(r *Result, ps []quantile.P) {
	f, t := &h.first, h.again()
	var unions []quantile.Union
	for _, of := range [...]func(*part) quantile.Union{(*part).done, (*part).truncated, (*part).ended, (*part).all} {
		unions = append(unions, of(f), of(t), append(of(f), of(t)...))
	}
	of := r.summaries()
	for i, s := range quantile.SummarizeEach(unions, ps) {
		*of[i] = s
	}
}

func (h *hop) fillCounts(r *Result) {
	first, again := h.first.endings(), h.again().endings()
	for _, c := range spans.CutBys {
		r.Truncated.CutBy = append(r.Truncated.CutBy, CutCount{c, first.cuts[c] + again.cuts[c]})
	}
	for _, k := range spans.Failures {
		if n := first.failures[k] + again.failures[k]; n > 0 {
			r.Failed.Kinds = append(r.Failed.Kinds, FailureCount{k, n})
		}
	}
}

// share has the limits of n over the effect attempts; the count is rounded away from
// the share on both sides.
func share(c, n uint64, effect depend.Effect, confidence quantile.P) Share {
	s := Share{Count: c, Of: n, Effect: effect}
	if effect.Counts() {
		s.Effective = effect.Size(n)
	}
	if n > 0 {
		s.Value = float64(c) / float64(n)
		down, up := quantile.EffectiveShare(c, n, s.Size())
		s.Lower, _ = quantile.ClopperPearson(down, s.Size(), confidence)
		_, s.Upper = quantile.ClopperPearson(up, s.Size(), confidence)
	}
	return s
}

// tells reports whether the input says how attempts of this hop ended.
func (h *hop) tells(q Query) bool { return q.Marked && (h.marked || h.traced) }
