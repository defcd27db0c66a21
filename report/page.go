package report

import (
	"fmt"
	"slices"
	"strings"
)

// page is what people read: opening lines, tables and footnotes.
type page struct {
	intro    []string
	warnings []string
	drawings []Drawing
	tables   []grid
	notes    footnotes
}

// grid is a table of a page, as text that is not yet harmless.
type grid struct {
	title   string
	columns []Head
	rows    [][]cell // each as long as columns
	caption []string
}

type cell struct {
	text   string
	remark string // what follows the value: its tag and the numbers of its footnotes
	bound  bool   // a lower bound rather than a value
	ditto  bool
}

func newPage(r *Report) *page {
	p := &page{notes: footnotes{number: map[string]int{}}}
	for _, s := range r.Sections {
		p.intro = append(p.intro, s.Lines...)
		p.warnings = append(p.warnings, s.Warnings...)
		p.drawings = append(p.drawings, s.Drawings...)
		for i := range s.Tables {
			p.add(&s.Tables[i])
		}
	}
	return p
}

// add leaves empty tables out. One without columns is made of sentences.
func (p *page) add(t *Table) {
	if t.Rows == 0 && (len(t.Columns) > 0 || len(t.Caption) == 0) {
		return
	}
	g := grid{title: t.Title, caption: t.Caption, rows: make([][]cell, t.Rows)}
	var columns [][]Value
	var scales []Scale
	for j, head := range t.Columns {
		if head.Head != "" {
			values := t.column(j)
			g.columns, columns, scales = append(g.columns, head), append(columns, values), append(scales, columnScale(head.Is, values))
		}
	}
	for i := range g.rows {
		for j, head := range g.columns {
			g.rows[i] = append(g.rows[i], p.cell(columns[j][i], head.Is, scales[j]))
		}
	}
	p.tables = append(p.tables, g)
}

func (t *Table) column(j int) []Value {
	values := make([]Value, t.Rows)
	for i := range values {
		values[i] = t.At(i, j)
	}
	return values
}

// columnScale is the scale that the durations of a column share.
func columnScale(is Is, values []Value) Scale {
	var all []int64
	most := int64(0)
	for _, v := range values {
		if v.kind == nanos {
			all = append(all, v.nanos())
			most = max(most, v.nanos(), -v.nanos())
		}
	}
	if is&ByMost != 0 {
		all = []int64{most}
	}
	return ScaleOf(all)
}

func (p *page) cell(v Value, is Is, s Scale) cell {
	c := cell{text: v.read(is, s), bound: v.sign > 0, ditto: v.ditto}
	if tag := v.remark(); tag != "" {
		c.remark = " " + Visible(tag)
	}
	for _, text := range v.footnotes() {
		c.remark += fmt.Sprintf(" [%d]", p.notes.cite(text))
	}
	return c
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
	f.texts = append(f.texts, text)
	f.number[text] = len(f.texts)
	return len(f.texts)
}

// lines returns the texts as they are printed. The quantiles of a hop often
// differ in their first clauses only: what follows these is said once, in a note
// of its own after all others.
func (f *footnotes) lines() []string {
	lines, shared := slices.Clone(f.texts), f.sharedEndings()
	number := map[string]int{}
	for i, end := range shared {
		if end == "" {
			continue
		}
		if number[end] == 0 {
			lines = append(lines, end)
			number[end] = len(lines)
		}
		lines[i] = fmt.Sprintf("%ssee [%d]", strings.TrimSuffix(f.texts[i], end), number[end])
	}
	return lines
}

// sharedEndings are the longest end of each text that another has too, "" for
// none. None is the end of one text alone: it would be printed once either way.
func (f *footnotes) sharedEndings() []string {
	has, taken := map[string]int{}, map[string]int{}
	for _, text := range f.texts {
		for _, end := range endings(text) {
			has[end]++
		}
	}
	shared := make([]string, len(f.texts))
	for i, text := range f.texts {
		ends := endings(text)
		if j := slices.IndexFunc(ends, func(end string) bool { return has[end] > 1 }); j >= 0 {
			shared[i] = ends[j]
			taken[ends[j]]++
		}
	}
	for i, end := range shared {
		if taken[end] < 2 {
			shared[i] = ""
		}
	}
	return shared
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
