package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// drawing is a table as strings, ready to be drawn.
type drawing struct {
	head  []string
	rows  [][]string
	right []bool
}

// fit lays a table out and, if it is too wide, first shortens its names and
// then splits it into parts that each repeat the key columns.
func (t *textWriter) fit(s *grid) []drawing {
	g, widths := t.layout(s, longestName)
	excess := lineWidth(widths, indices(len(widths))) - t.Width
	if t.Width <= 0 || excess <= 0 {
		return []drawing{g}
	}
	g, widths = t.layout(s, max(shortestName, widestName(s, widths)-excess))
	var parts []drawing
	for _, columns := range t.split(s, widths) {
		parts = append(parts, g.pick(columns))
	}
	return parts
}

// split shares the columns out over parts no wider than the terminal; each
// part has the keys and at least one column more.
func (t *textWriter) split(s *grid, widths []int) [][]int {
	var keys, part []int
	for i, c := range s.columns {
		if c.is(Key) {
			keys = append(keys, i)
		}
	}
	var parts [][]int
	for i, c := range s.columns {
		if c.is(Key) {
			continue
		}
		if len(part) > 0 && lineWidth(widths, keys, part, []int{i}) > t.Width {
			parts, part = append(parts, join(keys, part)), nil
		}
		part = append(part, i)
	}
	return append(parts, join(keys, part))
}

func join(a, b []int) []int { return append(append([]int(nil), a...), b...) }

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// lineWidth is the width of a line with these columns: a gap before each.
func lineWidth(widths []int, columns ...[]int) int {
	sum := 0
	for _, some := range columns {
		for _, i := range some {
			sum += len(gap) + widths[i]
		}
	}
	return sum
}

func widestName(s *grid, widths []int) int {
	widest := 0
	for i, c := range s.columns {
		if c.is(Name) {
			widest = max(widest, widths[i])
		}
	}
	return widest
}

func (g drawing) pick(columns []int) drawing {
	part := drawing{rows: make([][]string, len(g.rows))}
	for _, i := range columns {
		part.head = append(part.head, g.head[i])
		part.right = append(part.right, g.right[i])
		for j := range g.rows {
			part.rows[j] = append(part.rows[j], g.rows[j][i])
		}
	}
	return part
}

// layout makes the strings of a table and the width of each column.
func (t *textWriter) layout(s *grid, name int) (drawing, []int) {
	g := drawing{rows: make([][]string, len(s.rows))}
	widths := make([]int, len(s.columns))
	for i, c := range s.columns {
		head, cells := t.column(s, i, name)
		g.head = append(g.head, head)
		g.right = append(g.right, c.right())
		widths[i] = text.StringWidthWithoutEscSequences(head)
		for j, cell := range cells {
			g.rows[j] = append(g.rows[j], cell)
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	return g, widths
}

// column pads remarks to one width, so that the numbers before them align.
func (t *textWriter) column(s *grid, i, name int) (head string, cells []string) {
	remarkWidth := 0
	for _, row := range s.rows {
		remarkWidth = max(remarkWidth, text.StringWidthWithoutEscSequences(row[i].remark))
	}
	if !s.columns[i].right() {
		remarkWidth = 0
	}
	head = t.paint(bold, Visible(s.columns[i].Head)) + strings.Repeat(" ", remarkWidth)
	for _, row := range s.rows {
		cells = append(cells, t.value(row[i], s.columns[i], name)+text.Pad(row[i].remark, remarkWidth, ' '))
	}
	return head, cells
}

func (t *textWriter) value(c cell, column Head, name int) string {
	if c.ditto {
		return ""
	}
	s := Visible(c.text)
	if column.is(Name) {
		s = shorten(s, name)
	}
	if c.bound {
		return t.paint(yellow, s)
	}
	return s
}
