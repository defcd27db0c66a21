package retries

import (
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// describer turns what was counted into results.
type describer struct {
	w *Accumulator
	q Query
}

var tenths = []quantile.P{quantile.MustP("0.1"), quantile.MustP("0.5"), quantile.MustP("0.9")}

// describe puts hops together into one row.
func (d *describer) describe(list []*hop) Hop {
	var all attempts
	var after quantile.Union
	for _, h := range list {
		all.add(&h.attempts)
		after = append(after, h.finishedAfter)
	}
	first := all.first()
	r := Hop{
		Calls: all.firsts, Attempts: all.firsts + all.retries, FirstCut: all.firstCut, Completion: first.Share(),
		Rescue: d.rescue(all.afterCut, first), AfterFailure: d.afterFailure(&all, first), Permanent: all.permanent, Unmatched: all.unmatched,
		MostAttempts: max(all.mostAttempts, min(1, all.firsts+all.retries)),
		TooLate:      d.tooLate(list), NearTimeout: Near{d.nearTimeout(list)}, Backoff: d.backoff(list), Wall: d.wall(list),
	}
	if len(list) == 1 {
		r.Hop = list[0].Hop
	}
	if all.twice.Of > 0 {
		r.ExecutedTwice = &all.twice
	}
	if all.finished.Of > 0 {
		r.FinishedAnyway = &Finished{all.finished, medianOf(after)}
	}
	return r
}

// first counts the first attempts that completed, of those that ended.
func (a *attempts) first() Count {
	c := Count{a.firstCompleted, a.firstCompleted + a.firstCut}
	if a.failed != nil {
		for _, kind := range a.failed {
			c.Of += kind.first
		}
	}
	return c
}

func medianOf(u quantile.Union) *int64 {
	if u.N() == 0 {
		return nil
	}
	return &quantile.Summarize(u, tenths).Quantiles[1]
}

func (d *describer) rescue(c, first Count) Rescue {
	r := Rescue{Count: c}
	r.Lower, r.Upper = quantile.ClopperPearson(r.N, r.Of, d.q.Confidence)
	r.Verdict = rescueVerdict(r, first, d.q.Confidence)
	return r
}

func (d *describer) afterFailure(a *attempts, first Count) (list []AfterFailure) {
	if a.failed == nil {
		return nil
	}
	for _, kind := range spans.Failures {
		if n := a.failed[kind]; n.first > 0 || n.again.Of > 0 {
			list = append(list, AfterFailure{kind, n.first, d.rescue(n.again, first)})
		}
	}
	return list
}

// tooLate counts the retries that began when less than a whole attempt was left of
// what their caller waits.
func (d *describer) tooLate(list []*hop) *Count {
	var c Count
	for _, h := range list {
		own, known := d.q.Wall(h.Hop)
		for _, i := range slices.Sorted(maps.Keys(h.late)) {
			waits, callerKnown := d.q.Wall(d.w.table.hops[i].Hop)
			if !known || !callerKnown {
				continue
			}
			c.Of += h.late[i].N()
			c.N += h.late[i].N() - quantile.Union{h.late[i]}.UpTo(waits-own)
		}
	}
	if c.Of == 0 {
		return nil
	}
	return &c
}

func (d *describer) nearTimeout(list []*hop) Count {
	var c Count
	for _, h := range list {
		ns, known := d.q.Wall(h.Hop)
		if !known || d.q.Completed == nil {
			continue
		}
		completed := d.q.Completed(h.Hop)
		c.Of += completed.N()
		c.N += completed.N() - completed.UpTo(ns/100*nearPercent+ns%100*nearPercent/100)
	}
	return c
}

// backoff describes the gaps before retries.
func (d *describer) backoff(list []*hop) Backoff {
	var all quantile.Union
	var by [ordinals]quantile.Union
	for _, h := range list {
		for k, s := range h.gaps {
			all, by[k] = append(all, s), append(by[k], s)
		}
	}
	b := Backoff{N: all.N(), Jitter: JitterUnknown}
	if b.N == 0 {
		return b
	}
	s := quantile.Summarize(all, tenths)
	b.Min, b.P50, b.Max = &s.Min, &s.Quantiles[1], &s.Max
	b.Base, b.Growth = medianOf(by[0]), growth(by[0], by[1])
	most := 0
	for k := range by {
		if by[k].N() > by[most].N() {
			most = k
		}
	}
	b.Jitter = jitterOf(by[most])
	return b
}

// growth is the median of the gaps before second retries over that before first
// ones, nil where there are too few.
func growth(first, second quantile.Union) *float64 {
	if first.N() < leastGaps || second.N() < leastGaps || *medianOf(first) == 0 {
		return nil
	}
	f := float64(*medianOf(second)) / float64(*medianOf(first))
	return &f
}
