package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
)

// judged is a gate with what it judged.
type judged struct {
	of string // the quantile, or "all" where it is the same for each
	fit.Judgement
}

// gates is what each estimate had to pass.
func (r *Result) gates() report.Table {
	rows := r.judged()
	return report.NewTable("May a model guess beyond the timeout?", rows, []report.Column[judged]{
		{Head: "gate", Of: func(j *judged) value { return report.Count(int(j.Gate)) }},
		{Head: "of", Is: report.Key | report.Words, Of: func(j *judged) value { return report.String(j.of) }},
		{Head: "what", Is: report.Words, Of: func(j *judged) value { return report.String(gateText[j.Gate]) }},
		{Head: "is", Of: func(j *judged) value { return report.String(fit.FigureText(j.Figure)) }},
		{Head: "must be", Is: report.Words, Of: func(j *judged) value { return report.String(j.Needs()) }},
		{Head: "passed", Is: report.Words, Of: func(j *judged) value { return report.String(map[bool]string{true: "yes", false: "no"}[j.Passed]) }},
	}, gateCaption(rows)...)
}

// told is the number of a gate that was listed for all.
const told = -1

// judged lists the gates by their numbers, those once that are the same for each quantile.
func (r *Result) judged() []judged {
	var rows []judged
	estimates := 0
	same := map[fit.Judgement]int{}
	for i := range r.Tail.Tail {
		if e := r.Tail.Tail[i].Estimate; e != nil {
			estimates++
			for _, j := range e.Gates {
				rows = append(rows, judged{r.Tail.Tail[i].P.Label(), j})
				same[j]++
			}
		}
	}
	var kept []judged
	for _, j := range rows {
		switch n := same[j.Judgement]; {
		case n == told:
		case n == estimates && n > 1:
			same[j.Judgement] = told
			j.of = "all"
			kept = append(kept, j)
		default:
			kept = append(kept, j)
		}
	}
	slices.SortStableFunc(kept, func(a, b judged) int { return cmp.Compare(a.Gate, b.Gate) })
	return kept
}

func gateCaption(rows []judged) []string {
	if rows == nil {
		return nil
	}
	return []string{"A model may guess a quantile that passes all gates. The guess is right only if latencies beyond the timeout go on as those below it; it sizes a canary and never sets a timeout."}
}

var gateText = map[fit.Gate]string{
	fit.EnoughExceedances: "completed attempts in the tail that is fitted",
	fit.NotTooFar:         "attempts that timed out, over those beyond the quantile",
	fit.FiniteMean:        "shape ξ of the fitted tail",
	fit.FitsBelow:         "Kolmogorov-Smirnov distance of the fit, over its limit",
	fit.SeenNearWall:      "the timeout, over the slowest completed attempt",
	fit.OneWall:           "timeouts that show",
}

// guesses are the estimates that passed.
func (r *Result) guesses() report.Table {
	var lines []string
	for i := range r.Tail.Tail {
		if q := &r.Tail.Tail[i]; q.Estimate != nil && q.Estimate.Passed() {
			lines = append(lines, guessText(q))
		}
	}
	return sentences("What models guess", lines...)
}

func guessText(q *buckets.Tail) string {
	e := q.Estimate
	if e.Value == nil {
		return q.P.Label() + ": longer than a duration can be."
	}
	text := fmt.Sprintf("%s: %s", q.P.Label(), about(*e.Value))
	if e.Bound != nil {
		text += fmt.Sprintf(", at most %s by the most careful model", atMost(*e.Bound))
	}
	var models []string
	for _, m := range e.Models {
		if m.Value == nil {
			continue
		}
		one := fmt.Sprintf("%s %s", strings.ReplaceAll(m.Name, "_", " "), about(*m.Value))
		if m.Bound != nil {
			one += fmt.Sprintf(" (at most %s)", atMost(*m.Bound))
		}
		models = append(models, one)
	}
	if models != nil {
		text += "; " + strings.Join(models, ", ")
	}
	return text + "."
}
