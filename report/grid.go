package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// column is a column of a table as strings, ready to be drawn: its head, then a cell
// for each row.
type column struct {
	Head
	cells []string
	width int
}

// fit lays a table out and, if it is too wide, first shortens its names and
// then splits it into parts that each repeat the key columns.
func (t *textWriter) fit(s *grid) [][]column {
	columns := t.layout(s, longestName)
	excess := lineWidth(columns) - t.Width
	if t.Width <= 0 || excess <= 0 {
		return [][]column{columns}
	}
	widest := 0
	for _, c := range columns {
		if c.is(Name) {
			widest = max(widest, c.width)
		}
	}
	return split(t.layout(s, max(shortestName, widest-excess)), t.Width)
}

// split shares the columns out over parts no wider than the terminal; each
// part has the keys and at least one column more.
func split(columns []column, width int) (parts [][]column) {
	var keys, part []column
	for _, c := range columns {
		if c.is(Key) {
			keys = append(keys, c)
		}
	}
	for _, c := range columns {
		if c.is(Key) {
			continue
		}
		if len(part) > 0 && lineWidth(keys, part, []column{c}) > width {
			parts, part = append(parts, slices.Concat(keys, part)), nil
		}
		part = append(part, c)
	}
	return append(parts, slices.Concat(keys, part))
}

// lineWidth is the width of a line with these columns: a gap before each.
func lineWidth(columns ...[]column) int {
	sum := 0
	for _, c := range slices.Concat(columns...) {
		sum += len(gap) + c.width
	}
	return sum
}

// layout makes the columns of a table.
func (t *textWriter) layout(s *grid, name int) []column {
	columns := make([]column, len(s.columns))
	for i, head := range s.columns {
		c := column{Head: head, cells: t.cells(s, i, name)}
		for _, cell := range c.cells {
			c.width = max(c.width, text.StringWidthWithoutEscSequences(cell))
		}
		columns[i] = c
	}
	return columns
}

// cells pads remarks to one width, so that the numbers before them align.
func (t *textWriter) cells(s *grid, i, name int) []string {
	remarkWidth := 0
	if s.columns[i].right() {
		for _, row := range s.rows {
			remarkWidth = max(remarkWidth, text.StringWidthWithoutEscSequences(row[i].remark))
		}
	}
	texts := make([]string, len(s.rows))
	for k, row := range s.rows {
		texts[k] = Visible(row[i].text)
	}
	if s.columns[i].is(Name) {
		texts = shortenAll(texts, name)
	}
	cells := []string{t.paint(bold, Visible(s.columns[i].Head)) + strings.Repeat(" ", remarkWidth)}
	for k, row := range s.rows {
		cells = append(cells, t.value(row[i], texts[k])+text.Pad(row[i].remark, remarkWidth, ' '))
	}
	return cells
}

func (t *textWriter) value(c cell, s string) string {
	if c.ditto {
		return ""
	}
	if c.bound {
		return t.paint(yellow, s)
	}
	return s
}
