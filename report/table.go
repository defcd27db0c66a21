package report

import (
	"fmt"
	"slices"
	"strings"
)

// Table is one section of a page, computed once and rendered by any writer.
// Its texts are raw: each writer makes them harmless in its own way.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell // each as long as Columns
	Caption []string // sentences under the table
}

// Column describes one column of a Table.
type Column struct {
	Head  string
	Right bool // numbers, aligned to the right
	Key   bool // says what the row is about: repeated where a table is split
	Name  bool // holds names from the input, which may be shortened
}

// Cell is one field of a Table.
type Cell struct {
	Text  string
	Tag   string // a short remark beside the value: "(max of 60)"
	Notes []int  // numbers of footnotes
	Bound bool   // a lower bound rather than a value
	Ditto bool   // repeats the cell above: text leaves it blank
}

// page is what people read: opening lines, tables and footnotes.
type page struct {
	intro    []string
	warnings []string
	tables   []Table
	notes    footnotes
}

func newPage(r *Report) *page {
	p := &page{intro: introduction(r.Input), warnings: inputWarnings(r.Input)}
	p.add(rejectTable(r.Input))
	p.add(tailTable(r, &p.notes))
	p.add(bucketTable(r))
	p.add(wallTable(r))
	for _, lines := range [...][]string{ownerLines(r), retryLines(r), orphanLines(r), timeoutLines(r)} {
		p.intro = append(p.intro, lines...)
	}
	for _, t := range ownerTables(r, &p.notes) {
		p.add(t)
	}
	for _, t := range retryTables(r, &p.notes) {
		p.add(t)
	}
	for _, t := range orphanTables(r, &p.notes) {
		p.add(t)
	}
	for _, t := range timeoutTables(r, &p.notes) {
		p.add(t)
	}
	return p
}

// add leaves empty sections out. One without columns is made of sentences.
func (p *page) add(t Table) {
	if len(t.Rows) > 0 || len(t.Columns) == 0 && len(t.Caption) > 0 {
		p.tables = append(p.tables, t)
	}
}

const (
	clauseEnd      = "; "
	worthReference = 40 // bytes; shorter text is easier read twice
	mostClauses    = 8
)

// footnotes numbers texts from 1 in the order of first use; equal texts share
// a number.
type footnotes struct {
	texts  []string
	number map[string]int
}

func (f *footnotes) cite(text string) int {
	if n, ok := f.number[text]; ok {
		return n
	}
	if f.number == nil {
		f.number = map[string]int{}
	}
	f.texts = append(f.texts, text)
	f.number[text] = len(f.texts)
	return len(f.texts)
}

// lines returns the texts as they are printed. The quantiles of a hop often
// differ in their first clauses only: what follows them is said once.
func (f *footnotes) lines() []string {
	lines := make([]string, len(f.texts))
	said := map[string]int{}
	for i, text := range f.texts {
		lines[i] = text
		ends := endings(text)
		if j := slices.IndexFunc(ends, func(end string) bool { return said[end] > 0 }); j >= 0 {
			lines[i] = fmt.Sprintf("%sthe rest as in [%d]", strings.TrimSuffix(text, ends[j]), said[ends[j]])
			continue // so that no reference leads to another
		}
		for _, end := range ends {
			said[end] = i + 1
		}
	}
	return lines
}

// endings are what follows the first few clauses of a text, longest first, as
// far as it is worth a reference. None begins inside parentheses.
func endings(text string) []string {
	var ends []string
	for range mostClauses {
		_, rest, more := strings.Cut(text, clauseEnd)
		if !more || len(rest) < worthReference {
			break
		}
		if strings.Count(rest, ")") == strings.Count(rest, "(") {
			ends = append(ends, rest)
		}
		text = rest
	}
	return ends
}

// mark cites text on the cell, once; an empty text has no footnote.
func (f *footnotes) mark(c *Cell, text string) {
	if text == "" {
		return
	}
	if n := f.cite(text); !slices.Contains(c.Notes, n) {
		c.Notes = append(c.Notes, n)
	}
}

// hopColumns are the columns that name a hop. Kind is left out where no hop
// has one.
func hopColumns(r *Report) []Column {
	columns := []Column{{Head: "hop", Key: true, Name: true}}
	if anyHop(r, hasKind) {
		columns = append(columns, Column{Head: "kind", Key: true})
	}
	return columns
}

func hopCells(r *Report, i int) []Cell {
	cells := []Cell{{Text: r.Hops[i].Hop}}
	if anyHop(r, hasKind) {
		cells = append(cells, Cell{Text: string(r.Hops[i].Kind)})
	}
	return cells
}
