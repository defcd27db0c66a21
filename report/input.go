package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/ingest"
)

// introduction says in a few lines what was read and how it was understood.
func introduction(in ingest.Summary) []string {
	lines := []string{accounted(in)}
	for _, line := range []string{traced(in), understood(in)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func accounted(in ingest.Summary) string {
	head := count(in.Records, "record") + " in " + count(int64(len(in.Files)), "file")
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
	return head + ": " + strings.Join(parts, ", ") + "."
}

func traced(in ingest.Summary) string {
	var parts []string
	if in.Traces != nil {
		parts = append(parts, count(*in.Traces, "trace"))
	}
	if in.Spans != nil {
		parts = append(parts, count(*in.Spans, "span"))
	}
	if in.DuplicatesDropped != nil && *in.DuplicatesDropped > 0 {
		parts = append(parts, count(*in.DuplicatesDropped, "duplicate")+" dropped")
	}
	return sentence(strings.Join(parts, ", "))
}

func understood(in ingest.Summary) string {
	var parts []string
	for _, part := range [][2]string{
		{"Time basis", in.TimeBasis}, {"unit", in.Unit},
		{"truncation marks", in.TruncationMarks}, {"sampling", sampled(in.Sampling)},
	} {
		if part[1] != "" {
			parts = append(parts, part[0]+": "+part[1])
		}
	}
	return sentence(strings.Join(parts, "; "))
}

func sampled(s ingest.Sampling) string {
	if s.Evidence == "" {
		return s.Kind
	}
	return fmt.Sprintf("%s (%s)", s.Kind, s.Evidence)
}

// inputWarnings puts what is wrong with the whole input before any number.
func inputWarnings(in ingest.Summary) []string {
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

func rejectTable(in ingest.Summary) Table {
	t := Table{
		Title:   "Rejected records",
		Columns: []Column{{Head: "reason", Key: true}, {Head: "records", Right: true}, {Head: "first at", Name: true}, {Head: "detail", Name: true}},
	}
	for _, reject := range in.Rejects {
		t.Rows = append(t.Rows, []Cell{
			{Text: string(reject.Reason)}, {Text: strconv.FormatInt(reject.Count, 10)},
			{Text: position(reject.First)}, {Text: reject.First.Detail},
		})
	}
	return t
}

// position is the line where there is one; a record of a document of one huge
// line is better found by its offset.
func position(r ingest.Reject) string {
	if r.Line > 0 {
		return fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	return fmt.Sprintf("%s, byte %d", r.File, r.Offset)
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return s + "."
}
