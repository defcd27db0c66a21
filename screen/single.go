package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
)

// hiddenAlone is the only row, if a timeout hides its tail: what a log shows of it is
// then put beside what is known.
func (b *builder) hiddenAlone() *line {
	if len(b.rows) != 1 || b.left > 0 {
		return nil
	}
	for i := range b.Findings {
		f := &b.Findings[i]
		if string(f.Hop) == b.rows[0].Name && b.rows[0].enough() && (hides(f) || slices.ContainsFunc(f.Joined, func(f findings.Finding) bool { return hides(&f) })) {
			return b.rows[0]
		}
	}
	return nil
}

// hides reports whether a finding is that a timeout hides the p95 or the p99.
func hides(f *findings.Finding) bool {
	return f.Code == findings.QuantileHidden && f.Severity != findings.Info
}

// reading is one way to read the durations of a hop.
type reading struct {
	name, note string
	n          uint64
	at         func(j int) report.Cell
}

// readings are the table of a single hop whose tail a timeout hides.
func (b *builder) readings(l *line, scale brief.Scale) *report.Block {
	of := func(s quantile.Summary) func(int) report.Cell {
		return func(j int) report.Cell {
			if points := s.Points(); j < len(points) {
				return report.Cell{Text: scale.Text(points[j].Value, brief.Nearest)}
			}
			return report.Cell{Text: report.Dash}
		}
	}
	logged, completed := l.Recorded.First, l.Completed.First
	rows := []reading{
		{"latency", "", l.TruncatedShare.Of, func(j int) report.Cell { return unmarked(tailCell(l, j, scale)) }},
		{"as logged", "timeouts taken for latencies", logged.N, of(logged)},
		{"completed only", "the slow ones are missing", completed.N, of(completed)},
	}
	k := &report.Block{Title: fmt.Sprintf("%s in %s (first attempts)", l.name, scale.Word()), Aside: hiddenAside, Columns: []report.Pillar{{Text: true}, {Head: "n"}}}
	for j, p := range b.Quantiles {
		k.Columns = append(k.Columns, report.Pillar{Head: p.Label(), Drop: dropOf(j, len(b.Quantiles))})
	}
	k.Columns = append(k.Columns, report.Pillar{Text: true, Drop: 20})
	for _, r := range rows {
		row := []report.Cell{{Text: r.name}, {Text: fmt.Sprint(r.n)}}
		for j := range b.Quantiles {
			row = append(row, r.at(j))
		}
		k.Rows = append(k.Rows, append(row, report.Cell{Text: r.note}))
	}
	return k
}

// The bins of a histogram: how many at most, and the steps of their width.
const mostBins = 6

var steps = [...]int64{1, 2, 5}

// binWidth is the least round width in which so many bins hold all values.
func binWidth(most int64) int64 {
	for width := int64(1); ; width *= 10 {
		for _, s := range steps {
			if s*width > most/mostBins {
				return s * width
			}
		}
	}
}

// bars are eighths of a line.
var bars = []rune("▁▂▃▄▅▆▇█")

func bar(n, most uint64) string {
	if n == 0 {
		return " "
	}
	return string(bars[(n*uint64(len(bars))-1)/most])
}

// histogram draws the single row whose tail a timeout hides: where the completed calls
// lie, and where those that timed out were logged.
func (b *builder) histogram() *report.Block {
	l := b.hiddenAlone()
	if l == nil || b.Completed == nil || l.Completed.First.N == 0 {
		return nil
	}
	width := binWidth(l.Completed.First.Max)
	at := b.Completed(l.Hop).Cursor()
	unit := durations.UnitOf(l.Completed.First.Max)
	var edges, counts []string
	var each []uint64
	most := l.TruncatedShare.Count
	for from := int64(0); from <= l.Completed.First.Max; from += width {
		n := at.UpTo(from + width - 1)
		each, most = append(each, n), max(most, n)
	}
	for i, n := range each {
		edges = append(edges, durations.In(int64(i)*width, unit))
		counts = append(counts, fmt.Sprintf("%s %d", bar(n, most), n))
	}
	edges[0] += " " + unit.Name
	edges = append(edges, "", brief.Duration(l.Truncated.First.Min, brief.Nearest))
	gap := "… the timeout …"
	if wall, known := l.MainWall(); !known || wall.Timeout != nil || wall.To-wall.From <= wall.To/100 {
		gap = "…"
	}
	counts = append(counts, gap, fmt.Sprintf("%s %d timed out", bar(l.TruncatedShare.Count, most), l.TruncatedShare.Count))
	return &report.Block{Drawing: beside(edges, counts)}
}

// beside aligns two lines, column by column.
func beside(above, below []string) []string {
	lines := [2]string{}
	for i := range above {
		width := max(utf8.RuneCountInString(above[i]), utf8.RuneCountInString(below[i])) + 2
		for k, s := range [2]string{above[i], below[i]} {
			lines[k] += s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
		}
	}
	return lines[:]
}
