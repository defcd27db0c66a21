package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/sampling"
)

// samplingFlag is what the user says of how traces were chosen.
type samplingFlag = sampling.Stated

func parseSampling(s string) (samplingFlag, error) {
	kind, p, _ := strings.Cut(s, "=")
	switch {
	case s == "" || s == "none" || s == "biased":
		return samplingFlag{Kind: sampling.Kind(s)}, nil
	case kind == "probability":
		if v, err := strconv.ParseFloat(p, 64); err == nil && v > 0 && v <= 1 {
			return samplingFlag{Kind: sampling.Probability, Probability: p}, nil
		}
	}
	return samplingFlag{}, fmt.Errorf("--sampling %q: none, probability=P with P above 0 and at most 1, or biased", s)
}

// describeTraces enters into the account how the input was chosen, and what only
// whole traces tell.
func describeTraces(in *ingest.Summary, f *found, v sampling.Verdict) {
	in.Sampling = ingest.Sampling{Kind: string(v.Kind), Evidence: v.Evidence}
	in.Warnings = append(in.Warnings, v.Warnings...)
	if f.traces.Spans > 0 {
		in.Traces, in.Spans, in.DuplicatesDropped = &f.traces.Traces, &f.traces.Spans, &f.traces.Duplicates
	}
}
