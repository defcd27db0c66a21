package worlds

import (
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Chains puts the lines of each chain together. All have one list of hops, in order.
func Chains(lines []Line) (list []*spans.Chain) {
	var hops []spans.Hop
	number := map[string]int32{}
	for _, l := range lines {
		number[l.Hop] = 0
	}
	for name := range number {
		hops = append(hops, spans.Hop{Name: name})
	}
	slices.SortFunc(hops, spans.Hop.Compare)
	for i, h := range hops {
		number[h.Name] = int32(i)
	}
	at := map[int]int{}
	for _, l := range lines {
		k, known := at[l.Chain]
		if !known {
			k = len(list)
			at[l.Chain] = k
			id := spans.TraceID{Lo: uint64(l.Chain)*0x9e3779b97f4a7c15 + 1}
			list = append(list, &spans.Chain{Hops: hops, ID: id, Group: id.Group()})
		}
		a := spans.Attempt{Start: l.Start, Duration: l.Duration, Hop: number[l.Hop], Parent: -1, Timed: true}
		switch {
		case l.Cut:
			a.Outcome, a.CutBy = spans.Truncated, spans.Own
		case l.Failed:
			a.Outcome, a.Failure = spans.Failed, spans.OtherFailure
		}
		list[k].Attempts = append(list[k].Attempts, a)
	}
	for _, c := range list {
		c.Link()
	}
	return list
}
