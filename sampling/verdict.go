package sampling

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tailscope/tailscope/internal/note"
)

// Kind says whether the input can carry a statistic.
type Kind string

// The kinds.
const (
	None        Kind = "none"        // all are there
	Probability Kind = "probability" // chosen by chance alone, at known rates
	Biased      Kind = "biased"      // chosen by how they went
	Unknown     Kind = "unknown"
)

// Stated is what the user says.
type Stated struct {
	Kind        Kind   // "" where nothing was said
	Probability string // of Kind Probability, as it was written
	WeightField string // tag that holds the weights, "" where none was named
	// SeveralFiles: the traces came from more files than one, so that how many they are is
	// no query's limit.
	SeveralFiles bool
}

// Verdict is how the input was chosen, as far as that is known.
type Verdict struct {
	Kind     Kind
	Evidence string
	// Weighted tells that every trace carries a usable weight, that at least two
	// differ, and that they count.
	Weighted bool
	Warnings []note.Warning
}

// ReadsWeights reports whether weights in the input can matter at all. What the
// user says of the sample goes before the marks of a sampler. A biased sample is
// made right by weights that the user vouches for by naming their tag, not by the
// rate of the sampler at the head: that one had not seen yet how a trace went.
func (s Stated) ReadsWeights() bool {
	return s.Kind == "" || s.Kind == Biased && s.WeightField != ""
}

// Verdict holds what was seen against what was stated.
func (a *Accumulator) Verdict(s Stated) Verdict {
	switch {
	case s.ReadsWeights() && a.allWeighed():
		return Verdict{Kind: Probability, Evidence: a.carried(s), Weighted: len(a.weights) > 1, Warnings: a.disagreement()}
	case s.Kind != "":
		return Verdict{Kind: s.Kind, Evidence: s.flag(), Warnings: a.fallback(s)}
	case a.traces == 0:
		return Verdict{Kind: None, Evidence: "hop logs hold every attempt unless told otherwise"}
	}
	v := Verdict{Kind: Unknown, Evidence: a.unsaid(), Warnings: a.fallback(s)}
	if signs := a.signs(s); signs != "" {
		v.Warnings = append(v.Warnings, note.Warning{Code: "suspected_biased_sample", Text: signs})
	}
	return v
}

func (a *Accumulator) allWeighed() bool { return a.traces > 0 && a.weighed == a.traces && !a.tooMany }

// flag is the flag as it was written.
func (s Stated) flag() string {
	if s.Kind == Probability {
		return "--sampling probability=" + s.Probability
	}
	return "--sampling " + string(s.Kind)
}

// carried says where the weights come from and how large they are.
func (a *Accumulator) carried(s Stated) string {
	from := "every trace carries the probability with which it was kept (tracestate ot=th, sampler.param or a weight tag): "
	if s.WeightField != "" {
		from = "every trace carries its weight (--field weight=" + s.WeightField + ", else tracestate ot=th or sampler.param): "
		if s.Kind == Biased {
			from = "--sampling biased, but " + from
		}
	}
	return from + a.rates()
}

// rates writes the weights as probabilities where they can be: "probability
// 0.001", "probabilities 0.001 to 0.1".
func (a *Accumulator) rates() string {
	weights := slices.Sorted(maps.Keys(a.weights))
	least, most := weights[0], weights[len(weights)-1]
	word, plural, from, to := "probability", "probabilities", 1/most, 1/least
	if least < 1 {
		word, plural, from, to = "relative weight", "relative weights", least, most
	}
	if least == most {
		return word + " " + number(from)
	}
	return plural + " " + number(from) + " to " + number(to)
}

// number has six significant digits: 1/(1/0.3) is 0.30000000000000004.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

func (a *Accumulator) unsaid() string {
	switch {
	case a.weighed == 0:
		return "traces, and nothing in them says how they were chosen"
	case a.weighed < a.traces:
		return fmt.Sprintf("%d of %s kept, the others do not", a.weighed, note.Count(a.traces, "trace")+note.Form(a.weighed, " carries the probability with which it was", " carry the probability with which they were"))
	}
	return fmt.Sprintf("traces carry more than %d different weights", MaxWeights)
}
