package depend

import (
	"cmp"
	"slices"
)

// Dependence is what is known of how the attempts of a sample hang together.
type Dependence struct {
	Traces *Clusters
	Blocks *Blocks // flushed
	// CutFrom is the bucket from which on all attempts count as cut.
	CutFrom LogBucket
}

// Threshold tells attempts apart: Beyond of them were cut, or lie in bucket From or above
// it.
type Threshold struct {
	From   LogBucket
	Beyond uint64
}

// Dependent is how attempts beyond one threshold hang together.
type Dependent struct {
	Effect Effect
	Drift  *Drift // nil where the share beyond the threshold did not move
}

// At returns how n attempts hang together beyond each of some thresholds. Others tell
// whether they do, all in one test: where at none of these an effect is more than chance,
// of traces or of blocks of any width, all have the effect 1 of independent attempts. Else
// each has its largest.
func (d Dependence) At(n uint64, at, telling []Threshold) []Effect {
	all := append(slices.Clone(at), telling...)
	slices.SortFunc(all, func(a, b Threshold) int { return cmp.Compare(a.From, b.From) })
	all = slices.Compact(all)
	ways := d.grouped(n, all)
	dependent := false
	for i := range all {
		if slices.Contains(telling, all[i]) {
			dependent = dependent || slices.ContainsFunc(ways, func(g grouped) bool { return g.at[i].dependent() })
		}
	}
	list := make([]Effect, len(at))
	for i, t := range at {
		for k := range ways {
			list[i] = list[i].Larger(ways[k].effect(slices.Index(all, t), dependent))
		}
	}
	return list
}

// Drift returns how the share of attempts that were cut or lie in bucket s or above it
// moved, nil where it did not.
func (d Dependence) Drift(s LogBucket) *Drift { return d.Blocks.drift(s) }

// grouped puts the attempts together in every way there is.
func (d Dependence) grouped(n uint64, at []Threshold) []grouped {
	var ways []grouped
	if !d.Traces.Empty() {
		byTrace := grouped{at: make([]clustered, len(at))}
		for i, t := range at {
			byTrace.at[i] = d.Traces.clustered(t.From, n, t.Beyond)
		}
		ways = append(ways, byTrace)
	}
	return append(ways, d.Blocks.grouped(at)...)
}

// grouped is a sample put together one way, beyond each of some thresholds.
type grouped struct {
	minutes uint32 // width of the blocks; 0: by trace
	at      []clustered
}

// few reports whether there are too few traces to tell.
func (g *grouped) few() bool { return g.minutes == 0 && g.at[0].clusters < fewestClusters }

// effect is that beyond one threshold; of too few traces the most that it can be.
func (g *grouped) effect(i int, dependent bool) Effect {
	c := &g.at[i]
	switch {
	case g.few():
		return c.utmost()
	case !c.known():
		return Effect{}
	case !dependent:
		return Effect{Hundredths: 100}
	}
	return Effect{Hundredths: c.hundredths(), Minutes: g.minutes}
}
