package explain

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// Key is the section's member of the JSON document.
const Key = "explain"

type value = report.Value

// Section words all of it, in the order in which one asks.
func (r *Result) Section(v *report.View) report.Section {
	return report.Section{
		Key: Key, JSON: func() any { return r }, Lines: r.headline(),
		Tables: []report.Table{
			r.wrong(), r.queue(), r.endings(), r.latency(), r.hiding(), r.seenTimeouts(), r.kaplanMeier(), r.gates(), r.guesses(), r.advice(), r.canary(),
			r.retried(), r.neighbors(), r.orphaned(), r.slow(v), r.warned(),
		},
		Data: r.data(),
	}
}

// headline names the hop, and says the one thing that matters most.
func (r *Result) headline() []string {
	t := r.Tail
	text := fmt.Sprintf("%s: %s", r.name(r.Hop), note.Count(t.Attempts, "attempt"))
	if s := t.TruncatedShare; s.Of > 0 && !t.Biased {
		text += fmt.Sprintf(", %s of the first attempts timed out", percent(s.Value))
	}
	lines := []string{text + "."}
	if len(r.Servers) > 0 {
		lines = append(lines, fmt.Sprintf("It is %s as its caller sees it, served by %s.", r.Hop.String(), names(r.Servers, func(s *buckets.Result) string { return s.Hop.String() })))
	}
	if t.Biased {
		lines = append(lines, "The traces were chosen by how they went: no share and no quantile of them says anything of the rest. Counts, shortest and longest are those of the traces that were kept.")
	}
	return lines
}

// wrong is what is wrong with the hop, the worst first.
func (r *Result) wrong() report.Table {
	var lines []string
	for i := range r.Findings {
		f := &r.Findings[i]
		codes := string(f.Code)
		for k := range f.Joined {
			codes += ", " + string(f.Joined[k].Code)
		}
		lines = append(lines, fmt.Sprintf("%s (%s: %s)", f.Text, f.Severity, codes))
		lines = append(lines, findingLines(f)...)
	}
	if lines == nil {
		lines = []string{"Nothing that the rules know of."}
	}
	return sentences("What is wrong", lines...)
}

func findingLines(f *findings.Finding) (lines []string) {
	for _, part := range []struct {
		what string
		list []string
	}{{"Why", f.Why}, {"Cost", f.Cost}, {"Do", f.Do}} {
		for _, text := range part.list {
			lines = append(lines, "- "+part.what+": "+text)
		}
	}
	return lines
}

// names joins what hops are called, each once.
func names[T any](list []T, of func(T) string) string {
	var texts []string
	seen := map[string]bool{}
	for _, one := range list {
		if text := of(one); !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

func about(ns int64) string { return brief.Duration(ns, brief.Nearest) }

func atLeast(ns int64) string { return brief.Duration(ns, brief.Down) }

func atMost(ns int64) string { return brief.Duration(ns, brief.Up) }

// percent writes a share; limits are rounded away from it.
func percent(share float64) string { return brief.Share(share, brief.Nearest) }

func atLeastPercent(share float64) string { return brief.Share(share, brief.Down) }

func atMostPercent(share float64) string { return brief.Share(share, brief.Up) }

// scaled writes times of one table in one unit, which its title names.
type scaled struct{ brief.Scale }

// scaleOf is the scale of all times of a table.
func scaleOf(times ...int64) scaled { return scaled{brief.ScaleOf(times)} }

// title adds the unit to a title.
func (s scaled) title(text string) string { return text + ", " + s.Word() }

func (s scaled) write(ns int64, r brief.Rounding) value {
	if ns == 0 {
		return report.String("0")
	}
	return report.String(s.Text(ns, r))
}

func (s scaled) about(ns int64) value { return s.write(ns, brief.Nearest) }

// limit writes one that may be missing.
func (s scaled) limit(ns *int64, r brief.Rounding) value {
	return report.Maybe(ns, func(ns int64) value { return s.write(ns, r) })
}

// sentences is a table without columns; without sentences it is left out.
func sentences(title string, list ...string) report.Table {
	t := report.Table{Title: title}
	for _, text := range list {
		if text != "" {
			t.Caption = append(t.Caption, text)
		}
	}
	return t
}

// endedBy words by whose timeout attempts ended.
var endedBy = map[spans.CutBy]string{
	spans.Own: "by their own timeout", spans.Below: "because a call below them timed out", spans.Caller: "cancelled by their caller", spans.CutUnknown: "by whose timeout is not known",
}
