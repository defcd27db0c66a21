package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// grid is a table as strings, ready to be drawn.
type grid struct {
	head  []string
	rows  [][]string
	right []bool
}

// fit lays a table out and, if it is too wide, first shortens its names and
// then splits it into parts that each repeat the key columns.
func (t *textWriter) fit(s Table) []grid {
	g, widths := t.layout(s, longestName)
	excess := lineWidth(widths, indices(len(widths))) - t.Width
	if t.Width <= 0 || excess <= 0 {
		return []grid{g}
	}
	g, widths = t.layout(s, max(shortestName, widestName(s, widths)-excess))
	var parts []grid
	for _, columns := range t.split(s, widths) {
		parts = append(parts, g.pick(columns))
	}
	return parts
}

// split shares the columns out over parts no wider than the terminal; each
// part has the keys and at least one column more.
func (t *textWriter) split(s Table, widths []int) [][]int {
	var keys, part []int
	for i, c := range s.Columns {
		if c.Key {
			keys = append(keys, i)
		}
	}
	var parts [][]int
	for i, c := range s.Columns {
		if c.Key {
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

func widestName(s Table, widths []int) int {
	widest := 0
	for i, c := range s.Columns {
		if c.Name {
			widest = max(widest, widths[i])
		}
	}
	return widest
}

func (g grid) pick(columns []int) grid {
	part := grid{rows: make([][]string, len(g.rows))}
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
func (t *textWriter) layout(s Table, name int) (grid, []int) {
	g := grid{rows: make([][]string, len(s.Rows))}
	widths := make([]int, len(s.Columns))
	for i, c := range s.Columns {
		head, cells := t.column(s, i, name)
		g.head = append(g.head, head)
		g.right = append(g.right, c.Right)
		widths[i] = text.StringWidthWithoutEscSequences(head)
		for j, cell := range cells {
			g.rows[j] = append(g.rows[j], cell)
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	return g, widths
}

// column pads remarks to one width, so that the numbers before them align.
func (t *textWriter) column(s Table, i, name int) (head string, cells []string) {
	remarkWidth := 0
	for _, row := range s.Rows {
		remarkWidth = max(remarkWidth, text.StringWidthWithoutEscSequences(remark(row[i])))
	}
	if !s.Columns[i].Right {
		remarkWidth = 0
	}
	head = t.paint(bold, Visible(s.Columns[i].Head)) + strings.Repeat(" ", remarkWidth)
	for _, row := range s.Rows {
		cells = append(cells, t.value(row[i], s.Columns[i], name)+text.Pad(remark(row[i]), remarkWidth, ' '))
	}
	return head, cells
}

func (t *textWriter) value(c Cell, column Column, name int) string {
	if c.Ditto {
		return ""
	}
	s := Visible(c.Text)
	if column.Name {
		s = shorten(s, name)
	}
	if c.Bound {
		return t.paint(yellow, s)
	}
	return s
}

// remark is what follows a value: its tag and the numbers of its footnotes.
func remark(c Cell) string {
	s := ""
	if c.Tag != "" {
		s = " " + Visible(c.Tag)
	}
	for _, n := range c.Notes {
		s += fmt.Sprintf(" [%d]", n)
	}
	return s
}
