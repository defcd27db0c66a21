package retries

import "github.com/tailscope/tailscope/internal/jsontype"

// MarshalJSON writes all hops together without a name, and of the moments how many
// they are and the worst; then the other fields by their tags.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	return jsontype.Join(jsontype.Object{
		"hops", r.Hops, "all", worth(r.All), "amplification", r.Amplification, "retry_ratio", r.Ratio, "in_step", r.inStep(),
	}, fields(r))
}

func (r *Result) inStep() jsontype.Object {
	worst := r.worstMoment()
	return jsontype.Object{
		"moments", len(r.InStep), "most_traces", worst.Traces, "at", jsontype.If(worst.Traces > 0, clock(worst.At)), "period_ns", r.Period,
	}
}

// MarshalJSON writes the name and what the retries are worth.
func (h Hop) MarshalJSON() ([]byte, error) { return jsontype.Join(h.Hop, worth(h)) }

// worth is a hop without its name.
type worth Hop

// MarshalJSON writes the parts of a rescue beside each other, and then the other
// fields by their tags.
func (h worth) MarshalJSON() ([]byte, error) {
	type fields worth
	return jsontype.Join(jsontype.Object{
		"calls", h.Calls, "attempts", h.Attempts, "first_cut", h.FirstCut,
		"retries_after_cut", h.Rescue.Of, "retries_completed", h.Rescue.N, "rescue", h.Rescue, "verdict", h.Rescue.Verdict,
	}, fields(h))
}

// MarshalJSON writes the share and its limits, null where there are none.
func (r Rescue) MarshalJSON() ([]byte, error) {
	rate, lower, upper := r.shares()
	return jsontype.Object{"rate", rate, "lower", lower, "upper", upper}.MarshalJSON()
}

// MarshalJSON writes the parts of the rescue beside each other.
func (a AfterFailure) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"kind", a.Kind, "first_failed", a.First, "retries_after_failure", a.Of, "retries_completed", a.N, "rescue", a.Rescue, "verdict", a.Verdict,
	}.MarshalJSON()
}

// MarshalJSON writes the share instead of the counts.
func (n Near) MarshalJSON() ([]byte, error) {
	return jsontype.Object{"threshold", NearTimeout, "share", n.Share()}.MarshalJSON()
}

// MarshalJSON writes the share beside its counts.
func (w Wall) MarshalJSON() ([]byte, error) {
	type fields Wall
	return jsontype.Join(jsontype.Object{"verdict", w.Verdict, "timeout_ns", w.Timeout, "share", w.Share()}, fields(w))
}

// MarshalJSON writes the shares, and the worst minute where there is one.
func (r Ratio) MarshalJSON() ([]byte, error) {
	return jsontype.Object{"mean", r.All.Share(), "worst_minute", r.Worst.Share(), "at", jsontype.If(r.Worst.Of > 0, clock(r.At)), "minutes", jsontype.If(r.Minutes > 0, r.Minutes)}.MarshalJSON()
}

// MarshalJSON writes what the fields come to.
func (c Case) MarshalJSON() ([]byte, error) {
	type fields Case
	return jsontype.Join(fields(c), jsontype.Object{"severity", c.severity()})
}
