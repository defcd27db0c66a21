package mirror

import (
	"time"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/retries"
)

// jsonRetries is the section on what retries are worth.
type jsonRetries struct {
	Hops          []jsonRetriesHop  `json:"hops"`
	All           jsonWorth         `json:"all"`
	Amplification jsonAmplification `json:"amplification"`
	Ratio         jsonRetryRatio    `json:"retry_ratio"`
	InStep        jsonInStep        `json:"in_step"`
	ExecutedTwice []jsonTwiceCase   `json:"executed_twice"`
	Confidence    string            `json:"confidence"`
	Warnings      []note.Warning    `json:"warnings"`
}

type jsonRetriesHop struct {
	Hop  string  `json:"hop"`
	Kind *string `json:"kind"`
	jsonWorth
}

// jsonWorth is a hop, or all hops together.
type jsonWorth struct {
	Calls          uint64             `json:"calls"`
	Attempts       uint64             `json:"attempts"`
	FirstCut       uint64             `json:"first_cut"`
	AfterCut       uint64             `json:"retries_after_cut"`
	Completed      uint64             `json:"retries_completed"`
	Rescue         jsonRescue         `json:"rescue"`
	Verdict        retries.Verdict    `json:"verdict"`
	Completion     *float64           `json:"first_completion"`
	AfterFailure   []jsonAfterFailure `json:"after_failure"`
	ExecutedTwice  *jsonTwice         `json:"executed_twice"`
	FinishedAnyway *jsonFinished      `json:"finished_anyway"`
	NearTimeout    jsonNear           `json:"near_timeout"`
	Backoff        jsonBackoff        `json:"backoff"`
	Wall           jsonRetryWall      `json:"wall"`
	TooLate        *jsonCount         `json:"retries_too_late"`
	Permanent      uint64             `json:"permanent_errors_retried"`
	Unmatched      uint64             `json:"unmatched_retries"`
	MostAttempts   uint64             `json:"most_attempts"`
}

type jsonCount struct {
	N  uint64 `json:"n"`
	Of uint64 `json:"of"`
}

type jsonRescue struct {
	Rate  *float64 `json:"rate"`
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

type jsonAfterFailure struct {
	Kind      string          `json:"kind"`
	First     uint64          `json:"first_failed"`
	Retried   uint64          `json:"retries_after_failure"`
	Completed uint64          `json:"retries_completed"`
	Rescue    jsonRescue      `json:"rescue"`
	Verdict   retries.Verdict `json:"verdict"`
}

type jsonTwice struct {
	jsonCount
	Retried uint64 `json:"retried_calls"`
	Writes  uint64 `json:"writes"`
}

type jsonFinished struct {
	jsonCount
	MedianAfter *int64 `json:"median_after_ns"`
}

type jsonNear struct {
	Threshold float64  `json:"threshold"`
	Share     *float64 `json:"share"`
}

type jsonBackoff struct {
	N      uint64         `json:"n"`
	Min    *int64         `json:"gap_min_ns"`
	P50    *int64         `json:"gap_p50_ns"`
	Max    *int64         `json:"gap_max_ns"`
	Base   *int64         `json:"base_ns"`
	Growth *float64       `json:"growth"`
	Jitter retries.Jitter `json:"jitter"`
}

type jsonRetryWall struct {
	Verdict   retries.WallVerdict `json:"verdict"`
	Timeout   *int64              `json:"timeout_ns"`
	Share     *float64            `json:"share"`
	N         uint64              `json:"n"`
	Of        uint64              `json:"of"`
	Width     int64               `json:"bin_ns"`
	Histogram []jsonBin           `json:"histogram"`
}

type jsonBin struct {
	From int64  `json:"from_ns"`
	N    uint64 `json:"n"`
}

type jsonAmplification struct {
	ObservedMax *uint64     `json:"observed_max"`
	Possible    uint64      `json:"possible"`
	Layers      []jsonLayer `json:"layers"`
}

type jsonLayer struct {
	Hop          string  `json:"hop"`
	Kind         *string `json:"kind"`
	Retries      uint64  `json:"retries"`
	MostAttempts uint64  `json:"most_attempts"`
}

type jsonRetryRatio struct {
	Mean  *float64 `json:"mean"`
	Worst *float64 `json:"worst_minute"`
	At    *string  `json:"at"`
}

type jsonInStep struct {
	Moments    int     `json:"moments"`
	MostTraces uint64  `json:"most_traces"`
	At         *string `json:"at"`
	Period     *int64  `json:"period_ns"`
}

type jsonTwiceCase struct {
	Trace      string  `json:"trace"`
	Span       string  `json:"span"`
	Hop        string  `json:"hop"`
	Kind       *string `json:"kind"`
	Executions int     `json:"executions"`
	Severity   string  `json:"severity"`
}

// Retries is the section on retries as JSON.
func Retries(o *retries.Result) any {
	j := &jsonRetries{
		Hops: list(o.Hops, retriesHopJSON), All: worthJSON(&o.All),
		Amplification: jsonAmplification{o.Amplification.ObservedMax, o.Amplification.Possible, list(o.Amplification.Layers, layerJSON)},
		Ratio:         jsonRetryRatio{Mean: o.Ratio.All.Share(), Worst: o.Ratio.Worst.Share()},
		InStep:        inStepJSON(o), ExecutedTwice: list(o.ExecutedTwice, twiceCaseJSON),
		Confidence: o.Confidence.String(), Warnings: list(o.Warnings, itself),
	}
	if j.Ratio.Worst != nil {
		at := instant(o.Ratio.At)
		j.Ratio.At = &at
	}
	return j
}

// instant writes a time for machines.
func instant(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

func retriesHopJSON(h retries.Hop) jsonRetriesHop {
	return jsonRetriesHop{h.Name, orNull(h.Kind.String()), worthJSON(&h)}
}

func worthJSON(h *retries.Hop) jsonWorth {
	j := jsonWorth{
		Calls: h.Calls, Attempts: h.Attempts, FirstCut: h.FirstCut, AfterCut: h.Rescue.Of, Completed: h.Rescue.N,
		Rescue: rescueJSON(&h.Rescue), Verdict: h.Rescue.Verdict, Completion: h.Completion, AfterFailure: list(h.AfterFailure, afterFailureJSON),
		NearTimeout: jsonNear{retries.NearTimeout, h.NearTimeout.Share()},
		Backoff:     jsonBackoff(h.Backoff), Wall: retryWallJSON(&h.Wall),
		Permanent: h.Permanent, Unmatched: h.Unmatched, MostAttempts: h.MostAttempts,
	}
	if t := h.ExecutedTwice; t != nil {
		j.ExecutedTwice = &jsonTwice{jsonCount(t.Count), t.Retried, t.Writes}
	}
	if f := h.FinishedAnyway; f != nil {
		j.FinishedAnyway = &jsonFinished{jsonCount(f.Count), f.MedianAfter}
	}
	if t := h.TooLate; t != nil {
		j.TooLate = &jsonCount{t.N, t.Of}
	}
	return j
}

func rescueJSON(r *retries.Rescue) jsonRescue {
	if r.Of == 0 || r.Biased {
		return jsonRescue{}
	}
	return jsonRescue{r.Share(), &r.Lower, &r.Upper}
}

func afterFailureJSON(a retries.AfterFailure) jsonAfterFailure {
	return jsonAfterFailure{a.Kind.String(), a.First, a.Of, a.N, rescueJSON(&a.Rescue), a.Verdict}
}

func retryWallJSON(w *retries.Wall) jsonRetryWall {
	return jsonRetryWall{
		Verdict: w.Verdict, Timeout: w.Timeout, Share: w.Share(), N: w.N, Of: w.Of, Width: w.Width,
		Histogram: list(w.Histogram, func(b retries.Bin) jsonBin { return jsonBin(b) }),
	}
}

func layerJSON(l retries.Layer) jsonLayer {
	return jsonLayer{l.Name, orNull(l.Kind.String()), l.Retries, l.MostAttempts}
}

func inStepJSON(o *retries.Result) jsonInStep {
	j := jsonInStep{Moments: len(o.InStep), Period: o.Period}
	for _, s := range o.InStep {
		if s.Traces > j.MostTraces {
			at := instant(s.At)
			j.MostTraces, j.At = s.Traces, &at
		}
	}
	return j
}

func twiceCaseJSON(c retries.Case) jsonTwiceCase {
	return jsonTwiceCase{c.Trace, c.Span, c.Hop.Name, orNull(c.Hop.Kind.String()), c.Executions, c.Severity()}
}
