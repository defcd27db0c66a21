// Package mirror has the results as the JSON document shows them.
package mirror

import (
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/note"
)

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

// Input is what was read as JSON.
func Input(in ingest.Summary) any {
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
