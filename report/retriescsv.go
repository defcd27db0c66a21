package report

import (
	"strconv"

	"github.com/tailscope/tailscope/retries"
)

// retryColumns are those of the CSV of a page that has only the retries: a row a
// hop.
var retryColumns = [...]struct {
	name  string
	value func(h *retries.Hop) string
}{
	{"hop", func(h *retries.Hop) string { return defused(h.Name) }},
	{"kind", func(h *retries.Hop) string { return h.Kind.String() }},
	{"calls", func(h *retries.Hop) string { return natural(h.Calls) }},
	{"attempts", func(h *retries.Hop) string { return natural(h.Attempts) }},
	{"first_cut", func(h *retries.Hop) string { return natural(h.FirstCut) }},
	{"retries_after_cut", func(h *retries.Hop) string { return natural(h.Rescue.Of) }},
	{"retries_completed", func(h *retries.Hop) string { return natural(h.Rescue.N) }},
	{"rescue", func(h *retries.Hop) string { rate, _, _ := h.Rescue.Limits(); return shareField(rate) }},
	{"rescue_lower", func(h *retries.Hop) string { _, lower, _ := h.Rescue.Limits(); return shareField(lower) }},
	{"rescue_upper", func(h *retries.Hop) string { _, _, upper := h.Rescue.Limits(); return shareField(upper) }},
	{"first_completion", func(h *retries.Hop) string { return shareField(h.Completion) }},
	{"verdict", func(h *retries.Hop) string { return string(h.Rescue.Verdict) }},
	{"executed_twice", func(h *retries.Hop) string { return twiceField(h, func(t *retries.Twice) uint64 { return t.N }) }},
	{"executed_twice_of", func(h *retries.Hop) string { return twiceField(h, func(t *retries.Twice) uint64 { return t.Of }) }},
	{"finished_anyway", func(h *retries.Hop) string { return finishedField(h, func(c retries.Count) uint64 { return c.N }) }},
	{"finished_anyway_of", func(h *retries.Hop) string { return finishedField(h, func(c retries.Count) uint64 { return c.Of }) }},
	{"finished_median_after_ns", finishedAfter},
	{"near_timeout", func(h *retries.Hop) string { return shareField(h.NearTimeout.Share()) }},
	{"gaps", func(h *retries.Hop) string { return natural(h.Backoff.N) }},
	{"gap_min_ns", func(h *retries.Hop) string { return integer(h.Backoff.Min) }},
	{"gap_p50_ns", func(h *retries.Hop) string { return integer(h.Backoff.P50) }},
	{"gap_max_ns", func(h *retries.Hop) string { return integer(h.Backoff.Max) }},
	{"jitter", func(h *retries.Hop) string { return string(h.Backoff.Jitter) }},
	{"wall", func(h *retries.Hop) string { return string(h.Wall.Verdict) }},
	{"wall_timeout_ns", func(h *retries.Hop) string { return integer(h.Wall.Timeout) }},
	{"wall_share", func(h *retries.Hop) string { return shareField(h.Wall.Share()) }},
	{"most_attempts", func(h *retries.Hop) string { return strconv.FormatUint(h.MostAttempts, 10) }},
}

func retryRows(r *Report) [][]string {
	head := make([]string, len(retryColumns))
	for i, column := range retryColumns {
		head[i] = column.name
	}
	rows := [][]string{head}
	for i := range r.Retries.Hops {
		row := make([]string, len(retryColumns))
		for j, column := range retryColumns {
			row[j] = column.value(&r.Retries.Hops[i])
		}
		rows = append(rows, row)
	}
	return rows
}

func twiceField(h *retries.Hop, of func(*retries.Twice) uint64) string {
	if h.ExecutedTwice == nil {
		return ""
	}
	return natural(of(h.ExecutedTwice))
}

func finishedField(h *retries.Hop, of func(retries.Count) uint64) string {
	if h.FinishedAnyway == nil {
		return ""
	}
	return natural(of(h.FinishedAnyway.Count))
}

func finishedAfter(h *retries.Hop) string {
	if h.FinishedAnyway == nil {
		return ""
	}
	return integer(h.FinishedAnyway.MedianAfter)
}
