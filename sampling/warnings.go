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

	// The number of traces that a query returns unless told otherwise, and what
	// people tell it.
	defaultLimit = 20
	roundLimit   = 100

	// A floor of traces stands at a round number, not below lowestFloor. The shortest of n
	// traces lies above it by about s/n, with s the scale of what is just above; by chance (one
	// in 150) by five times that.
	lowestFloor = 5e6 // nanoseconds
	farthest    = 5
)

// signs names what suggests a biased sample; it is empty where nothing does.
func (a *Accumulator) signs(s Stated) string {
	signs := slices.DeleteFunc([]string{a.troubledTraces(), a.floor(), a.roundCount(s)}, func(s string) bool { return s == "" })
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
func (a *Accumulator) roundCount(s Stated) string {
	if s.SeveralFiles || a.traces == 0 || a.traces != defaultLimit && a.traces%roundLimit != 0 {
		return ""
	}
	return fmt.Sprintf("%d traces are a round number, as a query's limit leaves them", a.traces)
}

// floor notices that no trace is shorter than some round duration although many
// are hardly longer.
func (a *Accumulator) floor() string {
	all := quantile.Union{&a.durations}
	least, scale, floored := quantile.Floored(all)
	at := roundBelow(least)
	if !floored || least < lowestFloor || float64(least-at) > farthest*scale/float64(all.N()) {
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
