package buckets

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// MarshalJSON writes the fields by their tags. Shares and tails carry the
// confidence of their limits, and a biased sample has no shares.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	r.Tail = slices.Clone(r.Tail)
	for i := range r.Tail {
		r.Tail[i].confidence = r.Confidence
	}
	r.TruncatedShare.confidence = r.Confidence
	if r.Biased {
		r.FailedShare, r.TruncatedShare.Of = jsontype.Number(math.NaN()), 0
	}
	return jsontype.Join(jsontype.Object{
		"hop", r.Name, "service", jsontype.Text(r.Service), "operation", jsontype.Text(r.Operation), "kind", r.Kind,
	}, fields(r))
}

// MarshalJSON writes the parts behind the whole, null where they are empty.
func (b Bucket) MarshalJSON() ([]byte, error) {
	return jsontype.Join(b.All, jsontype.Object{"first", jsontype.If(b.First.N > 0, b.First), "retries", jsontype.If(b.Retries.N > 0, b.Retries)})
}

// MarshalJSON writes the causes behind the durations.
func (t Truncated) MarshalJSON() ([]byte, error) {
	return jsontype.Join(t.Bucket, jsontype.Object{"cut_by", t.CutBy})
}

// MarshalJSON writes the kinds of failure behind the durations.
func (f Failed) MarshalJSON() ([]byte, error) {
	return jsontype.Join(f.Bucket, jsontype.Object{"kinds", f.Kinds})
}

// MarshalJSON writes one number for each cause.
func (c CutCounts) MarshalJSON() ([]byte, error) {
	n := map[spans.CutBy]uint64{}
	for _, one := range c {
		n[one.By] += one.N
	}
	return jsontype.Object{"own", n[spans.Own], "below", n[spans.Below], "caller", n[spans.Caller], "unknown", n[spans.CutUnknown]}.MarshalJSON()
}

// MarshalJSON writes null for what cannot be known of nothing.
func (s Share) MarshalJSON() ([]byte, error) {
	number := func(f float64) *jsontype.Number { return jsontype.If(s.Of > 0, jsontype.Number(f)) }
	return jsontype.Object{
		"value", number(s.Value), "lower", number(s.Lower), "upper", number(s.Upper), "confidence", s.confidence,
		"design_effect", jsontype.If(s.Of > 0, s.Effect), "n_eff", jsontype.If(s.Of > 0, s.Size()),
	}.MarshalJSON()
}

// MarshalJSON writes the fields of both kinds of tail in the order in which they
// are read; of those of quantile.Tail some are only for reasons.
func (t Tail) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"p", t.P, "n", t.N, "rank", t.Rank, "status", t.Status, "value_ns", jsontype.If(t.Status != quantile.NoValue, t.Value),
		"lower_ns", t.Lower, "upper_ns", t.Upper, "km_ns", t.KM, "confidence", t.confidence, "reason", jsontype.Text(t.Reason),
		"estimate", t.Estimate, "server_side", t.ServerSide, "design_effect", t.Effect, "n_eff", t.Size(),
	}.MarshalJSON()
}
