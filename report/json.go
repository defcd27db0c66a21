package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/note"
)

// schemaVersion changes only when a field changes its meaning or goes; fields
// may be added within a version.
const schemaVersion = 1

type jsonReport struct {
	SchemaVersion int       `json:"schema_version"`
	Input         jsonInput `json:"input"`
	Hops          []jsonHop `json:"hops,omitzero"` // absent if not asked for

	Owner    *jsonOwner    `json:"owner,omitzero"`
	Retries  *jsonRetries  `json:"retries,omitzero"`
	Orphans  *jsonOrphans  `json:"orphans,omitzero"`
	Timeouts *jsonTimeouts `json:"timeouts,omitzero"`
}

type jsonInput struct {
	Files             []jsonFile     `json:"files"`
	Records           int64          `json:"records"`
	Accepted          int64          `json:"accepted"`
	Rejected          int64          `json:"rejected"`
	Blank             int64          `json:"blank"`
	Traces            *int64         `json:"traces"`
	Spans             *int64         `json:"spans"`
	DuplicatesDropped *int64         `json:"duplicates_dropped"`
	TimeBasis         string         `json:"time_basis"`
	Unit              string         `json:"unit"`
	TruncationMarks   string         `json:"truncation_marks"`
	Sampling          jsonSampling   `json:"sampling"`
	Rejects           []jsonReject   `json:"rejects"`
	Warnings          []note.Warning `json:"warnings"`
}

type jsonFile struct {
	Path        string            `json:"path"`
	Format      string            `json:"format"`
	Compression string            `json:"compression"`
	Bytes       int64             `json:"bytes"`
	Records     int64             `json:"records"`
	Accepted    int64             `json:"accepted"`
	Rejected    int64             `json:"rejected"`
	Blank       int64             `json:"blank"`
	Complete    bool              `json:"complete"`
	Fields      map[string]string `json:"fields"`
}

type jsonSampling struct {
	Kind     string `json:"kind"`
	Evidence string `json:"evidence"`
}

type jsonReject struct {
	Reason string       `json:"reason"`
	Count  int64        `json:"count"`
	First  jsonPosition `json:"first"`
}

type jsonPosition struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
	Detail string `json:"detail"`
}

// JSON writes the report for machines: durations are integer nanoseconds in
// fields that end in _ns, lists are never null.
func JSON(w io.Writer, r *Report, _ Options) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(jsonReport{schemaVersion, inputJSON(r.Input), hopsJSON(r), ownerJSON(r), retriesJSON(r), orphansJSON(r), timeoutsJSON(r)}); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := w.Write(escapeHidden(b.Bytes()))
	return err
}

// escapeHidden writes characters that a terminal would obey as \u escapes,
// which a JSON reader turns back. They occur in strings only; line breaks and
// other ASCII are the encoder's own.
func escapeHidden(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, mustEscape) {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		if mustEscape(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, doc[:size]...)
		}
		doc = doc[size:]
	}
	return out
}

func mustEscape(r rune) bool { return r > '~' && hidden(r) }

func inputJSON(in ingest.Summary) jsonInput {
	return jsonInput{
		Files:   list(in.Files, fileJSON),
		Records: in.Records, Accepted: in.Accepted, Rejected: in.Rejected, Blank: in.Blank,
		Traces: in.Traces, Spans: in.Spans, DuplicatesDropped: in.DuplicatesDropped,
		TimeBasis: in.TimeBasis, Unit: in.Unit, TruncationMarks: in.TruncationMarks,
		Sampling: jsonSampling(in.Sampling),
		Rejects:  list(in.Rejects, rejectJSON),
		Warnings: list(in.Warnings, itself),
	}
}

func fileJSON(f ingest.FileSummary) jsonFile {
	if f.Fields == nil {
		f.Fields = map[string]string{}
	}
	return jsonFile(f)
}

func rejectJSON(r ingest.RejectCount) jsonReject {
	return jsonReject{string(r.Reason), r.Count, jsonPosition{r.First.File, r.First.Line, r.First.Offset, r.First.Detail}}
}

func itself(w note.Warning) note.Warning { return w }

// list turns items into their JSON; an empty list is [], not null.
func list[T, J any](items []T, turn func(T) J) []J {
	out := make([]J, len(items))
	for i, item := range items {
		out[i] = turn(item)
	}
	return out
}

// orNull gives an empty text as null.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
