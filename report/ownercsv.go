package report

import (
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/attribution"
)

// ownerColumns are those of the CSV of a page that has only the owner: a row a
// hop, whatever is listed elsewhere, the figures of the whole repeated.
var ownerColumns = [...]struct {
	name  string
	value func(*attribution.Result, *attribution.Hop) string
}{
	{"hop", func(_ *attribution.Result, h *attribution.Hop) string { return defused(h.Name) }},
	{"kind", func(_ *attribution.Result, h *attribution.Hop) string { return ownerKind(h) }},
	{"tail_mean_ns", func(_ *attribution.Result, h *attribution.Hop) string { return integer(&h.TailMean) }},
	{"body_mean_ns", func(_ *attribution.Result, h *attribution.Hop) string { return integer(&h.BodyMean) }},
	{"excess_ns", func(_ *attribution.Result, h *attribution.Hop) string { return integer(&h.Excess) }},
	{"share", func(_ *attribution.Result, h *attribution.Hop) string { return shareField(h.Share) }},
	{"share_lower", func(_ *attribution.Result, h *attribution.Hop) string { return shareField(h.Lower) }},
	{"share_upper", func(_ *attribution.Result, h *attribution.Hop) string { return shareField(h.Upper) }},
	{"lower_bound", func(_ *attribution.Result, h *attribution.Hop) string { return strconv.FormatBool(h.LowerBound) }},
	{"largest_in", func(_ *attribution.Result, h *attribution.Hop) string { return natural(h.LargestIn) }},
	{"owner", func(r *attribution.Result, h *attribution.Hop) string { return strconv.FormatBool(isOwner(r, h)) }},
	{"failures", func(_ *attribution.Result, h *attribution.Hop) string { return natural(h.Failures) }},
	{"any_cut", func(_ *attribution.Result, h *attribution.Hop) string { return natural(h.AnyCut) }},
	{"exemplars", func(_ *attribution.Result, h *attribution.Hop) string { return defused(strings.Join(h.Exemplars, " ")) }},
	{"basis", func(r *attribution.Result, _ *attribution.Hop) string { return string(r.Basis) }},
	{"tail_from", func(r *attribution.Result, _ *attribution.Hop) string { return r.TailFrom.String() }},
	{"tail_traces", func(r *attribution.Result, _ *attribution.Hop) string { return natural(r.Tail.Traces) }},
	{"body_traces", func(r *attribution.Result, _ *attribution.Hop) string { return natural(r.Body.Traces) }},
	{"verdict", func(r *attribution.Result, _ *attribution.Hop) string { return defused(r.Verdict) }},
}

func ownerRows(r *Report) [][]string {
	head := make([]string, len(ownerColumns))
	for i, column := range ownerColumns {
		head[i] = column.name
	}
	rows := [][]string{head}
	for i := range r.Owner.Hops {
		row := make([]string, len(ownerColumns))
		for j, column := range ownerColumns {
			row[j] = column.value(r.Owner, &r.Owner.Hops[i])
		}
		rows = append(rows, row)
	}
	return rows
}

func ownerKind(h *attribution.Hop) string {
	if h.Gap {
		return "gap"
	}
	return h.Kind.String()
}

func isOwner(r *attribution.Result, h *attribution.Hop) bool {
	return r.Owner != nil && *r.Owner == h.Hop
}

func shareField(f *float64) string {
	if f == nil {
		return ""
	}
	return decimal(*f)
}
