package attribution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// hopPair is two hops of a log, the one that was taken for the caller first.
type hopPair struct{ outer, inner int32 }

// mostPairs is how many pairs one warning names.
const mostPairs = 3

// unsure reports whether neither of two attempts holds the other, or each does:
// they start and end together, or the inner one starts hardly later and yet
// outlasts the outer one, which did not give up.
func unsure(outer, inner *spans.Attempt) bool {
	if outer.Start == inner.Start && outer.Duration == inner.Duration {
		return true
	}
	return !outer.GaveUp() && outer.End() < inner.End() && !wellBefore(outer.Start, inner.Start)
}

// unsurePairs lists the pairs that are unsure in at least one of a hundred chains,
// by names, whichever was taken for the caller; the most first.
func (a *Accumulator) unsurePairs() []HopCount {
	counts := map[string]uint64{}
	for pair, n := range a.unsure {
		names := []string{a.table.hops()[pair.outer].String(), a.table.hops()[pair.inner].String()}
		slices.Sort(names)
		counts[strings.Join(names, " and ")] += n
	}
	return hopCounts(counts, max(1, a.counts.measured[containment]/100))
}

// unsureNesting names the pairs of which it is not known who called whom.
func (a *Accumulator) unsureNesting() []note.Warning {
	pairs := a.unsurePairs()
	if len(pairs) == 0 {
		return nil
	}
	var parts []string
	for _, p := range pairs[:min(len(pairs), mostPairs)] {
		parts = append(parts, fmt.Sprintf("%s (%d times)", p.Hop, p.N))
	}
	if more := len(pairs) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return []note.Warning{{Code: "nesting_unsure", Text: "which one called the other is not known where two attempts start and end alike, so one may have the other's time: " + strings.Join(parts, ", ")}}
}
