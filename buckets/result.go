package buckets

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/spans"
)

// Result is what is known of one hop. All durations are nanoseconds.
type Result struct {
	spans.Hop     `json:"-"`
	Attempts      uint64 `json:"attempts"`
	FirstAttempts uint64 `json:"first_attempts"`
	Retries       uint64 `json:"retries"`

	Completed  Bucket    `json:"completed"`
	Truncated  Truncated `json:"truncated"`
	Failed     Failed    `json:"failed"`
	Unfinished uint64    `json:"unfinished"` // attempts without an end: in no bucket
	Recorded   Bucket    `json:"recorded"`   // all three mixed: what a tool that ignores the marks prints

	TruncatedShare Share               `json:"truncated_share"` // of the first attempts that completed or were cut
	FailedShare    jsontype.Number     `json:"failed_share"`    // of all first attempts; by weight where Effective is not 0
	Walls          jsontype.List[Wall] `json:"walls"`
	Confidence     quantile.P          `json:"-"`
	Tail           jsontype.List[Tail] `json:"tail"` // one for each quantile asked for, in that order

	// Biased: what was kept was chosen by how it went. Counts, extremes and walls
	// are those of the kept attempts; shares, means and quantiles have no value.
	Biased bool `json:"-"`
	// Effective is n_eff, rounded down, where the first attempts have different
	// weights: shares and Tail are weighted. Else it is 0.
	Effective uint64                      `json:"-"`
	Warnings  jsontype.List[note.Warning] `json:"warnings"`
	// Certifiable is the highest quantile that surely lies below the timeout, nil where
	// that is not known.
	Certifiable *float64 `json:"-"`
	// Target is what a query asked for apart; nil where it did not.
	Target *Target `json:"-"`
	// Claims is how many limits have the confidence together, where that was asked
	// for: Confidence is then that of each. Else it is 0.
	Claims int `json:"-"`
}

// Bucket describes the durations of the attempts that ended one way, all and
// split; a part without attempts has N 0. Quantiles stand in the order asked
// for. Each attempt counts once, whatever its weight.
type Bucket struct{ All, First, Retries quantile.Summary }

// Truncated is the attempts that were cut.
type Truncated struct {
	Bucket
	CutBy CutCounts // in the order of spans.CutBys, zeros included
}

// Failed is the attempts that failed.
type Failed struct {
	Bucket
	Kinds jsontype.List[FailureCount] // those that occur, in the order of spans.Failures
}

// CutCounts lists causes.
type CutCounts []CutCount

// CutCount is how many truncated attempts were cut by one cause.
type CutCount struct {
	By spans.CutBy
	N  uint64
}

// FailureCount is how many failed attempts failed in one way.
type FailureCount struct {
	Kind spans.Failure `json:"kind"`
	N    uint64        `json:"n"`
}

// Share is c of n, by weight where the result is weighted, with one-sided limits at the confidence of the result
// (Clopper and Pearson 1934). Of is 0 where there is nothing to divide by.
type Share struct {
	Count, Of           uint64
	Value, Lower, Upper float64

	Effect    depend.Effect // of attempts that go the same way
	Effective uint64        // n_eff, where it is not Of; else 0

	confidence quantile.P // that of the result, for JSON
}

// Size is the number of equal, independent attempts that the limits stand on.
func (s Share) Size() uint64 {
	if s.Effective > 0 {
		return s.Effective
	}
	return s.Of
}

// WallSource says how a wall is known.
type WallSource string

// The sources of a wall.
const (
	Configured WallSource = "configured" // given with --timeout
	Recorded   WallSource = "recorded"   // a column of the input
	Inferred   WallSource = "inferred"   // own cuts that lie together
)

// Wall is a timeout that cuts a hop's attempts. Timeout is nil where it is only
// inferred to lie in [From, To]; else From and To equal it. Count is how many
// attempts it cut.
type Wall struct {
	Timeout *int64     `json:"timeout_ns"`
	Source  WallSource `json:"source"`
	Count   uint64     `json:"n"`
	From    int64      `json:"from_ns"`
	To      int64      `json:"to_ns"`
}

// Tail is one quantile of a hop's first attempts with what may be said of it.
type Tail struct {
	quantile.Tail
	KM *int64 // Kaplan-Meier value where it differs from Value
	// ClockStep is the step, in ns, of the clock that the durations were read from.
	ClockStep int64
	Reason    string // empty where there is nothing to explain
	// ServerSide is what the servers of the calls took, nil where not known.
	ServerSide *ServerSide
	// Estimate is what models guess where the wall hides the value, nil where they
	// are not asked.
	Estimate *fit.Estimate

	confidence quantile.P // that of the result, for JSON
}

// ServerSide is a quantile of calls in which the server's duration stands for
// each call that was cut. Value is nil where it lies among the calls whose server
// span is not there. Selected says that those with one are too few to stand for all.
type ServerSide struct {
	Value    *int64 `json:"value_ns"`
	Coverage `json:"coverage"`
	Selected bool `json:"selected_sample"`
}

// Coverage is how many of the first calls that were cut have a server span.
type Coverage struct {
	N  uint64 `json:"n"`
	Of uint64 `json:"of"`
}

// SetServerSide puts a server-side value beside the quantile p.
func (r *Result) SetServerSide(p quantile.P, s ServerSide) {
	for i := range r.Tail {
		if r.Tail[i].P == p {
			r.Tail[i].ServerSide = &s
		}
	}
	if r.Target != nil && r.Target.Tail.P == p {
		r.Target.Tail.ServerSide = &s
	}
}

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
		"at_most_ns", t.AtMost, "clock_step_ns", t.ClockStep,
		"lower_ns", t.Lower, "upper_ns", t.Upper, "km_ns", t.KM, "confidence", t.confidence, "reason", jsontype.Text(t.Reason),
		"estimate", t.Estimate, "server_side", t.ServerSide, "design_effect", t.Effect, "n_eff", t.Size(),
	}.MarshalJSON()
}
