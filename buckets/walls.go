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
