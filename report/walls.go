package report

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/buckets"
)

// wallTable lists the timeouts that cut attempts, as far as they are known. The
// end of an inferred range is the duration of a cut attempt, so "33 cut" is a
// key: it stays on the line when the table is split.
func wallTable(r *Report) Table {
	t := Table{Title: "Walls: the timeouts that cut", Columns: append(hopColumns(r),
		Column{Head: "timeout", Right: true}, Column{Head: "attempts", Right: true, Key: true}, Column{Head: "source"}), Caption: wallCaption(r)}
	s := scaleOf(wallValues(r))
	for i := range r.Hops {
		for j, w := range r.Hops[i].Walls {
			cells := hopCells(r, i)
			for k := range cells {
				cells[k].Ditto = j > 0
			}
			t.Rows = append(t.Rows, append(cells, Cell{Text: wallText(w, s)},
				Cell{Text: fmt.Sprintf("%d cut", w.Count)}, Cell{Text: wallSource(w.Source)}))
		}
	}
	return t
}

func wallValues(r *Report) []int64 {
	var values []int64
	for i := range r.Hops {
		for _, w := range r.Hops[i].Walls {
			values = append(values, w.From, w.To)
		}
	}
	return values
}

// wallText rounds an inferred range outwards, so that it still holds the wall.
func wallText(w buckets.Wall, s scale) string {
	switch {
	case w.Timeout != nil:
		return s.nearest(*w.Timeout)
	case w.From <= 0:
		return "at most " + s.up(w.To)
	default:
		return "between " + s.down(w.From) + " and " + s.up(w.To)
	}
}

func wallSource(s buckets.WallSource) string {
	if s == buckets.Recorded {
		return "from the input" // "recorded" is the word for the mixed bucket
	}
	return string(s)
}

func wallCaption(r *Report) []string {
	if !anyHop(r, hasInferredWall) {
		return nil
	}
	return []string{"inferred: cuts that lie together show a timeout, somewhere between the slowest attempt that completed below them and the first of them."}
}

func hasInferredWall(h *buckets.Result) bool {
	return slices.ContainsFunc(h.Walls, func(w buckets.Wall) bool { return w.Source == buckets.Inferred })
}
