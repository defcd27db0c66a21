package report

import (
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/timeouts"
)

// timeoutColumns are those of the CSV of a page that has only the timeouts: a row
// a hop.
var timeoutColumns = [...]struct {
	name  string
	value func(h *timeouts.Hop) string
}{
	{"hop", func(h *timeouts.Hop) string { return defused(h.Hop) }},
	{"service", func(h *timeouts.Hop) string { return defused(string(h.Service)) }},
	{"operation", func(h *timeouts.Hop) string { return defused(string(h.Operation)) }},
	{"kind", func(h *timeouts.Hop) string { return string(h.Kind) }},
	{"n", func(h *timeouts.Hop) string { return natural(h.N) }},
	{"current_ns", func(h *timeouts.Hop) string { return integer(h.CurrentTimeout()) }},
	{"cut_share", func(h *timeouts.Hop) string { return shareField(h.CutShare()) }},
	{"evidence", func(h *timeouts.Hop) string { return string(h.Evidence) }},
	{"bound_ns", func(h *timeouts.Hop) string { return integer(h.Bound) }},
	{"timeout_ns", func(h *timeouts.Hop) string { return integer(h.Timeout) }},
	{"cut_under_advice", func(h *timeouts.Hop) string { return underField(h.Under) }},
	{"server_side_ns", serverField},
	{"canary_ns", canaryField},
	{"change", func(h *timeouts.Hop) string { return string(h.Change) }},
	{"safe_to_lower", func(h *timeouts.Hop) string { return strconv.FormatBool(h.SafeToLower) }},
	{"slots_held_today", func(h *timeouts.Hop) string { return shareField(h.HeldToday) }},
	{"slots_held_under_advice", func(h *timeouts.Hop) string { return shareField(h.HeldThen) }},
	{"reason", func(h *timeouts.Hop) string { return defused(h.Reason) }},
	{"warnings", timeoutCodes},
}

func timeoutRows(r *Report) [][]string {
	head := make([]string, len(timeoutColumns))
	for i, column := range timeoutColumns {
		head[i] = column.name
	}
	rows := [][]string{head}
	for _, h := range r.Timeouts.Hops {
		row := make([]string, len(timeoutColumns))
		for i, column := range timeoutColumns {
			row[i] = column.value(&h)
		}
		rows = append(rows, row)
	}
	return rows
}

func underField(u *timeouts.Under) string {
	if u == nil {
		return ""
	}
	return natural(u.N)
}

func serverField(h *timeouts.Hop) string {
	if h.ServerSide == nil {
		return ""
	}
	return integer(h.ServerSide.Suggested)
}

func canaryField(h *timeouts.Hop) string {
	if h.Canary == nil {
		return ""
	}
	return integer(&h.Canary.RaiseTo)
}

func timeoutCodes(h *timeouts.Hop) string {
	var codes []string
	for _, w := range h.Warnings {
		codes = append(codes, w.Code)
	}
	return strings.Join(codes, " ")
}
