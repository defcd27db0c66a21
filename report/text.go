package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	longestName  = 60 // columns
	shortestName = 20 // names shrink to this before a table is split
	gap          = "  "
	rule         = "─"
	bold, yellow = "\x1b[1m", "\x1b[33m"
	reset        = "\x1b[0m"
)

// fixedWidths makes characters of ambiguous width narrow: by default their
// width follows the locale, and the same input must give the same bytes.
var fixedWidths = sync.OnceFunc(func() { text.OverrideRuneWidthEastAsianWidth(false) })

// Text writes the page for a person at a terminal or a nightly mail.
func Text(w io.Writer, r *Report, o Options) error {
	fixedWidths()
	if r.Screen != nil {
		_, err := w.Write(screenText(r.Screen, o))
		return err
	}
	t := textWriter{Options: o}
	t.page(newPage(r))
	_, err := w.Write(t.buf.Bytes())
	return err
}

type textWriter struct {
	Options
	keepsUnits bool // a figure and its unit stay on one line
	buf        bytes.Buffer
}

func (t *textWriter) page(p *page) {
	for _, line := range p.intro {
		t.paragraph("", line)
	}
	for _, line := range p.warnings {
		t.paragraph("warning: ", line)
	}
	for _, lines := range p.drawings {
		fmt.Fprintf(&t.buf, "\n%s\n", strings.Join(lines(t.Options), "\n"))
	}
	for i := range p.tables {
		t.section(&p.tables[i])
	}
	t.footnotes(p.notes.lines())
}

func (t *textWriter) section(s *grid) {
	fmt.Fprintf(&t.buf, "\n%s\n\n", t.paint(bold, Visible(s.title)))
	if len(s.columns) > 0 {
		t.grids(s)
	}
	for _, line := range s.caption {
		t.sentence(line)
	}
}

// item begins a sentence of a list.
const item = "- "

// sentence writes one under a table; of a list, so that its lines stand under each other.
func (t *textWriter) sentence(line string) {
	if rest, is := strings.CutPrefix(line, item); is {
		t.paragraph(gap+item, rest)
		return
	}
	t.paragraph(gap, line)
}

// grids draws a table, in parts where it is too wide.
func (t *textWriter) grids(s *grid) {
	for i, columns := range t.fit(s) {
		if i > 0 {
			t.buf.WriteByte('\n')
		}
		t.draw(columns)
	}
	if len(s.caption) > 0 {
		t.buf.WriteByte('\n')
	}
}

func (t *textWriter) footnotes(notes []string) {
	if len(notes) > 0 {
		fmt.Fprintf(&t.buf, "\n%s\n\n", t.paint(bold, "Notes"))
	}
	last := len(fmt.Sprint(len(notes)))
	for i, note := range notes {
		t.paragraph(fmt.Sprintf("%s%*s ", gap, last+2, fmt.Sprintf("[%d]", i+1)), note)
	}
}

// paragraph writes a text wrapped to the width, indented under its prefix.
func (t *textWriter) paragraph(prefix, s string) {
	indent := text.StringWidthWithoutEscSequences(prefix)
	s = Visible(s)
	if t.keepsUnits {
		s = beforeUnit.ReplaceAllString(s, "$1\u00a0$2")
	}
	for _, line := range wrapped(s, t.Width-indent, t.Width > 0) {
		line = strings.ReplaceAll(line, "\u00a0", " ")
		t.buf.WriteString(prefix + line + "\n")
		prefix = strings.Repeat(" ", indent)
	}
}

// beforeUnit is a blank that is not to be broken. Visible texts hold no
// no-break space, which stands for it until lines are made.
var beforeUnit = regexp.MustCompile(`([0-9]) (%|(?:ns|µs|ms|s|min|h|days)\b)`)

// wrapped breaks a text at spaces. A word that is too long stays whole: it is
// a path or a name, to be copied.
func wrapped(s string, columns int, wrap bool) []string {
	if !wrap {
		return []string{s}
	}
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(s, " ") {
		width := text.StringWidthWithoutEscSequences(word)
		if used > 0 && used+1+width > columns {
			lines, line, used = append(lines, line), "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+width
	}
	return append(lines, line)
}

func (t *textWriter) paint(color, s string) string { return t.painted(color, s) }

// draw writes rows with a rule under the head and nothing else.
func (t *textWriter) draw(columns []column) {
	for i := range columns[0].cells {
		t.drawRow(columns, i)
		if i == 0 {
			t.buf.WriteString(gap + strings.Repeat(rule, lineWidth(columns)-len(gap)) + "\n")
		}
	}
}

// drawRow writes one row of a table, the cells of each column under each other.
func (t *textWriter) drawRow(columns []column, i int) {
	line := ""
	for _, c := range columns {
		align := text.AlignLeft
		if c.right() {
			align = text.AlignRight
		}
		line += gap + align.Apply(c.cells[i], c.width)
	}
	t.buf.WriteString(strings.TrimRight(line, " ") + "\n")
}
