package buckets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// bucketRow is one line of the bucket table. Its label always holds the word
// of the bucket, so that no line shows the duration of a timed-out attempt
// without saying so, wherever the line is copied to.
type bucketRow struct {
	hop    *Result
	ditto  bool // the hop stands on the line above
	label  string
	values quantile.Summary
	cause  string
}

// bucketTable shows the durations by how the attempts ended.
func bucketTable(hops []Result, ps []quantile.P) report.Table {
	rows := bucketRows(hops)
	columns := hopColumns(hops, func(r *bucketRow) (*Result, bool) { return r.hop, r.ditto })
	columns = append(columns,
		bucketColumn{Head: "ended", Is: report.Key | report.Words, Of: func(r *bucketRow) value { return report.String(r.label) }},
		bucketColumn{Head: "n", Of: func(r *bucketRow) value { return report.Count(r.values.N) }},
		unbiased("mean", func(s *quantile.Summary) int64 { return s.Mean }),
		bucketColumn{Head: "min", Is: report.OneUnit, Of: func(r *bucketRow) value { return report.Nanos(r.values.Min) }})
	for j, p := range ps {
		columns = append(columns, unbiased(p.Label(), func(s *quantile.Summary) int64 { return quantileOf(s, j) }))
	}
	columns = append(columns, bucketColumn{Head: "max", Is: report.OneUnit, Of: func(r *bucketRow) value { return report.Nanos(r.values.Max) }})
	if slices.ContainsFunc(rows, func(r bucketRow) bool { return r.cause != "" }) {
		columns = append(columns, bucketColumn{Head: "cause", Is: report.Words, Of: func(r *bucketRow) value { return report.String(r.cause) }})
	}
	return report.NewTable("Durations by how attempts ended", rows, columns, bucketCaption(hops, rows)...)
}

type bucketColumn = report.Column[bucketRow]

// unbiased is a column of durations that a biased sample has no value of.
func unbiased(head string, of func(*quantile.Summary) int64) bucketColumn {
	return bucketColumn{Head: head, Is: report.OneUnit, Of: func(r *bucketRow) value {
		if r.hop.Biased {
			return value{}
		}
		return report.Nanos(of(&r.values))
	}}
}

func quantileOf(s *quantile.Summary, j int) int64 {
	if j < len(s.Quantiles) {
		return s.Quantiles[j]
	}
	return s.Max
}

// timedOut heads what a timeout ended, the attempt's own or one around or below it.
const timedOut = "timed out"

func bucketRows(hops []Result) []bucketRow {
	var rows []bucketRow
	for i := range hops {
		start, h := len(rows), &hops[i]
		rows = appendBucket(rows, h, "completed", h.Completed, "")
		rows = appendBucket(rows, h, timedOut, h.Truncated.Bucket, cutCauses(h.Truncated.CutBy))
		rows = appendBucket(rows, h, "failed", h.Failed.Bucket, failureCauses(h.Failed.Kinds))
		if h.Recorded.All.N != h.Completed.All.N {
			rows = appendBucket(rows, h, "recorded", h.Recorded, "")
		}
		for j := start + 1; j < len(rows); j++ {
			rows[j].ditto = true
		}
	}
	return rows
}

// appendBucket adds nothing for an empty bucket, and one line for a bucket
// without retries: its first attempts are all of it.
func appendBucket(rows []bucketRow, h *Result, word string, b Bucket, cause string) []bucketRow {
	if b.All.N > 0 {
		rows = append(rows, bucketRow{hop: h, label: word, values: b.All, cause: cause})
	}
	if b.Retries.N == 0 {
		return rows
	}
	if b.First.N > 0 {
		rows = append(rows, bucketRow{hop: h, label: word + ", first", values: b.First})
	}
	return append(rows, bucketRow{hop: h, label: word + ", retries", values: b.Retries})
}

// bucketCaption warns of the two lines that are easily taken for the truth.
func bucketCaption(hops []Result, rows []bucketRow) []string {
	var lines []string
	if anyHop(hops, isBiased) {
		lines = append(lines, "min and max are of the kept traces; of a biased sample there is no mean and no quantile.")
	}
	if anyHop(hops, isWeighted) {
		lines = append(lines, "each attempt counts once here, whatever its weight.")
	}
	switch {
	case !occurs(rows, "completed"):
	case occurs(rows, timedOut):
		lines = append(lines, "completed: conditional on completion; slow attempts that timed out are missing.")
	case occurs(rows, "failed"):
		lines = append(lines, "completed: conditional on completion.")
	}
	if occurs(rows, "recorded") {
		lines = append(lines, "recorded: all endings mixed, as a tool that ignores timeouts prints it.")
	}
	return lines
}

func occurs(rows []bucketRow, label string) bool {
	return slices.ContainsFunc(rows, func(row bucketRow) bool { return row.label == label })
}

func cutCauses(counts []CutCount) string {
	var parts []string
	for _, c := range counts {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", cutCause(c.By), c.N))
		}
	}
	return strings.Join(parts, ", ")
}

func cutCause(by spans.CutBy) string {
	switch by {
	case spans.Own:
		return "own timeout"
	case spans.Below:
		return timedOut + " below"
	case spans.Caller:
		return "caller left"
	}
	return "unknown"
}

func failureCauses(counts []FailureCount) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(c.Kind.String(), "_", " "), c.N))
	}
	return strings.Join(parts, ", ")
}

type wallRow struct {
	Wall
	hop   *Result
	ditto bool
}

// wallTable lists the timeouts that cut attempts, as far as they are known. The
// end of an inferred range is the duration of a cut attempt, so "33 cut" is a
// key: it stays on the line when the table is split.
func wallTable(hops []Result) report.Table {
	var rows []wallRow
	var ends []int64
	for i := range hops {
		for j, w := range hops[i].Walls {
			rows, ends = append(rows, wallRow{w, &hops[i], j > 0}), append(ends, w.From, w.To)
		}
	}
	s := report.ScaleOf(ends)
	return report.NewTable("Timeouts, as given or seen in the data", rows, append(hopColumns(hops, func(w *wallRow) (*Result, bool) { return w.hop, w.ditto }), []report.Column[wallRow]{
		{Head: "timeout", Of: func(w *wallRow) value { return report.String(wallText(w.Wall, s)) }},
		{Head: "attempts", Is: report.Key, Of: func(w *wallRow) value { return report.String(fmt.Sprintf("%d %s", w.Count, timedOut)) }},
		{Head: "source", Is: report.Words, Of: func(w *wallRow) value { return report.String(wallSource(w.Source)) }},
	}...), wallCaption(rows)...)
}

// wallText rounds an inferred range outwards, so that it still holds the wall.
func wallText(w Wall, s report.Scale) string {
	switch {
	case w.Timeout != nil:
		return s.Nearest(*w.Timeout)
	case w.From <= 0:
		return "at most " + s.Up(w.To)
	default:
		return "between " + s.Down(w.From) + " and " + s.Up(w.To)
	}
}

func wallSource(s WallSource) string {
	if s == Recorded {
		return "from the input" // "recorded" is the word for the mixed bucket
	}
	return string(s)
}

func wallCaption(rows []wallRow) []string {
	if !slices.ContainsFunc(rows, func(w wallRow) bool { return w.Source == Inferred }) {
		return nil
	}
	return []string{"inferred: attempts that timed out lie together and show a timeout, somewhere between the slowest that completed below them and the first of them."}
}
