package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/ingest"
)

// samplingFlag is what the user says of how traces were chosen.
type samplingFlag struct {
	kind        string // "", "none", "probability" or "biased"
	probability string
}

func parseSampling(s string) (samplingFlag, error) {
	kind, p, _ := strings.Cut(s, "=")
	switch {
	case s == "" || s == "none" || s == "biased":
		return samplingFlag{kind: s}, nil
	case kind == "probability":
		if v, err := strconv.ParseFloat(p, 64); err == nil && v > 0 && v <= 1 {
			return samplingFlag{kind, p}, nil
		}
	}
	return samplingFlag{}, fmt.Errorf("--sampling %q: none, probability=P with P above 0 and at most 1, or biased", s)
}

// describeTraces enters what only whole traces tell into the account.
func (p *plan) describeTraces(in *ingest.Summary, f *found) {
	if f.traces.Spans == 0 {
		return
	}
	in.Traces, in.Spans, in.DuplicatesDropped = &f.traces.Traces, &f.traces.Spans, &f.traces.Duplicates
	in.Sampling = ingest.Sampling{Kind: "unknown", Evidence: "traces, and nothing in them says how they were chosen"}
	switch p.sampling.kind {
	case "none":
		in.Sampling = ingest.Sampling{Kind: "none", Evidence: "--sampling none"}
	case "probability":
		in.Sampling = ingest.Sampling{Kind: "probability", Evidence: "--sampling probability=" + p.sampling.probability}
	case "biased":
		in.Sampling = ingest.Sampling{Kind: "biased", Evidence: "--sampling biased"}
	}
}
