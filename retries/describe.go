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
	r := Hop{ExecutedTwice: d.twice(list), FinishedAnyway: d.finished(list), TooLate: d.tooLate(list), NearTimeout: Near{d.nearTimeout(list)}, Backoff: d.backoff(list), Wall: d.wall(list)}
	if len(list) == 1 {
		r.Hop = list[0].Hop
	}
	first, cut := Count{}, rescued{}
	for _, h := range list {
		r.Calls, r.Attempts, r.FirstCut = r.Calls+h.firsts, r.Attempts+h.firsts+h.retries, r.FirstCut+h.firstCut
		r.Permanent, r.Unmatched = r.Permanent+h.permanent, r.Unmatched+h.unmatched
		r.MostAttempts = max(r.MostAttempts, h.mostAttempts, min(1, h.firsts+h.retries))
		first = Count{first.N + h.firstCompleted, first.Of + h.firstCompleted + h.firstCut + sum(h.firstFailed[:])}
		cut.add(h.afterCut)
	}
	r.Completion, r.Rescue, r.AfterFailure = first.Share(), d.rescue(cut, first), d.afterFailure(list, first)
	return r
}

// finished puts together what servers made of cut first attempts, nil where none
// is there.
func (d *describer) finished(list []*hop) *Finished {
	f, after := Finished{}, quantile.Union{}
	for _, h := range list {
		f.N, f.Of, after = f.N+h.finished, f.Of+h.finishedOf, append(after, h.finishedAfter)
	}
	if f.Of == 0 {
		return nil
	}
	f.MedianAfter = medianOf(after)
	return &f
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

func medianOf(u quantile.Union) *int64 {
	if u.N() == 0 {
		return nil
	}
	return &quantile.Summarize(u, tenths).Quantiles[1]
}

func (d *describer) rescue(c rescued, first Count) Rescue {
	r := Rescue{Count: Count{c.completed, c.n}}
	r.Lower, r.Upper = quantile.ClopperPearson(r.N, r.Of, d.q.Confidence)
	r.Verdict = rescueVerdict(r, first)
	return r
}

func (d *describer) afterFailure(list []*hop, first Count) []AfterFailure {
	var all []AfterFailure
	for _, kind := range spans.Failures {
		var one rescued
		var n uint64
		for _, h := range list {
			one.add(h.afterFailure[kind])
			n += h.firstFailed[kind]
		}
		if n > 0 || one.n > 0 {
			all = append(all, AfterFailure{kind, n, d.rescue(one, first)})
		}
	}
	return all
}

// twice is nil where no call can tell.
func (d *describer) twice(list []*hop) *Twice {
	t := &Twice{}
	for _, h := range list {
		t.N, t.Of, t.Retried = t.N+h.twice, t.Of+h.twiceSeen, t.Retried+h.twiceOf
		t.Writes += h.twiceWrites
	}
	if t.Of == 0 {
		return nil
	}
	return t
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
