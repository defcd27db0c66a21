package ingest

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

// InspectionSection says of each file how it is understood: CSV has a row a key.
func InspectionSection(files []*Inspection) report.Section {
	s := report.Section{Key: "files", JSON: func() any { return jsontype.List[*Inspection](files) }}
	for _, f := range files {
		s.Lines = append(s.Lines, f.lines()...)
		if f.Error == "" {
			s.Tables = append(s.Tables, f.keyTable(), f.markTable(), f.sampleTable())
		}
	}
	s.Data = keyData(files)
	return s
}

// lines say what a file is and how its times, units and marks are read.
func (f *Inspection) lines() []string {
	if f.Error != "" {
		return strings.Split(string(f.Error), "\n")
	}
	what := []string{f.Format}
	if f.Preset != "" {
		what = append(what, "preset "+string(f.Preset))
	}
	if f.Wrapper != "" {
		what = append(what, "taken out of "+f.Wrapper)
	}
	if f.Compression != "none" {
		what = append(what, f.Compression)
	}
	part := "the first "
	if f.Whole {
		part = ""
	}
	counts := fmt.Sprintf("%s%s: %d accepted, %d rejected, %d blank, %d filtered", part, note.Count(f.Records, "record"), f.Accepted, f.Rejected, f.Blank, f.Filtered)
	times := "time basis: " + f.TimeBasis
	if f.From != "" {
		times += fmt.Sprintf(", starts from %s to %s", f.From, f.To)
	}
	unit := f.Unit
	if unit == "none" {
		unit = "what the format says"
	}
	return []string{
		f.Path + ": " + strings.Join(what, ", ") + ".",
		counts + ".",
		fmt.Sprintf("Durations in: %s; %s.", unit, times),
	}
}

func (f *Inspection) keyTable() report.Table {
	return report.NewTable("Keys of "+f.Path, f.Keys, []report.Column[SeenKey]{
		{Head: "key", Is: report.Key | report.Name, Of: func(k *SeenKey) report.Value { return report.String(k.Key) }},
		{Head: "records", Of: func(k *SeenKey) report.Value { return report.Maybe(k.Records, report.Count[int64]) }},
		{Head: "is", Is: report.Words, Of: func(k *SeenKey) report.Value { return report.String(k.Use()) }},
		{Head: "unit", Is: report.Words, Of: func(k *SeenKey) report.Value { return report.String(k.Unit) }},
		{Head: "for example", Is: report.Name, Of: func(k *SeenKey) report.Value { return report.String(k.Example) }},
	})
}

// markTable says how attempts ended, and by which rules as cut.
func (f *Inspection) markTable() report.Table {
	rows := f.Outcomes
	for _, m := range f.Marks {
		rows = append(rows, HowMany{"timed out by the rule " + m.Rule, m.N})
	}
	return report.NewTable("How attempts ended", rows, []report.Column[HowMany]{
		{Head: "ended", Is: report.Key | report.Words, Of: func(h *HowMany) report.Value { return report.String(h.Outcome) }},
		{Head: "records", Of: func(h *HowMany) report.Value { return report.Count(h.N) }},
	})
}

func (f *Inspection) sampleTable() report.Table {
	return report.NewTable("The first attempts, as they are understood", f.Samples, []report.Column[Sample]{
		{Head: "line", Is: report.Key, Of: func(s *Sample) report.Value { return report.Count(s.Line) }},
		{Head: "hop", Is: report.Name, Of: func(s *Sample) report.Value { return report.String(s.Hop) }},
		{Head: "lasted", Of: func(s *Sample) report.Value { return report.Maybe(s.Duration, report.Nanos) }},
		{Head: "ended", Is: report.Words, Of: func(s *Sample) report.Value { return report.String(s.Outcome) }},
		{Head: "began", Is: report.Words, Of: func(s *Sample) report.Value { return report.String(s.Start) }},
		{Head: "trace", Is: report.Name, Of: func(s *Sample) report.Value { return report.String(s.Trace) }},
		{Head: "retry", Is: report.Words, Of: func(s *Sample) report.Value { return report.Flag(s.Retry) }},
		{Head: "timeout", Of: func(s *Sample) report.Value { return report.Maybe(s.Timeout, report.Nanos) }},
	})
}

// fileKey is a key of one of the files.
type fileKey struct {
	file *Inspection
	SeenKey
}

func keyData(files []*Inspection) report.Table {
	var rows []fileKey
	for _, f := range files {
		for _, k := range f.Keys {
			rows = append(rows, fileKey{f, k})
		}
	}
	return report.NewTable("", rows, []report.Column[fileKey]{
		{Key: "file", Of: func(k *fileKey) report.Value { return report.String(k.file.Path) }},
		{Key: "key", Of: func(k *fileKey) report.Value { return report.String(k.Key) }},
		{Key: "records", Of: func(k *fileKey) report.Value { return report.Maybe(k.Records, report.Count[int64]) }},
		{Key: "roles", Of: func(k *fileKey) report.Value { return report.String(strings.Join(k.Roles, " ")) }},
		{Key: "used", Of: func(k *fileKey) report.Value { return report.Flag(k.Used) }},
		{Key: "unit", Of: func(k *fileKey) report.Value { return report.String(k.Unit) }},
		{Key: "looks_like", Of: func(k *fileKey) report.Value { return report.String(k.Like) }},
		{Key: "example", Of: func(k *fileKey) report.Value { return report.String(k.Example) }},
	})
}
