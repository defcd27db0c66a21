package ingest

import (
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/note"
)

// Summary accounts for every record of a run. In each file and in total
// Records = Accepted + Rejected + Blank.
type Summary struct {
	Files                              []FileSummary // sorted by path
	Records, Accepted, Rejected, Blank int64
	Traces, Spans, DuplicatesDropped   *int64 // nil where not counted (hop logs have no whole traces)
	TimeBasis, Unit, TruncationMarks   string
	Sampling                           Sampling
	Rejects                            []RejectCount // sorted by reason
	Warnings                           []note.Warning
}

// FileSummary is the part of one file. Bytes counts what was read, compressed.
// Fields names the key chosen for each role in the first accepted record.
type FileSummary struct {
	Path, Format, Compression                 string
	Bytes, Records, Accepted, Rejected, Blank int64
	Complete                                  bool
	Fields                                    map[string]string
}

// Sampling says whether the input can carry a statistic.
type Sampling struct{ Kind, Evidence string }

// RejectCount is how often one reason occurred and where first.
type RejectCount struct {
	Reason format.Reason
	Count  int64
	First  format.Reject
}
