package buckets

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// maxWalls is how many known timeouts of one hop are listed; propagated
// deadlines can make a different one for each attempt.
const maxWalls = 16

// walls lists the timeouts that cut this hop: the known ones, then those
// inferred from own cuts without a known timeout. Of many known ones those that
// cut most attempts are listed.
func (h *hop) walls() (list []Wall, unlisted int, wrong []quantile.Wall) {
	list = h.knownWalls()
	if unlisted = len(list) - maxWalls; unlisted > 0 {
		slices.SortStableFunc(list, func(a, b Wall) int { return cmp.Compare(b.Count, a.Count) })
		list = list[:maxWalls:maxWalls]
		slices.SortFunc(list, func(a, b Wall) int { return cmp.Compare(a.From, b.From) })
	}
	inferred, wrong := h.inferredWalls()
	return append(list, inferred...), max(0, unlisted), wrong
}

// knownWalls ascend. A configured timeout is one even if it cut nothing.
func (h *hop) knownWalls() []Wall {
	if ns := h.timeout; ns > 0 {
		return []Wall{{Timeout: &ns, Source: Configured, Count: h.timeouts.N(), From: ns, To: ns}}
	}
	var list []Wall
	for ns, n := range h.timeouts.All() {
		list = append(list, Wall{Timeout: &ns, Source: Recorded, Count: n, From: ns, To: ns})
	}
	return list
}

// inferredWalls leaves out those that more attempts outlast and complete than they cut:
// they are none, so the marks may be wrong.
func (h *hop) inferredWalls() (list []Wall, wrong []quantile.Wall) {
	own := append(h.first.union(ownCuts), h.again().union(ownCuts)...)
	for _, w := range quantile.InferWalls(h.completed(), own) {
		if w.Outlasted > w.Count {
			wrong = append(wrong, w)
			continue
		}
		list = append(list, Wall{Source: Inferred, Count: w.Count, From: w.From, To: w.To})
	}
	return list, wrong
}

// What completed or failed at one length far beyond the others may have been ended by a
// timeout that nobody marked. It stays in its bucket, but values and limits take it for
// cut.

// pile returns where the first attempts pile up, nil where they do not.
func (p *part) pile() *quantile.PileUp {
	if p.rare == nil {
		return nil
	}
	return p.rare.pile
}

// findPileUp looks for one among the first attempts of calls. Producers and consumers of
// messages wait for no timeout, and what a server takes piles up where a call that it makes
// times out.
func (h *hop) findPileUp(target quantile.P) *quantile.PileUp {
	if h.merged > 0 || h.Kind != spans.NoKind && h.Kind != spans.Client {
		return nil
	}
	if pile, found := quantile.FindPileUp(h.first.union(completions, failures), h.step(), target); found {
		return &pile
	}
	return nil
}

// setPile takes what lies in a pile-up for cut.
func (h *hop) setPile(pile *quantile.PileUp) {
	if pile == nil {
		return
	}
	h.first.split(pile)
	h.first.rare.pile = pile
	for i := range h.classes {
		h.classes[i].split(pile)
	}
}

// split moves what lies in a pile-up out of the attempts that are known to have completed,
// or to have failed for another reason.
func (p *part) split(pile *quantile.PileUp) {
	p.splitTo(piledDone, completions, pile)
	p.splitTo(piledFailed, failures, pile)
}

func (p *part) splitTo(piled, of int, pile *quantile.PileUp) {
	all := p.leave(of)
	*p.slot(piled) = nil
	if all == nil {
		return
	}
	for v, n := range all.All() {
		to := of
		if pile.From <= v && v <= pile.To {
			to = piled
		}
		p.sample(to).AddN(v, n)
	}
}

// pileTarget is the quantile for which so few as a fifth of what lies beyond it make a
// pile-up worth naming: the highest that is asked for.
func (q Query) pileTarget() quantile.P {
	most := median
	for _, p := range q.withTarget() {
		if p.Beyond() > 0 && p.Compare(most) > 0 {
			most = p
		}
	}
	return most
}

// wallOf is the timeout of an attempt: the one that the user gave, else the one that
// its record carries; 0 for none.
func (h *hop) wallOf(a *attempt) int64 {
	if h.timeout > 0 {
		return h.timeout
	}
	return a.timeout
}

// earlyCuts counts attempts that were cut so long before their timeout that it was
// another.
type earlyCuts struct {
	n                 uint64
	duration, timeout int64 // of the shortest; of several that are as short the longest timeout
}

func (h *hop) noteEarly(timeout, duration int64) {
	if timeout > 0 && duration < quantile.LoggedFrom(timeout) {
		h.mergeEarly(&earlyCuts{1, duration, timeout})
	}
}

func (h *hop) mergeEarly(o *earlyCuts) {
	switch e := h.early; {
	case o == nil:
	case e == nil:
		h.early = o
	default:
		e.n += o.n
		if o.duration < e.duration || o.duration == e.duration && o.timeout > e.timeout {
			e.duration, e.timeout = o.duration, o.timeout
		}
	}
}

// floors are the thresholds that logs of slow calls have, in tenths of a power of ten, and
// the least of them in ns: below that smooth laws may begin anywhere.
var floors = [...]int64{10, 20, 25, 30, 50}

const leastFloor = 100e6

// floor returns the threshold below which the attempts of a hop log look left out, 0 for
// none: none is shorter, many are hardly longer, and it is a round one with the shortest
// attempt within 1 % above it.
func (h *hop) floor(q Query, r *Result) int64 {
	at := floorBelow(r.Recorded.First.Min)
	if at == 0 || h.traced || q.NoneLeftOut || h.merged > 0 {
		return 0
	}
	if _, _, floored := quantile.Floored(h.first.all()); !floored {
		return 0
	}
	return at
}

func floorBelow(ns int64) int64 {
	for unit := int64(leastFloor / 10); unit <= ns; unit *= 10 {
		for _, step := range floors {
			if at := step * unit; at <= ns && ns-at <= at/100 {
				return at
			}
		}
		if unit > math.MaxInt64/1000 {
			break
		}
	}
	return 0
}
