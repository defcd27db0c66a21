package ingest

import (
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
)

// Summary accounts for every record of a run. In each file and in total
// Records = Accepted + Rejected + Blank + Filtered.
type Summary struct {
	Files             jsontype.List[FileSummary]  `json:"files"` // sorted by path
	Records           int64                       `json:"records"`
	Accepted          int64                       `json:"accepted"`
	Rejected          int64                       `json:"rejected"`
	OtherLines        int64                       `json:"other_lines"` // rejected lines that are no records: they name neither a hop nor a trace nor a duration
	Blank             int64                       `json:"blank"`
	Filtered          int64                       `json:"filtered"` // left out by --where, --since or --until
	Traces            *int64                      `json:"traces"`   // nil where not counted (hop logs have no whole traces), as are the next two
	Spans             *int64                      `json:"spans"`
	DuplicatesDropped *int64                      `json:"duplicates_dropped"`
	TimeBasis         string                      `json:"time_basis"`
	Unit              string                      `json:"unit"`
	TruncationMarks   string                      `json:"truncation_marks"`
	Sampling          Sampling                    `json:"sampling"`
	Rejects           jsontype.List[RejectCount]  `json:"rejects"` // sorted by reason
	Warnings          jsontype.List[note.Warning] `json:"warnings"`
}

// FileSummary is the part of one file. Bytes counts what was read, compressed.
// Fields names the key chosen for each role in the first accepted record.
type FileSummary struct {
	Index       int32                `json:"-"` // of the file in the rows
	Path        string               `json:"path"`
	Format      string               `json:"format"`
	Compression string               `json:"compression"`
	Preset      jsontype.Text        `json:"preset"`  // by which its records were read, null for none
	Wrapper     string               `json:"wrapper"` // what the records lie in, "" for nothing
	Bytes       int64                `json:"bytes"`
	Records     int64                `json:"records"`
	Accepted    int64                `json:"accepted"`
	Rejected    int64                `json:"rejected"`
	OtherLines  int64                `json:"other_lines"`
	Blank       int64                `json:"blank"`
	Filtered    int64                `json:"filtered"`
	Complete    bool                 `json:"complete"`
	Fields      jsontype.Map[string] `json:"fields"`
}

// Sampling says whether the input can carry a statistic.
type Sampling struct {
	Kind     string `json:"kind"`
	Evidence string `json:"evidence"`
}

// RejectCount is how often one reason occurred and where first.
type RejectCount struct {
	Reason format.Reason `json:"reason"`
	Count  int64         `json:"count"`
	First  format.Reject `json:"first"`
}
