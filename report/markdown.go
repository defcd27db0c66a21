package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the page of Text as GitHub Markdown: the same tables, with
// the footnotes as a numbered list.
func Markdown(w io.Writer, r *Report, _ Options) error {
	if r.Screen != nil {
		_, err := w.Write(screenMarkdown(r.Screen))
		return err
	}
	var b bytes.Buffer
	p := newPage(r)
	markdownLines(&b, "", p.intro)
	markdownLines(&b, "**Warning:** ", p.warnings)
	for _, lines := range p.drawings {
		markdownDrawing(&b, lines(Options{}))
	}
	for _, t := range p.tables {
		fmt.Fprintf(&b, "## %s\n\n", markdown(t.title))
		if len(t.columns) > 0 {
			markdownTable(&b, t)
		}
		markdownLines(&b, "", t.caption)
	}
	markdownNotes(&b, p.notes.lines())
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

// markdownLines writes each line as a paragraph, so that none runs into the
// next.
func markdownLines(b *bytes.Buffer, prefix string, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "%s%s\n\n", prefix, markdown(line))
	}
}

// markdownDrawing writes lines as they are, behind a fence that none of them can end.
func markdownDrawing(b *bytes.Buffer, lines []string) {
	text := strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%stext\n%s\n%s\n\n", fence, text, fence)
}

func markdownTable(b *bytes.Buffer, t grid) {
	heads, rules := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i], rules[i] = markdown(c.Head), ":---"
		if c.right() {
			rules[i] = "---:"
		}
	}
	markdownRow(b, heads)
	markdownRow(b, rules)
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = markdown(c.text + c.remark)
		}
		markdownRow(b, cells)
	}
	b.WriteByte('\n')
}

func markdownRow(b *bytes.Buffer, cells []string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func markdownNotes(b *bytes.Buffer, notes []string) {
	if len(notes) > 0 {
		b.WriteString("## Notes\n\n")
	}
	for i, note := range notes {
		fmt.Fprintf(b, "%d. %s\n", i+1, markdown(note))
	}
}
