package buckets

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/quantile"
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
	// MaxHops folds all but that many hops into one row; 0 means none.
	MaxHops int
}

// Results closes the set and returns a Result per hop, sorted by hop and kind.
// Nothing may be added afterwards.
func (s *Set) Results(q Query) []Result {
	s.passUp()
	hops := make([]*hop, 0, len(s.hops))
	for _, h := range s.hops {
		h.settle(q.Marked)
		hops = append(hops, h)
	}
	slices.SortFunc(hops, func(a, b *hop) int { return cmp.Compare(a.name, b.name) })
	if q.MaxHops > 0 && len(hops) > q.MaxHops {
		hops = fold(hops, q.MaxHops)
	}
	results := make([]Result, len(hops))
	for i, h := range hops {
		results[i] = h.result(q)
	}
	return results
}

// fold keeps the hops with the most recorded time and merges the others into a
// last row.
func fold(hops []*hop, most int) []*hop {
	byTime := slices.Clone(hops)
	time := map[*hop]quantile.Sum{}
	for _, h := range hops {
		time[h] = quantile.Summarize(h.recorded(), nil).Sum
	}
	slices.SortStableFunc(byTime, func(a, b *hop) int {
		return cmp.Or(cmp.Compare(time[b].Hi, time[a].Hi), cmp.Compare(time[b].Lo, time[a].Lo))
	})
	rest := &hop{merged: len(hops) - most}
	rest.name = fmt.Sprintf("(other: %d hops)", rest.merged)
	for _, h := range byTime[most:] {
		rest.merge(h)
	}
	kept := byTime[:most]
	slices.SortFunc(kept, func(a, b *hop) int { return cmp.Compare(a.name, b.name) })
	return append(kept, rest)
}

func (h *hop) recorded() quantile.Union { return append(h.first.all(), h.retries.all()...) }

// result computes all that is known of the hop.
func (h *hop) result(q Query) Result {
	r := Result{Hop: h.name, Unfinished: h.unfinished, Confidence: q.Confidence}
	h.fillBuckets(&r, q.Quantiles)
	r.FirstAttempts, r.Retries = r.Recorded.First.N, r.Recorded.Retries.N
	r.Attempts = r.FirstAttempts + r.Retries + r.Unfinished
	h.fillCounts(&r)
	r.Walls = h.walls()
	t := h.first.observed().Tails(q.Quantiles, q.Confidence)
	r.TruncatedShare = share(t.Cut, t.N, q.Confidence)
	if n := r.FirstAttempts; n > 0 {
		r.FailedShare = float64(r.Failed.First.N) / float64(n)
	}
	tail := tailer{h, q, &r, t}
	for _, one := range t.Tails {
		r.Tail = append(r.Tail, tail.tail(one))
	}
	r.Warnings = tail.warnings()
	return r
}

func (h *hop) fillBuckets(r *Result, ps []quantile.P) {
	f, t := &h.first, &h.retries
	one := func(s *quantile.Sample) quantile.Union { return quantile.Union{s} }
	r.Completed = bucket(one(f.completed), one(t.completed), ps)
	r.Truncated = bucket(f.truncated(), t.truncated(), ps)
	r.Failed = bucket(one(f.failed), one(t.failed), ps)
	r.Recorded = bucket(f.all(), t.all(), ps)
}

func bucket(first, retries quantile.Union, ps []quantile.P) Bucket {
	b := Bucket{First: quantile.Summarize(first, ps)}
	if retries.N() == 0 {
		b.All = b.First
		return b
	}
	b.Retries = quantile.Summarize(retries, ps)
	b.All = quantile.Summarize(slices.Concat(first, retries), ps)
	return b
}

func (h *hop) fillCounts(r *Result) {
	for _, c := range spans.CutBys {
		r.CutBy = append(r.CutBy, CutCount{c, h.first.cuts[c] + h.retries.cuts[c]})
	}
	for _, k := range spans.Failures {
		if n := h.first.failures[k] + h.retries.failures[k]; n > 0 {
			r.Kinds = append(r.Kinds, FailureCount{k, n})
		}
	}
}

func share(c, n uint64, confidence quantile.P) Share {
	s := Share{Count: c, Of: n}
	if n > 0 {
		s.Value = float64(c) / float64(n)
		s.Lower, s.Upper = quantile.ClopperPearson(c, n, confidence)
	}
	return s
}

// maxWalls is how many known timeouts of one hop are listed; propagated
// deadlines can make a different one for each attempt.
const maxWalls = 16

// walls lists the timeouts that cut this hop: the known ones, then those
// inferred from own cuts without a known timeout.
func (h *hop) walls() []Wall {
	var known []Wall
	source := Recorded
	if h.timeout > 0 {
		source = Configured
	}
	for ns, n := range h.timeouts.All() {
		known = append(known, Wall{Timeout: &ns, Source: source, Count: n, From: ns, To: ns})
	}
	if h.timeout > 0 && len(known) == 0 {
		known = append(known, Wall{Timeout: &h.timeout, Source: source, From: h.timeout, To: h.timeout})
	}
	if len(known) > maxWalls {
		slices.SortStableFunc(known, func(a, b Wall) int { return cmp.Compare(b.Count, a.Count) })
		known = known[:maxWalls]
		slices.SortFunc(known, func(a, b Wall) int { return cmp.Compare(a.From, b.From) })
	}
	completed := quantile.Union{h.first.completed, h.retries.completed}
	own := quantile.Union{h.first.ownSeen, h.retries.ownSeen}
	for _, w := range quantile.InferWalls(completed, own) {
		known = append(known, Wall{Source: Inferred, Count: w.Count, From: w.From, To: w.To})
	}
	return known
}
