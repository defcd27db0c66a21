package orphans

import "github.com/tailscope/tailscope/internal/jsontype"

// MarshalJSON writes counts of what is not checkable as null: nothing was counted,
// which is not zero.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	n := func(n uint64) *uint64 { return jsontype.If(r.Checkable, n) }
	return jsontype.Join(jsontype.Object{
		"checkable", r.Checkable, "reason", jsontype.Text(r.Reason), "inferred", r.Inferred, "tolerance_ns", r.Tolerance,
		"spans_with_parent", n(r.SpansWithParent), "missing_parents", n(r.MissingParents), "unfinished", n(r.Unfinished),
		"outlived_async", n(r.OutlivedAsync), "outlived_completed", n(r.OutlivedCompleted), "within_tolerance", n(r.WithinTolerance),
		"started_after_root_end", n(r.StartedAfterRootEnd), "orphaned", n(r.Orphaned), "overruns", n(r.Overruns), "late_starts", n(r.LateStarts),
		"wasted_ns", jsontype.If(r.Checkable, r.Wasted), "wasted_union_ns", jsontype.If(r.Checkable, r.WastedUnion),
	}, fields(r))
}

// MarshalJSON writes the hops beside the figures.
func (p Pair) MarshalJSON() ([]byte, error) {
	type fields Pair
	return jsontype.Join(jsontype.Object{
		"parent_hop", p.Parent.Name, "parent_kind", p.Parent.Kind, "child_hop", p.Child.Name, "child_kind", p.Child.Kind,
	}, fields(p))
}

// MarshalJSON names the hops.
func (i Inversion) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"parent_hop", i.Parent.Name, "parent_wall_ns", i.ParentWall, "child_hop", i.Child.Name, "child_wall_ns", i.ChildWall, "seen", i.Seen,
	}.MarshalJSON()
}

// MarshalJSON names the hops.
func (c CutOrder) MarshalJSON() ([]byte, error) {
	return jsontype.Join(jsontype.Object{"outer_hop", c.Outer.Name, "inner_hop", c.Inner.Name}, c.Order)
}
