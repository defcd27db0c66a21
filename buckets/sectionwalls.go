package buckets

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/report"
)

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
	return report.NewTable("Walls: the timeouts that cut", rows, append(hopColumns(hops, func(w *wallRow) (*Result, bool) { return w.hop, w.ditto }), []report.Column[wallRow]{
		{Head: "timeout", Of: func(w *wallRow) value { return report.String(wallText(w.Wall, s)) }},
		{Head: "attempts", Is: report.Key, Of: func(w *wallRow) value { return report.String(fmt.Sprintf("%d cut", w.Count)) }},
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
	return []string{"inferred: cuts that lie together show a timeout, somewhere between the slowest attempt that completed below them and the first of them."}
}
