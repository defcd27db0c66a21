package report

import (
	"strconv"
	"strings"
)

// timeoutColumns are those of the CSV of a page that has only the timeouts: a row
// a hop.
var timeoutColumns = [...]struct {
	name  string
	value func(h *jsonTimeout) string
}{
	{"hop", func(h *jsonTimeout) string { return defused(h.Hop) }},
	{"service", func(h *jsonTimeout) string { return defused(textOf(h.Service)) }},
	{"operation", func(h *jsonTimeout) string { return defused(textOf(h.Operation)) }},
	{"kind", func(h *jsonTimeout) string { return textOf(h.Kind) }},
	{"n", func(h *jsonTimeout) string { return natural(h.N) }},
	{"current_ns", func(h *jsonTimeout) string { return integer(h.Current) }},
	{"cut_share", func(h *jsonTimeout) string { return shareField(h.CutShare) }},
	{"evidence", func(h *jsonTimeout) string { return string(h.Evidence) }},
	{"bound_ns", func(h *jsonTimeout) string { return integer(h.Bound) }},
	{"timeout_ns", func(h *jsonTimeout) string { return integer(h.Timeout) }},
	{"cut_under_advice", func(h *jsonTimeout) string { return underField(h.Under) }},
	{"server_side_ns", serverField},
	{"canary_ns", canaryField},
	{"change", func(h *jsonTimeout) string { return textOf(h.Change) }},
	{"safe_to_lower", func(h *jsonTimeout) string { return strconv.FormatBool(h.Safe) }},
	{"slots_held_today", func(h *jsonTimeout) string { return shareField(h.HeldToday) }},
	{"slots_held_under_advice", func(h *jsonTimeout) string { return shareField(h.HeldThen) }},
	{"reason", func(h *jsonTimeout) string { return defused(h.Reason) }},
	{"warnings", timeoutCodes},
}

func timeoutRows(r *Report) [][]string {
	head := make([]string, len(timeoutColumns))
	for i, column := range timeoutColumns {
		head[i] = column.name
	}
	rows := [][]string{head}
	for _, h := range list(r.Timeouts.Hops, timeoutJSON) {
		row := make([]string, len(timeoutColumns))
		for i, column := range timeoutColumns {
			row[i] = column.value(&h)
		}
		rows = append(rows, row)
	}
	return rows
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func underField(u *jsonUnder) string {
	if u == nil {
		return ""
	}
	return natural(u.N)
}

func serverField(h *jsonTimeout) string {
	if h.ServerSide == nil {
		return ""
	}
	return integer(h.ServerSide.Suggested)
}

func canaryField(h *jsonTimeout) string {
	if h.Canary == nil {
		return ""
	}
	return integer(&h.Canary.RaiseTo)
}

func timeoutCodes(h *jsonTimeout) string {
	var codes []string
	for _, w := range h.Warnings {
		codes = append(codes, w.Code)
	}
	return strings.Join(codes, " ")
}
