package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

// Section says in a few lines what was read and how it was understood, with what
// is wrong with the whole input and what was rejected.
func (s Summary) Section() report.Section {
	return report.Section{Key: "input", JSON: func() any { return s }, Lines: introduction(s), Warnings: inputWarnings(s), Tables: []report.Table{rejectTable(s)}}
}

// introduction says in a few lines what was read and how it was understood.
func introduction(in Summary) []string {
	lines := []string{accounted(in)}
	for _, line := range []string{tracesRead(in), understood(in)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func accounted(in Summary) string {
	head := note.Count(in.Records, "record") + " in " + note.Count(len(in.Files), "file") + presets(in)
	switch {
	case in.Records == 0:
		return head + "."
	case in.Accepted == in.Records:
		return head + ", all accepted."
	}
	parts := []string{fmt.Sprintf("%d accepted", in.Accepted)}
	if in.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d rejected", in.Rejected))
	}
	if in.Blank > 0 {
		parts = append(parts, fmt.Sprintf("%d blank", in.Blank))
	}
	if in.Filtered > 0 {
		parts = append(parts, fmt.Sprintf("%d filtered", in.Filtered))
	}
	return head + ": " + strings.Join(parts, ", ") + otherLines(in) + "."
}

// presets names those by which the files were read.
func presets(in Summary) string {
	var names []string
	for _, f := range in.Files {
		if f.Preset != "" && !slices.Contains(names, string(f.Preset)) {
			names = append(names, string(f.Preset))
		}
	}
	if names == nil {
		return ""
	}
	return " (" + note.Form(len(names), "preset ", "presets ") + strings.Join(names, ", ") + ")"
}

// otherLines says that the input is not only a log of attempts.
func otherLines(in Summary) string {
	if in.OtherLines == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %s %s", in.OtherLines, note.Count(in.Records, "line"), note.Form(in.OtherLines, "is no record", "are no records"))
}

func tracesRead(in Summary) string {
	var parts []string
	if in.Traces != nil {
		parts = append(parts, note.Count(*in.Traces, "trace"))
	}
	if in.Spans != nil {
		parts = append(parts, note.Count(*in.Spans, "span"))
	}
	if in.DuplicatesDropped != nil && *in.DuplicatesDropped > 0 {
		parts = append(parts, note.Count(*in.DuplicatesDropped, "duplicate")+" dropped")
	}
	return sentence(strings.Join(parts, ", "))
}

func understood(in Summary) string {
	var parts []string
	for _, part := range [][2]string{
		{"Taken out of", wrappers(in)}, {"Time basis", in.TimeBasis}, {"unit", in.Unit},
		{"truncation marks", in.TruncationMarks}, {"sampling", sampled(in.Sampling)},
	} {
		if part[1] != "" {
			parts = append(parts, part[0]+": "+part[1])
		}
	}
	return sentence(strings.Join(parts, "; "))
}

// wrappers names what the records of the files lie in.
func wrappers(in Summary) string {
	var names []string
	for _, f := range in.Files {
		if f.Wrapper != "" && !slices.Contains(names, f.Wrapper) {
			names = append(names, f.Wrapper)
		}
	}
	return strings.Join(names, " and ")
}

func sampled(s Sampling) string {
	if s.Evidence == "" {
		return s.Kind
	}
	return fmt.Sprintf("%s (%s)", s.Kind, s.Evidence)
}

// inputWarnings puts what is wrong with the whole input before any number.
func inputWarnings(in Summary) []string {
	var lines []string
	for _, f := range in.Files {
		if !f.Complete {
			lines = append(lines, "incomplete file: "+f.Path)
		}
	}
	for _, w := range in.Warnings {
		lines = append(lines, w.Text)
	}
	return lines
}

func rejectTable(in Summary) report.Table {
	type value = report.Value
	return report.NewTable("Rejected records", in.Rejects, []report.Column[RejectCount]{
		{Head: "reason", Is: report.Key | report.Words, Of: func(r *RejectCount) value { return report.String(r.Reason) }},
		{Head: "records", Of: func(r *RejectCount) value { return report.Count(r.Count) }},
		{Head: "first at", Is: report.Name, Of: func(r *RejectCount) value { return report.String(position(r.First)) }},
		{Head: "detail", Is: report.Name, Of: func(r *RejectCount) value { return report.String(r.First.Detail) }},
	})
}

// position is the line where there is one; a record of a document of one huge
// line is better found by its offset.
func position(r Reject) string {
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	return fmt.Sprintf("%s, byte %d", r.File, r.Offset)
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return s + "."
}
