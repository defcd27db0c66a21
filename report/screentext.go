package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	red, dim = "\x1b[31m", "\x1b[2m"

	labelWidth    = 6 // of Why, Cost and Do
	leastName     = 16
	longestOnPage = 48
)

// screenText writes the screen as text. Where the width is not known it takes 100 columns.
func screenText(s *Screen, o Options) []byte {
	fixedWidths()
	if o.Width <= 0 {
		o.Width = screenWidth
	}
	t := textWriter{Options: o, keepsUnits: true}
	t.screen(s)
	return t.buf.Bytes()
}

// height is how many lines the screen takes.
func (s *Screen) height(width int) int {
	return bytes.Count(screenText(s, Options{Width: width}), []byte("\n"))
}

func (t *textWriter) screen(s *Screen) {
	t.paragraph("", s.Read)
	t.blank()
	for _, v := range s.Verdicts {
		t.verdict(&v)
	}
	for i := range s.Blocks {
		t.block(&s.Blocks[i], i > 0 && s.Blocks[i].Label != "" && s.Blocks[i-1].Label != "")
	}
	if len(s.Caveats) > 0 {
		t.blank()
	}
	for _, line := range s.Caveats {
		t.colored(dim, "! ", line)
	}
	if s.More != "" {
		t.paragraph("More: ", s.More)
	}
	if t.Closing && len(s.Verdicts) > 0 {
		t.blank()
		v := s.Verdicts[0]
		t.colored(v.color(), v.Mood.sign()+" ", v.Text)
	}
}

func (t *textWriter) blank() { t.buf.WriteByte('\n') }

// colored writes a wrapped text in one color.
func (t *textWriter) colored(color, prefix, s string) {
	from := t.buf.Len()
	t.paragraph(prefix, s)
	lines := strings.Split(strings.TrimSuffix(t.buf.String()[from:], "\n"), "\n")
	t.buf.Truncate(from)
	for _, line := range lines {
		t.buf.WriteString(t.paint(color, line) + "\n")
	}
}

func (v *Verdict) color() string {
	return [...]string{Fine: "", Doubt: yellow, Bad: red}[v.Mood]
}

func (t *textWriter) verdict(v *Verdict) {
	t.colored(v.color(), v.Mood.sign()+" ", v.Text)
	some := false
	for _, p := range v.Points {
		if len(p.Lines) > 0 && !some {
			t.blank()
			some = true
		}
		t.point(&p)
	}
	if some {
		t.blank()
	}
}

func (t *textWriter) point(p *Point) {
	prefix := gap + text.Pad(p.Label, labelWidth, ' ')
	for i, line := range p.Lines {
		if p.Numbered && len(p.Lines) > 1 {
			prefix += fmt.Sprintf("%d. ", i+1)
		}
		t.paragraph(prefix, line)
		prefix = gap + strings.Repeat(" ", labelWidth)
	}
}

// block writes a table or sentences; what follows another label is not set apart.
func (t *textWriter) block(b *Block, follows bool) {
	drawing := t.fitting(b.Drawing)
	if drawing == nil && b.Drawing != nil {
		return
	}
	if !follows && !bytes.HasSuffix(t.buf.Bytes(), []byte("\n\n")) {
		t.blank()
	}
	if b.Title != "" {
		t.title(b)
	}
	if len(b.Columns) > 0 {
		t.pillars(b)
	}
	for _, line := range drawing {
		t.buf.WriteString(strings.TrimRight(gap+Visible(line), " ") + "\n")
	}
	prefix := gap
	if b.Label != "" {
		prefix = text.Pad(b.Label, labelWidth+3, ' ') + " "
	}
	for _, line := range b.Lines {
		t.paragraph(prefix, line)
		prefix = strings.Repeat(" ", text.StringWidthWithoutEscSequences(prefix))
	}
}

// fitting are the lines of a drawing, none where one is too wide.
func (t *textWriter) fitting(drawing []string) []string {
	for _, line := range drawing {
		if text.StringWidthWithoutEscSequences(gap+strings.TrimRight(line, " ")) > t.Width {
			return nil
		}
	}
	return drawing
}

// title writes a title with what is said at its end, below each other where there is no
// room.
func (t *textWriter) title(b *Block) {
	title := Visible(b.Title)
	room := t.Width - text.StringWidthWithoutEscSequences(title+b.Aside)
	if b.Aside == "" || room < len(gap) {
		t.buf.WriteString(t.paint(bold, title) + "\n")
		if b.Aside != "" {
			t.paragraph(gap, b.Aside)
		}
		return
	}
	t.buf.WriteString(t.paint(bold, title) + strings.Repeat(" ", min(room, 6)) + b.Aside + "\n")
}

// pillars draws the table of a block. Names are shortened first, then columns left out,
// those with the highest numbers before others.
func (t *textWriter) pillars(b *Block) {
	shown := make([]int, 0, len(b.Columns))
	for i := range b.Columns {
		shown = append(shown, i)
	}
	columns := t.laidOut(b, shown)
	var out []string
	var remarks int
	for lineWidth(columns) > t.Width {
		last := b.droppable(shown)
		if last < 0 {
			break
		}
		if head := b.Columns[shown[last]].Head; head != "" {
			out = append(out, head)
		} else {
			remarks = shown[last]
		}
		shown = append(shown[:last:last], shown[last+1:]...)
		columns = t.laidOut(b, shown)
	}
	t.drawPlain(t.wrapLast(columns))
	if remarks > 0 {
		t.remarks(b, remarks)
	}
	if out != nil {
		t.paragraph(gap, "Left out for want of room: "+strings.Join(out, ", ")+".")
	}
}

// remarks writes a column without a head, for which there was no room, below the table.
func (t *textWriter) remarks(b *Block, column int) {
	for _, row := range b.Rows {
		if row[column].Text != "" {
			t.paragraph(gap, row[0].Text+": "+row[column].Text)
		}
	}
}

// leastText is how narrow a text at the end of a row becomes.
const leastText = 24

// wrapLast breaks the texts of the last column into several lines where there is no room
// for them.
func (t *textWriter) wrapLast(columns []column) []column {
	excess, last := lineWidth(columns)-t.Width, len(columns)-1
	if excess <= 0 || columns[last].right() {
		return columns
	}
	room := max(leastText, columns[last].width-excess)
	broken := make([]column, len(columns))
	for i := range columns[0].cells {
		for k, part := range wrapped(columns[last].cells[i], room, true) {
			for j := range columns {
				cell := ""
				if k == 0 {
					cell = columns[j].cells[i]
				}
				if j == last {
					cell = part
				}
				broken[j].cells = append(broken[j].cells, cell)
			}
		}
	}
	for j := range broken {
		broken[j].Head, broken[j].width = columns[j].Head, columns[j].width
	}
	broken[last].width = room
	return broken
}

// droppable is the place of the column that can best be done without, -1 for none.
func (b *Block) droppable(shown []int) int {
	place := -1
	for i, c := range shown {
		if d := b.Columns[c].Drop; d > 0 && (place < 0 || d >= b.Columns[shown[place]].Drop) {
			place = i
		}
	}
	return place
}

// laidOut makes columns of strings, of which the first is as narrow as it must be.
func (t *textWriter) laidOut(b *Block, shown []int) []column {
	columns := make([]column, len(shown))
	for k, i := range shown {
		columns[k] = t.pillar(b, i, longestOnPage)
	}
	if excess := lineWidth(columns) - t.Width; excess > 0 && len(shown) > 0 {
		columns[0] = t.pillar(b, shown[0], max(leastName, columns[0].width-excess))
	}
	return columns
}

func (t *textWriter) pillar(b *Block, i, longest int) column {
	p := b.Columns[i]
	c := column{Head: Head{Head: p.Head}}
	if p.Text {
		c.Head.Is = Words
	}
	marked := false
	names := make([]string, len(b.Rows))
	for k, row := range b.Rows {
		marked = marked || row[i].Mark != ""
		names[k] = Visible(row[i].Text)
		if i == 0 {
			names[k] = shorten(names[k], max(leastName/2, longest-text.StringWidthWithoutEscSequences(row[i].Branch)))
		}
	}
	head := t.paint(bold, Visible(p.Head))
	if marked && !p.Text {
		head += "  "
	}
	c.cells = []string{head}
	for k, row := range b.Rows {
		cell := row[i]
		cell.Text = names[k]
		full := cell.full()
		if marked && !p.Text && cell.Mark == "" {
			full += "  "
		}
		if cell.Bound {
			full = t.paint(yellow, full)
		}
		c.cells = append(c.cells, full)
	}
	for _, cell := range c.cells {
		c.width = max(c.width, text.StringWidthWithoutEscSequences(cell))
	}
	return c
}

// drawPlain writes rows without a rule under the head.
func (t *textWriter) drawPlain(columns []column) {
	if len(columns) == 0 {
		return
	}
	for i := range columns[0].cells {
		t.drawRow(columns, i)
	}
}
