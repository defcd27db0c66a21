package sampling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
)

// Signs that traces were chosen by how they went. Each has a smallest number of
// traces below which chance alone shows it too often.
const (
	fewestTroubled = 20
	fewestFloored  = 50

	// The number of traces that a query returns unless told otherwise, and what
	// people tell it.
	defaultLimit = 20
	roundLimit   = 100

	// Traces that a floor cuts off at the left: none is shorter than lowestFloor,
	// and the median is neither near it nor far from it.
	lowestFloor = 5e6 // nanoseconds
	mostMedian  = 4   // times the shortest
	leastMedian = 1.1
	// A floor stands at a round number. The shortest of n traces lies above it
	// by about s/n, with s the scale of what is just above; by chance (one in
	// 150) by five times that.
	farthest = 5
	// Without a floor few traces are as short as the shortest: between it and the
	// median they become more. Above a floor they become fewer, and the upper
	// half is the longer one.
	edgeShare = 8    // at least 1 in 8 in the first quarter of the way to the median
	upperHalf = 1.75 // p90 at least so much farther above the median than the shortest below
)

// signs names what suggests a biased sample; it is empty where nothing does.
func (a *Accumulator) signs() string {
	signs := slices.DeleteFunc([]string{a.troubledTraces(), a.floor(), a.roundCount()}, func(s string) bool { return s == "" })
	if len(signs) == 0 {
		return ""
	}
	return "these traces may have been chosen by how they went: " + strings.Join(signs, "; ") +
		". Values are as without this suspicion; --sampling says how they were chosen"
}

// troubledTraces notices traces of which all hold a failed or cut attempt, or
// half failed at the root or hold a cut.
func (a *Accumulator) troubledTraces() string {
	switch {
	case a.traces < fewestTroubled:
		return ""
	case a.troubled == a.traces:
		return fmt.Sprintf("all %d failed or hold attempts that failed or timed out", a.traces)
	case 2*a.gaveUp >= a.traces:
		return fmt.Sprintf("%d of %d failed or hold attempts that timed out", a.gaveUp, a.traces)
	}
	return ""
}

// roundCount notices as many traces as a query's limit lets through.
func (a *Accumulator) roundCount() string {
	if a.traces == 0 || a.traces != defaultLimit && a.traces%roundLimit != 0 {
		return ""
	}
	return fmt.Sprintf("%d traces are a round number, as a query's limit leaves them", a.traces)
}

// floor notices that no trace is shorter than some round duration although many
// are hardly longer.
func (a *Accumulator) floor() string {
	all := quantile.Union{&a.durations}
	s := quantile.Summarize(all, []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.9")})
	if s.N < fewestFloored || s.Min < lowestFloor {
		return ""
	}
	least, median, p90 := float64(s.Min), float64(s.Quantiles[0]), float64(s.Quantiles[1])
	if median < leastMedian*least || median > mostMedian*least || p90-median < upperHalf*(median-least) {
		return ""
	}
	scale := (median - least) * 1.44 // half of an exponential lies below scale/1.44
	at := roundBelow(s.Min)
	edge := s.Min + (s.Quantiles[0]-s.Min)/4
	if float64(s.Min-at) > farthest*scale/float64(s.N) || edgeShare*all.UpTo(edge) < s.N {
		return ""
	}
	return fmt.Sprintf("none is shorter than %s although many are hardly longer", durations.Text(at))
}

// roundBelow returns the largest duration up to ns with two significant digits.
func roundBelow(ns int64) int64 {
	step := int64(1)
	for ns/step >= 100 {
		step *= 10
	}
	return ns / step * step
}

// fallback says why weights that are there do not count, where they would have.
func (a *Accumulator) fallback(s Stated) []note.Warning {
	if !s.ReadsWeights() || a.traces == 0 {
		return nil
	}
	switch {
	case a.tooMany:
		return []note.Warning{{Code: "too_many_weights", Text: fmt.Sprintf("traces carry more than %d different weights, too many to weight by: each trace counts once", MaxWeights)}}
	case a.weighed > 0 || s.WeightField != "":
		return []note.Warning{{Code: "weights_missing", Text: fmt.Sprintf("%d of %s no weight: each trace counts once", a.traces-a.weighed, note.Count(a.traces, "trace")+note.Form(a.traces-a.weighed, " carries", " carry"))}}
	}
	return nil
}

func (a *Accumulator) disagreement() []note.Warning {
	if a.disagreeing == 0 {
		return nil
	}
	return []note.Warning{{Code: "weights_disagree", Text: fmt.Sprintf("the spans of %s carry different weights: that of the root counts", note.Count(a.disagreeing, "trace"))}}
}
