package screen

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// fewCalls is how many calls a row needs for quantiles.
const fewCalls = 20

// column is a column of the table.
type column struct {
	report.Pillar
	of func(*line) report.Cell
}

// The marks of a row, of which it has one at most.
const (
	fromBelow = "↓"
	cancelled = "×"
	isSlowest = "*"
)

// hiddenAside says what stands behind ≥.
const hiddenAside = "≥ hidden by a timeout: at least this"

// table is that of all hops.
func (b *builder) table() *report.Block {
	if len(b.rows) == 0 {
		return nil
	}
	scale := brief.ScaleOf(b.durations())
	if l := b.hiddenAlone(); l != nil {
		return b.readings(l, scale)
	}
	columns := append([]column{b.nameColumn(), countColumn()}, b.shareColumns()...)
	if slices.ContainsFunc(b.rows, func(l *line) bool { return l.enough() }) {
		columns = append(columns, b.quantileColumns(scale)...)
		columns = append(columns, b.waitColumns(scale)...)
		columns = append(columns, b.extraColumn()...)
	} else {
		columns = append(columns, fewColumns(b.rows, scale)...)
	}
	k := &report.Block{Title: fmt.Sprintf("Latency in %s (first attempts)", scale.Word())}
	for _, c := range columns {
		k.Columns = append(k.Columns, c.Pillar)
	}
	for _, l := range b.rows {
		var row []report.Cell
		for _, c := range columns {
			row = append(row, c.of(l))
		}
		k.Rows = append(k.Rows, row)
	}
	b.explain(k)
	return k
}

// explain says what the signs of the table mean.
func (b *builder) explain(k *report.Block) {
	has := func(is func(report.Cell) bool) bool {
		return slices.ContainsFunc(k.Rows, func(row []report.Cell) bool { return slices.ContainsFunc(row, is) })
	}
	if has(func(c report.Cell) bool { return c.Bound }) {
		k.Aside = hiddenAside
	}
	if b.left > 0 {
		k.Lines = append(k.Lines, fmt.Sprintf("and %d more: --top all", b.left))
	}
	if has(func(c report.Cell) bool { return c.Mark == fromBelow }) {
		k.Lines = append(k.Lines, fromBelow+" timed out because a call below it did")
	}
	if has(func(c report.Cell) bool { return c.Mark == cancelled }) {
		k.Lines = append(k.Lines, cancelled+" cancelled by its caller")
	}
	if has(func(c report.Cell) bool { return c.Mark == isSlowest }) {
		k.Lines = append(k.Lines, isSlowest+" the slowest of fewer calls than the quantile needs")
	}
}

func (l *line) enough() bool { return l.TruncatedShare.Of >= fewCalls }

// marked is the mark of a row: what made it time out, else what its tail is worth.
func (l *line) marked() string {
	by, all := map[spans.CutBy]uint64{}, uint64(0)
	for _, c := range l.Truncated.CutBy {
		by[c.By] += c.N
		all += c.N
	}
	switch {
	case 2*by[spans.Below] > all:
		return fromBelow
	case 2*by[spans.Caller] > all:
		return cancelled
	}
	return ""
}

// durations are all that the table may show.
func (b *builder) durations() (all []int64) {
	for _, l := range b.rows {
		for i := range l.Tail {
			if t := &l.Tail[i]; t.Status != quantile.NoValue && l.enough() {
				all = append(all, t.Value)
			}
		}
		if !l.enough() {
			all = append(all, l.Completed.First.Min, l.Completed.First.Max, l.Truncated.First.Min)
		}
	}
	return all
}

func (b *builder) nameColumn() column {
	head := "hop"
	if slices.ContainsFunc(b.rows, func(l *line) bool { return l.Kind != spans.NoKind }) {
		head = "call"
	}
	return column{report.Pillar{Head: head, Text: true}, func(l *line) report.Cell { return report.Cell{Text: l.name, Branch: l.branch} }}
}

func countColumn() column {
	return column{report.Pillar{Head: "n"}, func(l *line) report.Cell {
		return report.Cell{Text: fmt.Sprint(l.TruncatedShare.Of + l.Failed.First.N)}
	}}
}

// shareColumns say how many calls time out and how many fail, where any do.
func (b *builder) shareColumns() (list []column) {
	any := func(is func(*line) bool) bool { return slices.ContainsFunc(b.rows, is) }
	if any(func(l *line) bool { return l.TruncatedShare.Count > 0 }) {
		list = append(list, column{report.Pillar{Head: "timed out"}, timedOut})
	}
	if any(func(l *line) bool { return l.Failed.First.N > 0 }) {
		list = append(list, column{report.Pillar{Head: "failed", Drop: 14}, failed})
	}
	return list
}

func timedOut(l *line) report.Cell {
	s := &l.TruncatedShare
	switch {
	case s.Of == 0:
		return report.Cell{Text: report.Dash}
	case l.Biased || !l.enough():
		return report.Cell{Text: fmt.Sprint(s.Count), Mark: l.marked()}
	}
	return report.Cell{Text: brief.Share(s.Value, brief.Nearest), Mark: l.marked()}
}

func failed(l *line) report.Cell {
	if l.Biased || !l.enough() {
		return report.Cell{Text: fmt.Sprint(l.Failed.First.N)}
	}
	return report.Cell{Text: brief.Share(float64(l.FailedShare), brief.Nearest)}
}

// quantileColumns has those that were asked for. What is only the slowest of too few in
// all rows is called so, once.
func (b *builder) quantileColumns(scale brief.Scale) (list []column) {
	slowest := false
	for j, p := range b.Quantiles {
		c := column{report.Pillar{Head: p.Label(), Drop: dropOf(j, len(b.Quantiles))}, func(l *line) report.Cell { return tailCell(l, j, scale) }}
		if b.onlySlowest(j) {
			if slowest {
				continue
			}
			slowest, c.Head = true, "slowest"
			c.of = func(l *line) report.Cell { return unmarked(tailCell(l, j, scale)) }
		}
		list = append(list, c)
	}
	return list
}

// dropOf is how soon a quantile is left out: the second and the last before others.
func dropOf(j, of int) int {
	switch {
	case j == 0:
		return 0
	case j == 1 && of > 3:
		return 19
	case j == of-1 && of > 3:
		return 18
	}
	return max(1, 10-j)
}

func unmarked(c report.Cell) report.Cell {
	c.Mark = ""
	return c
}

// onlySlowest reports whether a quantile is the largest value in every row that has one.
func (b *builder) onlySlowest(j int) bool {
	some := false
	for _, l := range b.rows {
		if t := tailAt(l, j); t != nil && l.enough() {
			if !t.IsMaximum || t.Status != quantile.Exact {
				return false
			}
			some = true
		}
	}
	return some
}

func tailAt(l *line, j int) *buckets.Tail {
	if j >= len(l.Tail) || l.Tail[j].Status == quantile.NoValue {
		return nil
	}
	return &l.Tail[j]
}

func tailCell(l *line, j int, scale brief.Scale) report.Cell {
	t := tailAt(l, j)
	switch {
	case t == nil || !l.enough() || l.Biased:
		return report.Cell{Text: report.Dash}
	case t.Status == quantile.AtLeast:
		return report.Cell{Text: "≥ " + scale.Text(t.Value, brief.Down), Bound: true}
	case t.IsMaximum && l.marked() == "" && firstMaximum(l) == j:
		return report.Cell{Text: scale.Text(t.Value, brief.Nearest), Mark: isSlowest}
	}
	return report.Cell{Text: scale.Text(t.Value, brief.Nearest)}
}

// firstMaximum is the first quantile that is the largest value, so that a row has one mark.
func firstMaximum(l *line) int {
	return slices.IndexFunc(l.Tail, func(t buckets.Tail) bool { return t.IsMaximum && t.Status == quantile.Exact })
}

// extraColumn is the share of each row in the extra time of slow requests.
func (b *builder) extraColumn() []column {
	if b.Owner == nil || b.Owner.Excess <= 0 || b.Owner.Tail.Traces == 0 || len(b.rows) < 2 {
		return nil
	}
	return []column{{report.Pillar{Head: "extra time", Drop: 15}, func(l *line) report.Cell {
		return extraCell(float64(l.extra)/float64(b.Owner.Excess), l.atLeast)
	}}}
}

// extraCell writes a share of the extra time, or at least how much it is. A bound of less
// than is written, and one of everything, need no sign.
func extraCell(share float64, atLeast bool) report.Cell {
	if !atLeast {
		return report.Cell{Text: brief.Share(share, brief.Nearest)}
	}
	text := brief.Share(share, brief.Down)
	if share >= 1 || text == brief.Share(0, brief.Down) {
		return report.Cell{Text: text}
	}
	return report.Cell{Text: "≥ " + text, Bound: true}
}

// longWait is the share of waiting in the time of a call from which on it is shown.
const longWait = .05

// waitColumns say how long calls wait for their servers and how long those work, where any
// wait is long enough.
func (b *builder) waitColumns(scale brief.Scale) []column {
	pairs := map[spans.Hop]*calls.Pair{}
	some := false
	if b.Calls != nil {
		for i := range b.Calls.Pairs {
			p := &b.Calls.Pairs[i]
			if known := pairs[p.Call]; known == nil || p.N > known.N {
				pairs[p.Call] = p
			}
			some = some || p.Figures.WaitShare >= longWait
		}
	}
	if !some {
		return nil
	}
	of := func(head string, ns func(*calls.Pair) int64) column {
		return column{report.Pillar{Head: head, Drop: 16}, func(l *line) report.Cell {
			if p := pairs[l.Hop]; p != nil && l.enough() {
				return report.Cell{Text: scale.Text(ns(p), brief.Nearest)}
			}
			return report.Cell{}
		}}
	}
	return []column{of("waits p50", func(p *calls.Pair) int64 { return p.Figures.GapP50 }), of("works p50", func(p *calls.Pair) int64 { return p.Figures.WorkP50 })}
}

// fewColumns are for calls that are too few for quantiles.
func fewColumns(rows []*line, scale brief.Scale) []column {
	ns := func(l *line, known bool, ns int64) report.Cell {
		if !known {
			return report.Cell{Text: report.Dash}
		}
		return report.Cell{Text: scale.Text(ns, brief.Nearest)}
	}
	list := []column{
		{report.Pillar{Head: "fastest", Drop: 7}, func(l *line) report.Cell { return ns(l, l.Completed.First.N > 0, l.Completed.First.Min) }},
		{report.Pillar{Head: "median", Drop: 8}, func(l *line) report.Cell {
			m, known := medianOf(l.Completed.First)
			return ns(l, known, m)
		}},
		{report.Pillar{Head: "slowest"}, func(l *line) report.Cell { return ns(l, l.Completed.First.N > 0, l.Completed.First.Max) }},
	}
	if slices.ContainsFunc(rows, func(l *line) bool { return l.Truncated.First.N > 0 }) {
		list = append(list, column{report.Pillar{Head: "timed out after"}, func(l *line) report.Cell { return ns(l, l.Truncated.First.N > 0, l.Truncated.First.Min) }})
	}
	return list
}

var half = quantile.MustP("0.5")

func medianOf(s quantile.Summary) (ns int64, known bool) {
	for _, p := range s.Points() {
		if p.P.Compare(half) == 0 {
			return p.Value, true
		}
	}
	return 0, false
}
