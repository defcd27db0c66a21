package attribution

import (
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/spans"
)

// MarshalJSON writes what the tail is and who owns it, whose parts lie apart in
// a Result, and then the other fields by their tags.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	owner, measured := new(spans.Hop), r.EndToEnd.N > 0
	if r.Owner != nil {
		owner = r.Owner
	}
	return jsontype.Join(jsontype.Object{
		"basis", jsontype.Text(r.Basis), "tail_from", r.TailFrom, "tail_from_ns", jsontype.If(measured, r.Tail.Limit),
		"tail_traces", r.Tail.Traces, "body_traces", r.Body.Traces,
		"end_to_end", jsontype.Object{
			"n", r.EndToEnd.N, "quantiles", r.EndToEnd.Points(),
			"p99_ns", jsontype.If(measured, r.P99), "sum_of_hops_p99_ns", jsontype.If(measured, r.SumOfP99),
		},
		"hops", jsontype.List[Hop](r.Listed()), "owner", jsontype.If(r.Owner != nil, owner.Name), "owner_kind", owner.Kind,
	}, fields(r))
}

// MarshalJSON writes gaps as a kind of their own.
func (h Hop) MarshalJSON() ([]byte, error) {
	type fields Hop
	return jsontype.Join(jsontype.Object{"hop", h.Name, "kind", jsontype.Text(h.KindName())}, fields(h))
}

// MarshalJSON writes null where there is no verdict.
func (v InstanceVerdict) MarshalJSON() ([]byte, error) { return jsontype.Text(v).MarshalJSON() }
