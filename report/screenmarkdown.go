package report

import (
	"bytes"
	"fmt"
	"strings"
)

// screenMarkdown writes the screen as GitHub Markdown, with all columns.
func screenMarkdown(s *Screen) []byte {
	var b bytes.Buffer
	markdownLines(&b, "", []string{s.Read})
	for _, v := range s.Verdicts {
		fmt.Fprintf(&b, "**%s %s**\n\n", markdown(v.Mood.sign()), markdown(v.Text))
		for _, p := range v.Points {
			markdownPoint(&b, &p)
		}
	}
	for i := range s.Blocks {
		markdownBlock(&b, &s.Blocks[i])
	}
	for _, line := range s.Caveats {
		fmt.Fprintf(&b, "> %s %s\n", markdown("!"), markdown(line))
	}
	if len(s.Caveats) > 0 {
		b.WriteByte('\n')
	}
	if s.More != "" {
		fmt.Fprintf(&b, "More: %s\n", markdown(s.More))
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func markdownPoint(b *bytes.Buffer, p *Point) {
	for i, line := range p.Lines {
		bullet := "-"
		if p.Numbered && len(p.Lines) > 1 {
			bullet = fmt.Sprintf("%d.", i+1)
		}
		if i == 0 {
			fmt.Fprintf(b, "*%s*\n\n", markdown(p.Label))
		}
		fmt.Fprintf(b, "%s %s\n", bullet, markdown(line))
	}
	if len(p.Lines) > 0 {
		b.WriteByte('\n')
	}
}

func markdownBlock(b *bytes.Buffer, k *Block) {
	if k.Title != "" {
		fmt.Fprintf(b, "## %s\n\n", markdown(k.Title))
	}
	if len(k.Columns) > 0 {
		markdownPillars(b, k)
	}
	if len(k.Drawing) > 0 {
		b.WriteString("```text\n")
		for _, line := range k.Drawing {
			b.WriteString(Visible(line) + "\n")
		}
		b.WriteString("```\n\n")
	}
	lines := k.Lines
	if k.Aside != "" {
		lines = append([]string{k.Aside}, lines...)
	}
	for i, line := range lines {
		if label := markdown(k.Label); label != "" && i == 0 {
			fmt.Fprintf(b, "**%s** ", label)
		}
		fmt.Fprintf(b, "%s\n\n", markdown(line))
	}
}

func markdownPillars(b *bytes.Buffer, k *Block) {
	heads, rules := make([]string, len(k.Columns)), make([]string, len(k.Columns))
	for i, c := range k.Columns {
		heads[i], rules[i] = markdown(c.Head), "---:"
		if c.Text {
			rules[i] = ":---"
		}
	}
	markdownRow(b, heads)
	markdownRow(b, rules)
	for _, row := range k.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			branch := strings.ReplaceAll(markdown(c.Branch), " ", "&nbsp;")
			c.Branch = ""
			cells[i] = branch + markdown(c.full())
		}
		markdownRow(b, cells)
	}
	b.WriteByte('\n')
}
