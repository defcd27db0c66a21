package explain

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/timeouts"
)

var evidenceText = map[timeouts.Evidence]string{
	timeouts.Certified:     "certified: the quantile has an upper limit",
	timeouts.Identified:    "identified: the quantile is known, but nothing certifies a limit of it",
	timeouts.TooFew:        "too few attempts: nothing hides the quantile, but nothing bounds it either",
	timeouts.NotIdentified: "not known: today's timeout hides the quantile",
	timeouts.None:          "without evidence: the input says nothing of it",
}

// advice is what its timeout should be, and how that follows.
func (r *Result) advice() report.Table {
	const title = "What its timeout should be"
	a := r.Advice
	if a == nil {
		return sentences(title, "No timeout to set: nobody is seen to call it and to wait for it.")
	}
	s := r.Timeouts
	lines := []string{fmt.Sprintf("Aim: at most %s of the attempts time out needlessly, so the timeout rests on %s, at %s confidence.", s.FalseTimeout.Text(), s.Target.Label(), s.Confidence.Percent())}
	if c := a.Current; c != nil {
		lines = append(lines, fmt.Sprintf("Today: %s%s (%s).", map[bool]string{true: "at most "}[c.Source == "inferred"], atMost(c.Timeout), sourceText[c.Source]))
	}
	lines = append(lines, "Evidence: "+evidenceText[a.Evidence]+".")
	if a.Timeout != nil && a.Bound != nil {
		lines = append(lines, fmt.Sprintf("Timeout: %s = the larger of %s × %s and %s + %s, rounded up to a round figure, and no less than %s.",
			about(*a.Timeout), trimmed(float64(s.Headroom)/100), about(*a.Bound), about(*a.Bound), about(s.Allowance), about(s.Floor)))
	} else if a.Timeout != nil {
		lines = append(lines, fmt.Sprintf("Timeout: %s.", about(*a.Timeout)))
	}
	return sentences(title, append(lines, r.adviceDetails()...)...)
}

// adviceDetails is what else the advice says, as far as it does.
func (r *Result) adviceDetails() (lines []string) {
	a := r.Advice
	if n := a.Missing; n > 0 {
		lines = append(lines, fmt.Sprintf("%s more would certify it.", note.Count(n, "independent first attempt")))
	}
	if f := a.Allows; f != nil {
		lines = append(lines, fmt.Sprintf("So few attempts allow %s, made of the slowest (%s): at most %s of the attempts would time out needlessly, 1 - (1 - confidence)^(1/n).", about(f.Timeout), about(f.Slowest), atMostPercent(f.FalseTimeout)))
	}
	if u := a.Under; u != nil {
		lines = append(lines, fmt.Sprintf("With it %d of %d first attempts would time out (at most %s), those counted that time out today.", u.N, u.Of, atMostPercent(u.Upper)))
	}
	if in := a.Inner; in != nil {
		lines = append(lines, innerText(in))
	}
	if s := a.ServerSide; s != nil && s.Suggested != nil {
		lines = append(lines, fmt.Sprintf("By what its servers took it would be %s (%d of %d first attempts that timed out have a server span).", about(*s.Suggested), s.N, s.Of))
	}
	if a.SafeToLower {
		lines = append(lines, "It is shorter than today's and certified: safe to lower.")
	}
	if a.HeldToday != nil {
		text := fmt.Sprintf("%s first attempts a second hold %s calls at once if each lasts as long as today's timeout", three(*a.PerSecond), three(*a.HeldToday))
		if a.HeldThen != nil {
			text += fmt.Sprintf(", %s with the advice", three(*a.HeldThen))
		}
		lines = append(lines, text+".")
	}
	for _, s := range a.Strata {
		text := fmt.Sprintf("Of %q: %s, %d timed out; %s", s.Name, note.Count(s.N, "first attempt"), s.Cut, evidenceText[s.Evidence])
		if s.Timeout != nil {
			text += fmt.Sprintf("; it would make %s", about(*s.Timeout))
		}
		lines = append(lines, text+".")
	}
	return lines
}

func innerText(in *timeouts.Inner) string {
	text := "It makes calls itself: "
	parts := ""
	add := func(what string, ns *int64) {
		if ns == nil {
			parts += what + " not known, "
		} else {
			parts += fmt.Sprintf("%s %s, ", what, about(*ns))
		}
	}
	add("own work with headroom", in.Own)
	add("for the calls below", in.Grants)
	if in.Rest != nil {
		add("seen beyond both", in.Rest)
	}
	return text + parts[:len(parts)-2] + "."
}

func three(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }

// canary is how many attempts would make a hidden quantile known.
func (r *Result) canary() report.Table {
	if r.Advice == nil || r.Advice.Canary == nil {
		return report.Table{}
	}
	c := r.Advice.Canary
	confidence := r.Timeouts.Confidence
	caption := []string{
		fmt.Sprintf("Raise the timeout to %s on a part of the traffic (from %s), and keep today's for the rest.", about(c.RaiseTo), c.From),
		fmt.Sprintf("The chance that none of n attempts lies beyond a quantile that is too long is p^n: the least n at which it is at most %s is enough. None of them may time out.", percent(confidence.Beyond())),
	}
	if c.Effect.Known() {
		caption = append(caption, fmt.Sprintf("They must be independent; today's come together by %s (design effect %s): take more, from many traces and minutes.", c.Effect.Cluster(), effect(c.Effect)))
	}
	return report.NewTable("A canary that would make it known", c.Sizes, []report.Column[timeouts.Size]{
		{Head: "for", Is: report.Key | report.Words, Of: func(s *timeouts.Size) value { return report.String(s.P.Label()) }},
		{Head: "attempts", Of: func(s *timeouts.Size) value { return report.Count(s.Attempts) }},
		{Head: "as", Is: report.Words, Of: func(s *timeouts.Size) value {
			return report.String(fmt.Sprintf("%s^%d = %s", s.P.String(), s.Attempts, percent(math.Pow(s.P.Float(), float64(s.Attempts)))))
		}},
		{Head: "takes at today's rate", Of: func(s *timeouts.Size) value {
			return report.Maybe(s.Takes, func(ns int64) value { return report.String(about(ns)) })
		}},
	}, caption...)
}
