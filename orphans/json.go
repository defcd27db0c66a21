package orphans

import (
	"encoding/json"
	"regexp"

	"github.com/tailscope/tailscope/internal/jsontype"
)

// MarshalJSON writes counts of what is not checkable as null: nothing was counted,
// which is not zero.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	counts, err := jsontype.Marshal(r.Counts)
	if err != nil {
		return nil, err
	}
	if !r.Checkable {
		counts = numbers.ReplaceAll(counts, []byte(":null"))
	}
	return jsontype.Join(jsontype.Object{
		"checkable", r.Checkable, "reason", jsontype.Text(r.Reason), "inferred", r.Inferred, "tolerance_ns", r.Tolerance,
	}, json.RawMessage(counts), fields(r))
}

// numbers are the members of Counts: there are no others.
var numbers = regexp.MustCompile(`:-?[0-9]+`)

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
