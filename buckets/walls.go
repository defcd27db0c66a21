package buckets

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// maxWalls is how many known timeouts of one hop are listed; propagated
// deadlines can make a different one for each attempt.
const maxWalls = 16

// walls lists the timeouts that cut this hop: the known ones, then those
// inferred from own cuts without a known timeout. Of many known ones those that
// cut most attempts are listed.
func (h *hop) walls() (list []Wall, unlisted int) {
	list = h.knownWalls()
	if unlisted = len(list) - maxWalls; unlisted > 0 {
		slices.SortStableFunc(list, func(a, b Wall) int { return cmp.Compare(b.Count, a.Count) })
		list = list[:maxWalls:maxWalls]
		slices.SortFunc(list, func(a, b Wall) int { return cmp.Compare(a.From, b.From) })
	}
	return append(list, h.inferredWalls()...), max(0, unlisted)
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

// outlasted counts the attempts that completed after all cuts of an inferred timeout. One
// that more attempts outlast than it cuts is none.
func (h *hop) outlasted(w quantile.Wall) uint64 {
	done := h.completed()
	return done.N() - done.UpTo(w.SlowestCut)
}

func (h *hop) inferredWalls() []Wall {
	var list []Wall
	for _, w := range quantile.InferWalls(h.completed(), h.ownUnplaced()) {
		if h.outlasted(w) > w.Count {
			continue
		}
		list = append(list, Wall{Source: Inferred, Count: w.Count, From: w.From, To: w.To})
	}
	return list
}

// ownUnplaced are the attempts cut by a timeout of their own that is not known.
func (h *hop) ownUnplaced() quantile.Union {
	return append(h.first.union(ownCuts), h.again().union(ownCuts)...)
}
