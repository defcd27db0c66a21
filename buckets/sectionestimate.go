package buckets

import (
	"fmt"
	"math"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
)

// beyondWall says what else is known or guessed of a value that the wall hides:
// what servers took comes first, since that was measured.
func beyondWall(t *Tail) string { return sentences(serverNote(t), estimateNote(t)) }

func serverNote(t *Tail) string {
	s := t.ServerSide
	if s == nil || t.Status != quantile.AtLeast {
		return ""
	}
	seen := fmt.Sprintf("%d of %s a server span", s.N, note.Count(s.Of, "first attempt that timed out", "first attempts that timed out")+note.Form(s.N, " has", " have"))
	if s.Selected {
		seen += ", a selected sample"
	}
	if s.Value == nil {
		return fmt.Sprintf("server side: %s, and %s is not among them", seen, t.P.Label())
	}
	return fmt.Sprintf("server side %s (%s)", report.Round(*s.Value), seen)
}

// estimateNote names the condition with the figures, and why there are none.
func estimateNote(t *Tail) string {
	e := t.Estimate
	switch {
	case e == nil:
		return ""
	case !e.Passed():
		// So that quantiles which fail alike share a note, or the end of one.
		return sentences(append([]string{"no estimate"}, failing(e, t.P.Label())...)...)
	case e.Value == nil:
		return "no estimate; it would be longer than a duration can be"
	case e.Bound == nil:
		return fmt.Sprintf("estimate %s without a bound, if the tail goes on as below the timeout; it sizes a canary and sets no timeout", report.Round(*e.Value))
	}
	return fmt.Sprintf("estimate %s, by the most careful of %s up to %s, if the tail goes on as below the timeout (f %s); it sizes a canary and sets no timeout",
		report.Round(*e.Value), note.Count(len(e.Models), "model"), report.Round(*e.Bound), fit.FigureText(e.F))
}

func failing(e *fit.Estimate, label string) (reasons []string) {
	for _, j := range e.Gates {
		if !j.Passed {
			reasons = append(reasons, fmt.Sprintf("%s (gate %d: %s)", gateText(j, label), j.Gate, j.Needs()))
		}
	}
	return reasons
}

func gateText(j fit.Judgement, label string) string {
	f := fit.FigureText(j.Figure)
	switch j.Gate {
	case fit.EnoughExceedances:
		return "only " + f + note.Form(j.Figure, " completed attempt", " completed attempts") + " in its tail"
	case fit.NotTooFar:
		if math.IsInf(j.Figure, 0) {
			return "no attempt lies beyond " + label
		}
		return "attempts that timed out are " + f + " times those beyond " + label
	case fit.FiniteMean:
		return "the fitted tail is too heavy, ξ " + f
	case fit.FitsBelow:
		return "the fitted tail does not follow the data, KS " + f
	case fit.SeenNearWall:
		if math.IsInf(j.Figure, 0) {
			return "no completed attempt took any time"
		}
		return "the timeout is " + f + " times the slowest completed attempt"
	}
	return "signs of " + f + note.Form(j.Figure, " timeout", " timeouts")
}
