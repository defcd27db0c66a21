package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// bucketRow is one line of the bucket table. Its label always holds the word
// of the bucket, so that no line shows the duration of a timed-out attempt
// without saying so, wherever the line is copied to.
type bucketRow struct {
	hop    int
	ditto  bool // the hop stands on the line above
	label  string
	values quantile.Summary
	biased bool // mean and quantiles have no value
	cause  string
}

// bucketTable shows the durations by how the attempts ended.
func bucketTable(r *Report) Table {
	t := Table{Title: "Durations by how attempts ended", Columns: bucketColumns(r)}
	rows := bucketRows(r)
	scales := bucketScales(r, rows)
	causes := slices.ContainsFunc(rows, func(row bucketRow) bool { return row.cause != "" })
	if causes {
		t.Columns = append(t.Columns, Column{Head: "cause"})
	}
	for _, row := range rows {
		cells := bucketCells(r, row, scales)
		if causes {
			cells = append(cells, Cell{Text: row.cause})
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Caption = bucketCaption(r, rows)
	return t
}

func bucketColumns(r *Report) []Column {
	columns := append(hopColumns(r), Column{Head: "ended", Key: true})
	heads := []string{"n", "mean", "min"}
	for _, p := range r.Quantiles {
		heads = append(heads, p.Label())
	}
	for _, head := range append(heads, "max") {
		columns = append(columns, Column{Head: head, Right: true})
	}
	return columns
}

func bucketRows(r *Report) []bucketRow {
	var rows []bucketRow
	for i := range r.Hops {
		start := len(rows)
		h := &r.Hops[i]
		rows = appendBucket(rows, i, "completed", h.Completed, "")
		rows = appendBucket(rows, i, "cut", h.Truncated.Bucket, cutCauses(h.Truncated.CutBy))
		rows = appendBucket(rows, i, "failed", h.Failed.Bucket, failureCauses(h.Failed.Kinds))
		if h.Recorded.All.N != h.Completed.All.N {
			rows = appendBucket(rows, i, "recorded", h.Recorded, "")
		}
		for j := start + 1; j < len(rows); j++ {
			rows[j].ditto = true
		}
		for j := start; j < len(rows); j++ {
			rows[j].biased = h.Biased
		}
	}
	return rows
}

// appendBucket adds nothing for an empty bucket, and one line for a bucket
// without retries: its first attempts are all of it.
func appendBucket(rows []bucketRow, hop int, word string, b buckets.Bucket, cause string) []bucketRow {
	if b.All.N > 0 {
		rows = append(rows, bucketRow{hop: hop, label: word, values: b.All, cause: cause})
	}
	if b.Retries.N == 0 {
		return rows
	}
	if b.First.N > 0 {
		rows = append(rows, bucketRow{hop: hop, label: word + ", first", values: b.First})
	}
	return append(rows, bucketRow{hop: hop, label: word + ", retries", values: b.Retries})
}

// durationsOf lists mean, min, the quantiles and max: the columns that have a
// scale. What a biased sample has no value of is withheld.
func (b bucketRow) durationsOf(quantiles int) []int64 {
	values := []int64{b.values.Mean, b.values.Min}
	if b.biased {
		values[0] = withheld
	}
	for j := range quantiles {
		switch {
		case b.biased:
			values = append(values, withheld)
		case j < len(b.values.Quantiles):
			values = append(values, b.values.Quantiles[j])
		default:
			values = append(values, b.values.Max)
		}
	}
	return append(values, b.values.Max)
}

// withheld is no duration: durations are not negative.
const withheld = -1

func bucketScales(r *Report, rows []bucketRow) []scale {
	columns := make([][]int64, len(r.Quantiles)+3)
	for _, row := range rows {
		for j, v := range row.durationsOf(len(r.Quantiles)) {
			if v != withheld {
				columns[j] = append(columns[j], v)
			}
		}
	}
	scales := make([]scale, len(columns))
	for j, values := range columns {
		scales[j] = scaleOf(values)
	}
	return scales
}

func bucketCells(r *Report, row bucketRow, scales []scale) []Cell {
	cells := hopCells(r, row.hop)
	for j := range cells {
		cells[j].Ditto = row.ditto
	}
	cells = append(cells, Cell{Text: row.label}, Cell{Text: strconv.FormatUint(row.values.N, 10)})
	for j, v := range row.durationsOf(len(r.Quantiles)) {
		c := Cell{Text: dash}
		if v != withheld {
			c.Text = scales[j].nearest(v)
		}
		cells = append(cells, c)
	}
	return cells
}

// bucketCaption warns of the two lines that are easily taken for the truth.
func bucketCaption(r *Report, rows []bucketRow) []string {
	var lines []string
	if anyHop(r, isBiased) {
		lines = append(lines, "min and max are of the kept traces; of a biased sample there is no mean and no quantile.")
	}
	if anyHop(r, isWeighted) {
		lines = append(lines, "each attempt counts once here, whatever its weight.")
	}
	switch {
	case !occurs(rows, "completed"):
	case occurs(rows, "cut"):
		lines = append(lines, "completed: conditional on completion; slow attempts that were cut are missing.")
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

func cutCauses(counts []buckets.CutCount) string {
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
		return "cut below"
	case spans.Caller:
		return "caller left"
	}
	return "unknown"
}

func failureCauses(counts []buckets.FailureCount) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(c.Kind.String(), "_", " "), c.N))
	}
	return strings.Join(parts, ", ")
}
