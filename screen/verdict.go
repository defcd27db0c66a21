package screen

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

const (
	mostVerdicts  = 3
	mostSentences = 4 // of each part of the first
)

// verdicts are the worst findings: those of the system, or a line that says that there is
// none.
func (b *builder) verdicts() (list []report.Verdict) {
	more := 0
	for i := range b.Findings {
		f := &b.Findings[i]
		if f.Severity == findings.Info || f.Caveat() || !b.showsFinding(f) {
			continue
		}
		if len(list) == mostVerdicts {
			more++
			continue
		}
		v := report.Verdict{Mood: moodOf(f.Severity), Text: strings.TrimSuffix(f.Text, ".")}
		if len(list) == 0 {
			v.Points = []report.Point{
				{Label: "Why", Lines: first(f.Why)}, {Label: "Cost", Lines: first(f.Cost)}, {Label: "Do", Lines: first(f.Do), Numbered: true},
			}
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return []report.Verdict{{Mood: report.Fine, Text: b.fine()}}
	}
	if more > 0 {
		list[len(list)-1].Text += fmt.Sprintf(" (%s: --format json)", note.Count(more, "more finding"))
	}
	return list
}

// ended says how many timed out and how many failed.
func ended(timedOut, failed uint64) string {
	switch {
	case failed == 0:
		return note.Count(timedOut, "timeout")
	case timedOut == 0:
		return note.Count(failed, "failure")
	}
	return note.Count(timedOut, "timeout") + " and " + note.Count(failed, "failure")
}

func (b *builder) showsFinding(f *findings.Finding) bool {
	return b.Shows == nil || f.Hop == "" || b.Shows(string(f.Hop))
}

func first(list []string) []string { return list[:min(mostSentences, len(list))] }

func moodOf(s findings.Severity) report.Mood {
	if s == findings.Fail {
		return report.Bad
	}
	return report.Doubt
}

// fine is what is said where nothing is wrong: what ended badly all the same, and who
// makes slow requests slow.
func (b *builder) fine() string {
	timedOut, failed, calls := uint64(0), uint64(0), uint64(0)
	for i := range b.Hops {
		h := &b.Hops[i]
		timedOut, failed, calls = timedOut+h.Truncated.All.N, failed+h.Failed.All.N, calls+h.Attempts
	}
	text := "Nothing timed out or failed."
	if timedOut+failed > 0 {
		text = "Nothing serious: " + ended(timedOut, failed) + " of " + note.Count(calls, "attempt") + "."
	}
	for i := range b.Findings {
		if f := &b.Findings[i]; f.Code == findings.TailOwner || f.Code == findings.OwnerUnsure {
			return text + " " + strings.TrimSuffix(f.Text, ".")
		}
	}
	return strings.TrimSuffix(text, ".")
}
