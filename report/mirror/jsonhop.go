package mirror

import (
	"math"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

type jsonHop struct {
	Hop            string         `json:"hop"`
	Service        *string        `json:"service"`
	Operation      *string        `json:"operation"`
	Kind           *string        `json:"kind"`
	Attempts       uint64         `json:"attempts"`
	FirstAttempts  uint64         `json:"first_attempts"`
	Retries        uint64         `json:"retries"`
	Completed      jsonBucket     `json:"completed"`
	Truncated      jsonTruncated  `json:"truncated"`
	Failed         jsonFailed     `json:"failed"`
	Unfinished     uint64         `json:"unfinished"`
	Recorded       jsonBucket     `json:"recorded"`
	TruncatedShare jsonShare      `json:"truncated_share"`
	FailedShare    *float64       `json:"failed_share"`
	Walls          []jsonWall     `json:"walls"`
	Tail           []jsonTail     `json:"tail"`
	Warnings       []note.Warning `json:"warnings"`
}

type jsonBucket struct {
	jsonSummary
	First   *jsonSummary `json:"first"`
	Retries *jsonSummary `json:"retries"`
}

type jsonSummary struct {
	N         uint64      `json:"n"`
	Mean      *int64      `json:"mean_ns"`
	Min       *int64      `json:"min_ns"`
	Max       *int64      `json:"max_ns"`
	Quantiles []jsonValue `json:"quantiles"`
}

type jsonValue struct {
	P     string `json:"p"`
	Value int64  `json:"value_ns"`
}

type jsonTruncated struct {
	jsonBucket
	CutBy jsonCutBy `json:"cut_by"`
}

type jsonCutBy struct {
	Own     uint64 `json:"own"`
	Below   uint64 `json:"below"`
	Caller  uint64 `json:"caller"`
	Unknown uint64 `json:"unknown"`
}

type jsonFailed struct {
	jsonBucket
	Kinds []jsonKind `json:"kinds"`
}

type jsonKind struct {
	Kind string `json:"kind"`
	N    uint64 `json:"n"`
}

type jsonShare struct {
	Value      *float64 `json:"value"`
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	Confidence string   `json:"confidence"`
	Effect     *float64 `json:"design_effect"`
	Effective  *uint64  `json:"n_eff"`
}

type jsonWall struct {
	Timeout *int64 `json:"timeout_ns"`
	Source  string `json:"source"`
	N       uint64 `json:"n"`
	From    int64  `json:"from_ns"`
	To      int64  `json:"to_ns"`
}

type jsonTail struct {
	P          string          `json:"p"`
	N          uint64          `json:"n"`
	Rank       uint64          `json:"rank"`
	Status     string          `json:"status"`
	Value      *int64          `json:"value_ns"`
	Lower      *int64          `json:"lower_ns"`
	Upper      *int64          `json:"upper_ns"`
	KM         *int64          `json:"km_ns"`
	Confidence string          `json:"confidence"`
	Reason     *string         `json:"reason"`
	Estimate   *jsonEstimate   `json:"estimate"`
	ServerSide *jsonServerSide `json:"server_side"`
	Effect     *float64        `json:"design_effect"`
	Effective  uint64          `json:"n_eff"`
}

type jsonServerSide struct {
	Value    *int64 `json:"value_ns"`
	Coverage jsonOf `json:"coverage"`
	Selected bool   `json:"selected_sample"`
}

func serverSideJSON(s *buckets.ServerSide) *jsonServerSide {
	if s == nil {
		return nil
	}
	return &jsonServerSide{s.Value, jsonOf{s.N, s.Of}, s.Selected}
}

// Hops is the section on hops as JSON.
func Hops(hops []buckets.Result, ps []quantile.P) any {
	return list(hops, func(h buckets.Result) jsonHop { return hopJSON(&h, ps) })
}

func hopJSON(h *buckets.Result, ps []quantile.P) jsonHop {
	return jsonHop{
		Hop: h.Hop, Service: orNull(h.Service), Operation: orNull(h.Operation), Kind: orNull(h.Kind),
		Attempts: h.Attempts, FirstAttempts: h.FirstAttempts, Retries: h.Retries, Unfinished: h.Unfinished,
		Completed:      bucketJSON(h, h.Completed, ps),
		Truncated:      jsonTruncated{bucketJSON(h, h.Truncated, ps), cutByJSON(h.CutBy)},
		Failed:         jsonFailed{bucketJSON(h, h.Failed, ps), list(h.Kinds, kindJSON)},
		Recorded:       bucketJSON(h, h.Recorded, ps),
		TruncatedShare: shareJSON(h),
		FailedShare:    failedJSON(h),
		Walls:          list(h.Walls, wallJSON),
		Tail:           list(h.Tail, func(t buckets.Tail) jsonTail { return tailJSON(t, h.Confidence) }),
		Warnings:       list(h.Warnings, itself),
	}
}

func bucketJSON(h *buckets.Result, b buckets.Bucket, ps []quantile.P) jsonBucket {
	return jsonBucket{summaryJSON(h, b.All, ps), partJSON(h, b.First, ps), partJSON(h, b.Retries, ps)}
}

// partJSON is null for a part without attempts.
func partJSON(h *buckets.Result, s quantile.Summary, ps []quantile.P) *jsonSummary {
	if s.N == 0 {
		return nil
	}
	part := summaryJSON(h, s, ps)
	return &part
}

// summaryJSON has no mean where there were no attempts or the sample is biased.
func summaryJSON(h *buckets.Result, s quantile.Summary, ps []quantile.P) jsonSummary {
	out := jsonSummary{N: s.N, Quantiles: []jsonValue{}}
	if s.N == 0 {
		return out
	}
	out.Min, out.Max = &s.Min, &s.Max
	if !h.Biased {
		out.Mean = &s.Mean
	}
	for i := range min(len(ps), len(s.Quantiles)) {
		out.Quantiles = append(out.Quantiles, jsonValue{ps[i].String(), s.Quantiles[i]})
	}
	return out
}

func cutByJSON(counts []buckets.CutCount) jsonCutBy {
	return jsonCutBy{
		Own: cutBy(counts, spans.Own), Below: cutBy(counts, spans.Below),
		Caller: cutBy(counts, spans.Caller), Unknown: cutBy(counts, spans.CutUnknown),
	}
}

func cutBy(counts []buckets.CutCount, by spans.CutBy) uint64 {
	var n uint64
	for _, c := range counts {
		if c.By == by {
			n += c.N
		}
	}
	return n
}

func kindJSON(c buckets.FailureCount) jsonKind { return jsonKind{c.Kind.String(), c.N} }

func shareJSON(h *buckets.Result) jsonShare {
	s, confidence := h.TruncatedShare, h.Confidence.String()
	if !h.HasShare() {
		return jsonShare{Confidence: confidence}
	}
	size := s.Size()
	return jsonShare{finite(s.Value), finite(s.Lower), finite(s.Upper), confidence, effectJSON(s.Effect), &size}
}

// effectJSON is null where the effect is not known.
func effectJSON(e depend.Effect) *float64 {
	if !e.Known() {
		return nil
	}
	return finite(e.Float())
}

func failedJSON(h *buckets.Result) *float64 {
	if h.Biased {
		return nil
	}
	return finite(h.FailedShare)
}

// finite keeps a division by zero from spoiling the whole document: JSON has
// no word for it.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func wallJSON(w buckets.Wall) jsonWall {
	return jsonWall{w.Timeout, string(w.Source), w.Count, w.From, w.To}
}

func tailJSON(t buckets.Tail, confidence quantile.P) jsonTail {
	out := jsonTail{
		P: t.P.String(), N: t.N, Rank: t.Rank, Status: t.Status.String(),
		Lower: t.Lower, Upper: t.Upper, KM: t.KM,
		Confidence: confidence.String(), Reason: orNull(t.Reason), Estimate: estimateJSON(t.Estimate), ServerSide: serverSideJSON(t.ServerSide),
		Effect: effectJSON(t.Effect), Effective: t.Size(),
	}
	if t.Status != quantile.NoValue {
		out.Value = &t.Value
	}
	return out
}
