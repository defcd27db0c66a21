package report

import (
	"fmt"
	"strconv"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
)

// isMaximum is the code of the warning that the tag "(max of 60)" shows.
const isMaximum = "is_maximum"

// unknownSampling is the kind of an input of which nobody says how it was chosen.
const unknownSampling = "unknown"

// tailTable has a row a hop: how many of its first attempts the timeout cut,
// and what may be said of each quantile all the same.
func tailTable(r *Report, notes *footnotes) Table {
	t := Table{Title: "Tail of the first attempts", Columns: tailColumns(r), Caption: tailCaption(r)}
	scales := tailScales(r)
	for i := range r.Hops {
		t.Rows = append(t.Rows, tailRow(r, i, scales, notes))
	}
	return t
}

func tailColumns(r *Report) []Column {
	columns := append(hopColumns(r), Column{Head: "n", Right: true}, Column{Head: "cut", Right: true})
	if anyHop(r, hasCuts) {
		columns = append(columns, Column{Head: confidence(r) + " limits", Right: true})
	}
	if anyHop(r, hasFailures) {
		columns = append(columns, Column{Head: "failed", Right: true})
	}
	for _, p := range r.Quantiles {
		columns = append(columns, Column{Head: p.Label(), Right: true})
	}
	return columns
}

func tailRow(r *Report, i int, scales []scale, notes *footnotes) []Cell {
	h := &r.Hops[i]
	cells := hopCells(r, i)
	citeWarnings(h, &cells[0], notes)
	cells = append(cells, Cell{Text: strconv.FormatUint(h.TruncatedShare.Of, 10)}, Cell{Text: cutShare(h)})
	if anyHop(r, hasCuts) {
		cells = append(cells, Cell{Text: cutLimits(h)})
	}
	if anyHop(r, hasFailures) {
		cells = append(cells, Cell{Text: failedShare(h)})
	}
	for j := range r.Quantiles {
		cells = append(cells, tailCell(h, j, scales[j], notes))
	}
	return cells
}

// tailCell is the value as far as it is known.
func tailCell(h *buckets.Result, j int, s scale, notes *footnotes) Cell {
	if j >= len(h.Tail) {
		return Cell{Text: dash}
	}
	t := &h.Tail[j]
	c := Cell{Text: dash}
	switch t.Status {
	case quantile.Exact:
		c.Text = s.nearest(t.Value)
	case quantile.AtLeast:
		c.Text, c.Bound = "≥ "+s.down(t.Value), true
	}
	if tagged(t) {
		c.Tag = fmt.Sprintf("(max of %d)", t.N)
	}
	if !onlyTooFew(t) {
		notes.mark(&c, t.Reason)
	}
	notes.mark(&c, kaplanMeier(t))
	notes.mark(&c, beyondWall(t))
	return c
}

// onlyTooFew reports quantiles that are exact and lack an upper limit for want
// of attempts alone. In a page of small hops that would be a note a cell, and n
// stands in the row; JSON and CSV give the reason.
func onlyTooFew(t *buckets.Tail) bool {
	return t.Status == quantile.Exact && t.UpperRank > t.Size()
}

// kaplanMeier names the condition with the value: without it the value would
// look better known than the bound that stands in the table.
func kaplanMeier(t *buckets.Tail) string {
	if t.KM == nil {
		return ""
	}
	value := scaleOf([]int64{*t.KM}).nearest(*t.KM)
	return "Kaplan-Meier puts this at " + value + ", if cuts do not depend on slowness"
}

// citeWarnings leaves out what the row itself already says, and adds what no
// table shows.
func citeWarnings(h *buckets.Result, c *Cell, notes *footnotes) {
	if h.Unfinished > 0 {
		notes.mark(c, count(int64(h.Unfinished), "attempt")+" without an end: of unknown duration, in no table")
	}
	for _, w := range h.Warnings {
		if w.Code != isMaximum || !hasTail(tagged)(h) {
			notes.mark(c, w.Text)
		}
	}
}

// tailScales gives each quantile the scale that its column shares.
func tailScales(r *Report) []scale {
	scales := make([]scale, len(r.Quantiles))
	for j := range scales {
		var values []int64
		for i := range r.Hops {
			if tail := r.Hops[i].Tail; j < len(tail) && tail[j].Status != quantile.NoValue {
				values = append(values, tail[j].Value)
			}
		}
		scales[j] = scaleOf(values)
	}
	return scales
}

// signs explains what may stand in the tail table.
var signs = [...]struct {
	occurs func(*buckets.Result) bool
	line   string
}{
	{anyHopAtAll, "n: first attempts that completed or were cut (timed out or given up)."},
	{hasCuts, "cut: the share of n that was cut, with its one-sided limits."},
	{hasFailures, "failed: the share of all first attempts that ended in another error; not in n."},
	{hasTail(atLeast), "≥: the timeout hides the value; it is this or more."},
	{hasTail(noValue), dash + ": nothing can be said of the value."},
	{hasTail(tagged), "max of n: too few attempts for this quantile; it stands for the slowest."},
	{isWeighted, "weighted: shares and quantiles count each attempt by the weight of its trace; n counts attempts."},
	{isSimultaneous, "limits hold for all hops and quantiles at once (--simultaneous), so each is wider."},
	{isBiased, biasedNote},
}

// biasedNote and unknownNote say once what holds for the whole page.
const (
	biasedNote  = "biased sample: what was kept was chosen by how it went, so shares, means and quantiles have no value; counts, shortest and longest are those of the kept traces."
	unknownNote = "how these traces were chosen is not known: values and limits are theirs, and those of all traces only if none was chosen by how it went (--sampling says so)."
)

// tailCaption explains the signs that occur, and only those.
func tailCaption(r *Report) []string {
	var lines []string
	for _, sign := range signs {
		if anyHop(r, sign.occurs) {
			lines = append(lines, sign.line)
		}
	}
	if r.Input.Sampling.Kind == unknownSampling {
		lines = append(lines, unknownNote)
	}
	return lines
}

func cutShare(h *buckets.Result) string {
	if !hasShare(h) {
		return dash
	}
	return ratio.Percent(h.TruncatedShare.Value)
}

func cutLimits(h *buckets.Result) string {
	if !hasShare(h) {
		return dash
	}
	return limits(h.TruncatedShare.Lower, h.TruncatedShare.Upper)
}

func failedShare(h *buckets.Result) string {
	if h.FirstAttempts == 0 || h.Biased {
		return dash
	}
	return ratio.Percent(float64(h.FailedShare))
}

// confidence is that of the first hop: it is one setting of the run.
func confidence(r *Report) string { return r.Hops[0].Confidence.Label()[1:] + " %" }

func atLeast(t *buckets.Tail) bool { return t.Status == quantile.AtLeast }
func noValue(t *buckets.Tail) bool { return t.Status == quantile.NoValue }
func tagged(t *buckets.Tail) bool  { return t.IsMaximum && t.Status == quantile.Exact }

func anyHopAtAll(*buckets.Result) bool      { return true }
func hasKind(h *buckets.Result) bool        { return h.Kind != "" }
func hasCuts(h *buckets.Result) bool        { return h.TruncatedShare.Count > 0 }
func isBiased(h *buckets.Result) bool       { return h.Biased }
func isWeighted(h *buckets.Result) bool     { return h.Effective > 0 }
func isSimultaneous(h *buckets.Result) bool { return h.Claims > 0 }

func hasFailures(h *buckets.Result) bool {
	return h.FailedShare > 0 || h.Biased && h.Failed.First.N > 0
}

// hasShare reports whether the truncated share has a value.
func hasShare(h *buckets.Result) bool { return h.TruncatedShare.Of > 0 && !h.Biased }

func anyHop(r *Report, is func(*buckets.Result) bool) bool {
	for i := range r.Hops {
		if is(&r.Hops[i]) {
			return true
		}
	}
	return false
}

// hasTail reports hops of which any quantile is so.
func hasTail(is func(*buckets.Tail) bool) func(*buckets.Result) bool {
	return func(h *buckets.Result) bool {
		for i := range h.Tail {
			if is(&h.Tail[i]) {
				return true
			}
		}
		return false
	}
}
