package buckets

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// isMaximum is the code of the warning that the tag "(max of 60)" shows.
const isMaximum = "is_maximum"

// unknownSampling is the kind of an input of which nobody says how it was chosen.
const unknownSampling = "unknown"

// Section is the hop tables: the tails, the durations by how attempts ended, and
// the walls.
func Section(hops []Result, v *report.View) report.Section {
	hops = report.Shown(v, hops, func(h *Result) []string { return []string{h.Name} })
	s := report.Section{Key: "hops", JSON: func() any { return jsontype.List[Result](hops) }, Data: dataTable(hops)}
	if len(hops) > 0 {
		s.Tables = []report.Table{tailTable(hops, v), bucketTable(hops, v.Quantiles), wallTable(hops)}
	}
	return s
}

type (
	column = report.Column[Result]
	value  = report.Value
)

// hopColumns are the columns that name the hop of a row, and whether the row
// above has it too. Kind is left out where no hop has one.
func hopColumns[R any](hops []Result, of func(*R) (h *Result, again bool)) []report.Column[R] {
	named := func(head string, is report.Is, name func(*Result) string) report.Column[R] {
		return report.Column[R]{Head: head, Is: report.Key | is, Of: func(r *R) value {
			h, again := of(r)
			return report.String(name(h)).Again(again)
		}}
	}
	columns := []report.Column[R]{named("hop", report.Name, func(h *Result) string { return h.Name })}
	if anyHop(hops, hasKind) {
		columns = append(columns, named("kind", report.Words, func(h *Result) string { return h.Kind.String() }))
	}
	return columns
}

// tailTable has a row a hop: how many of its first attempts the timeout cut,
// and what may be said of each quantile all the same.
func tailTable(hops []Result, v *report.View) report.Table {
	columns := hopColumns(hops, func(h *Result) (*Result, bool) { return h, false })
	columns[0].Of = func(h *Result) value { return report.String(h.Name).Noted(notesOf(h)...) }
	columns = append(columns,
		column{Head: "n", Of: func(h *Result) value { return report.Count(h.TruncatedShare.Of) }}, column{Head: timedOut, Of: cutShare})
	if anyHop(hops, hasCuts) {
		// The confidence is one setting of the run.
		columns = append(columns, column{Head: hops[0].Confidence.Percent() + " limits", Of: cutLimits})
	}
	if anyHop(hops, hasFailures) {
		columns = append(columns, column{Head: "failed", Of: failedShare})
	}
	for j, p := range v.Quantiles {
		columns = append(columns, column{Head: p.Label(), Is: report.OneUnit, Of: func(h *Result) value { return tailValue(h, j) }})
	}
	return report.NewTable("Tail of the first attempts", hops, columns, tailCaption(hops, v.Sampling)...)
}

// tailValue is the value as far as it is known.
func tailValue(h *Result, j int) value {
	if j >= len(h.Tail) {
		return value{}
	}
	t := &h.Tail[j]
	v := known(t)
	if tagged(t) {
		v = v.Tagged(fmt.Sprintf("(max of %d)", t.N))
	}
	if !onlyTooFew(t) {
		v = v.Noted(t.Reason)
	}
	return v.Noted(kaplanMeier(t), beyondWall(t))
}

// shownStep is the share of a value, one in so many, from which on the step of the clock
// is said beside it.
const shownStep = 100

// coarseClock reports whether the step of the clock matters to the value.
func coarseClock(t *Tail) bool {
	return t.Status != quantile.NoValue && t.ClockStep > 1 && t.ClockStep >= t.Value/shownStep
}

// known is null where nothing can be said of a quantile.
func known(t *Tail) value {
	if t.Status == quantile.NoValue {
		return value{}
	}
	return report.Nanos(t.Value).AtLeast(t.Status == quantile.AtLeast)
}

// onlyTooFew reports quantiles that are exact and lack an upper limit for want
// of attempts alone. In a page of small hops that would be a note a cell, and n
// stands in the row; JSON and CSV give the reason.
func onlyTooFew(t *Tail) bool {
	return t.Status == quantile.Exact && t.UpperRank > t.Size()
}

// kaplanMeier names the condition with the value: without it the value would
// look better known than the bound that stands in the table.
func kaplanMeier(t *Tail) string {
	if t.KM == nil {
		return ""
	}
	return "Kaplan-Meier puts this at " + report.Round(*t.KM) + ", if timeouts do not depend on slowness"
}

// notesOf leaves out what the row itself already says, and adds what no table
// shows.
func notesOf(h *Result) []string {
	var texts []string
	if h.Unfinished > 0 {
		texts = append(texts, note.Count(h.Unfinished, "attempt")+" without an end: of unknown duration, in no table; for values and limits "+note.Form(h.Unfinished, "it lasts", "they last")+" at least as long as the trace shows")
	}
	if hasTail(coarseClock)(h) {
		texts = append(texts, "read from a clock of "+durations.Text(h.Tail[0].ClockStep))
	}
	for _, w := range h.Warnings {
		if w.Code != isMaximum || !hasTail(tagged)(h) {
			texts = append(texts, w.Text)
		}
	}
	return texts
}

// signs explains what may stand in the tail table.
var signs = [...]struct {
	occurs func(*Result) bool
	line   string
}{
	{anyHopAtAll, "n: first attempts that completed, timed out or were cancelled."},
	{hasCuts, "timed out: the share of n that did or was cancelled, with its one-sided limits."},
	{hasFailures, "failed: the share of all first attempts that ended in another error; not in n."},
	{hasTail(atLeast), "≥: the timeout hides the value; it is this or more."},
	{hasTail(noValue), report.Dash + ": nothing can be said of the value."},
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
func tailCaption(hops []Result, sampling string) []string {
	var lines []string
	for _, sign := range signs {
		if anyHop(hops, sign.occurs) {
			lines = append(lines, sign.line)
		}
	}
	if sampling == unknownSampling {
		lines = append(lines, unknownNote)
	}
	return lines
}

func cutShare(h *Result) value {
	if !h.hasShare() {
		return value{}
	}
	return report.Share(h.TruncatedShare.Value)
}

func cutLimits(h *Result) value {
	if !h.hasShare() {
		return value{}
	}
	return report.String(report.Limits(h.TruncatedShare.Lower, h.TruncatedShare.Upper))
}

func failedShare(h *Result) value {
	if h.FirstAttempts == 0 || h.Biased {
		return value{}
	}
	return report.Share(float64(h.FailedShare))
}

func atLeast(t *Tail) bool { return t.Status == quantile.AtLeast }
func noValue(t *Tail) bool { return t.Status == quantile.NoValue }
func tagged(t *Tail) bool  { return t.IsMaximum && t.Status == quantile.Exact }

func anyHopAtAll(*Result) bool      { return true }
func hasKind(h *Result) bool        { return h.Kind != spans.NoKind }
func hasCuts(h *Result) bool        { return h.TruncatedShare.Count > 0 }
func isBiased(h *Result) bool       { return h.Biased }
func isWeighted(h *Result) bool     { return h.Effective > 0 }
func isSimultaneous(h *Result) bool { return h.Claims > 0 }

func hasFailures(h *Result) bool {
	return h.FailedShare > 0 || h.Biased && h.Failed.First.N > 0
}

// hasShare reports whether the truncated share has a value.
func (r *Result) hasShare() bool { return r.TruncatedShare.Of > 0 && !r.Biased }

func anyHop(hops []Result, is func(*Result) bool) bool {
	return slices.ContainsFunc(hops, func(h Result) bool { return is(&h) })
}

// hasTail reports hops of which any quantile is so.
func hasTail(is func(*Tail) bool) func(*Result) bool {
	return func(h *Result) bool {
		return slices.ContainsFunc(h.Tail, func(t Tail) bool { return is(&t) })
	}
}
