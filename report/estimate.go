package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/quantile"
)

// beyondWall says what else is known or guessed of a value that the wall hides:
// what servers took comes first, since that was measured.
func beyondWall(t *buckets.Tail) string {
	var said []string
	for _, s := range []string{serverNote(t), estimateNote(t)} {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, clauseEnd)
}

func serverNote(t *buckets.Tail) string {
	s := t.ServerSide
	if s == nil || t.Status != quantile.AtLeast {
		return ""
	}
	seen := fmt.Sprintf("%d of %d cut first attempts have a server span", s.N, s.Of)
	if s.Selected {
		seen += ", a selected sample"
	}
	if s.Value == nil {
		return fmt.Sprintf("server side: %s, and %s is not among them", seen, t.P.Label())
	}
	return fmt.Sprintf("server side %s (%s)", rounded(*s.Value), seen)
}

// estimateNote names the condition with the figures, and why there are none.
func estimateNote(t *buckets.Tail) string {
	e := t.Estimate
	switch {
	case e == nil:
		return ""
	case !e.Passed():
		// So that quantiles which fail alike share a note, or the end of one.
		return strings.Join(append([]string{"no estimate"}, failing(e, t.P.Label())...), clauseEnd)
	case e.Value == nil:
		return "no estimate" + clauseEnd + "it would be longer than a duration can be"
	case e.Bound == nil:
		return fmt.Sprintf("estimate %s without a bound, if the tail goes on as below the wall; it sizes a canary and sets no timeout", rounded(*e.Value))
	}
	return fmt.Sprintf("estimate %s, by the most careful of %d models up to %s, if the tail goes on as below the wall (f %s); it sizes a canary and sets no timeout",
		rounded(*e.Value), len(e.Models), rounded(*e.Bound), gateFigure(e.F))
}

func failing(e *quantile.Estimate, label string) (reasons []string) {
	for _, j := range e.Gates {
		if !j.Passed {
			reasons = append(reasons, fmt.Sprintf("%s (gate %d: %s)", gateText(j, label), j.Gate, gateLimit(j)))
		}
	}
	return reasons
}

func gateText(j quantile.Judgement, label string) string {
	f := gateFigure(j.Figure)
	switch j.Gate {
	case quantile.EnoughExceedances:
		return "only " + f + " completed attempts in its tail"
	case quantile.NotTooFar:
		if math.IsInf(j.Figure, 0) {
			return "no attempt lies beyond " + label
		}
		return "attempts cut are " + f + " times those beyond " + label
	case quantile.FiniteMean:
		return "the fitted tail is too heavy, ξ " + f
	case quantile.FitsBelow:
		return "the fitted tail does not follow the data, KS " + f
	case quantile.SeenNearWall:
		if math.IsInf(j.Figure, 0) {
			return "no completed attempt took any time"
		}
		return "the wall is " + f + " times the slowest completed attempt"
	}
	return "signs of " + f + " walls"
}

func gateLimit(j quantile.Judgement) string {
	limit := gateFigure(j.Limit)
	switch j.Gate {
	case quantile.EnoughExceedances:
		return "at least " + limit
	case quantile.NotTooFar:
		return "at most " + limit
	case quantile.OneWall:
		return "only " + limit
	}
	return "below " + limit
}

// gateFigure has three digits, more only where a whole number has more.
func gateFigure(f float64) string {
	if f >= 1000 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// rounded writes a guess as coarsely as it is known.
func rounded(ns int64) string { return scaleOf([]int64{ns}).nearest(ns) }

// The columns of the CSV.

func estimateValue(h *buckets.Result, j int) string {
	if e := h.Tail[j].Estimate; e != nil {
		return integer(e.Value)
	}
	return ""
}

func estimateBound(h *buckets.Result, j int) string {
	if e := h.Tail[j].Estimate; e != nil {
		return integer(e.Bound)
	}
	return ""
}

// failedGates lists the gates by number.
func failedGates(h *buckets.Result, j int) string {
	e := h.Tail[j].Estimate
	if e == nil {
		return ""
	}
	var numbers []string
	for _, g := range e.Gates {
		if !g.Passed {
			numbers = append(numbers, natural(uint64(g.Gate)))
		}
	}
	return strings.Join(numbers, " ")
}

func designEffect(h *buckets.Result, j int) string {
	e := h.Tail[j].Effect
	if !e.Known() {
		return ""
	}
	return strconv.FormatFloat(e.Float(), 'f', -1, 64)
}
