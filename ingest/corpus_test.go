package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// corpusFolder holds public files of other projects, which are not part of this
// one.
const corpusFolder = "../../shared/corpus"

// corpusFile is one row of the corpus' list: what its maker counted.
type corpusFile struct {
	name, format  string
	traces, spans string
}

func corpus(t *testing.T) (files []corpusFile) {
	f, err := os.Open(filepath.Join(corpusFolder, "MANIFEST.tsv"))
	if err != nil {
		t.Skip("the corpus of public files is not here")
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		files = append(files, corpusFile{row[0], row[6], row[7], row[8]})
	}
	return files
}

// corpusAnswers are those that the list cannot say: refusals by what is named,
// and counts of what its maker did not look into.
var corpusAnswers = map[string]string{
	"zipkin v1 json":               "Zipkin v1",
	"zipkin v2 json":               "Zipkin",
	"zipkin v2 single span object": "Zipkin",
	"jaeger ES doc":                "span documents of Elasticsearch",
	"tempo v1 batches":             "a trace of Tempo",
	"other json: summaries":        "a list of trace summaries",
	"other json: process,spans":    "Jaeger's Thrift written as JSON",
	"tempo search response (not full traces; spanSet subset, no parents)": "a search result of Tempo",
	// A span of protobuf's JSON outside of a trace is one too.
	"other json: traceId,spanId,operationName,references,flags,startTime": "1 traces, 1 spans",
}

func (c corpusFile) want() string {
	if w, ok := corpusAnswers[c.format]; ok {
		return w
	}
	for _, known := range []string{"jaeger", "otlp-json"} {
		if c.spans == "0" {
			break
		}
		if strings.Contains(c.format, known) {
			return c.traces + " traces, " + c.spans + " spans"
		}
	}
	return "" // no format of traces that is read
}

// Every file of traces in the corpus gives exactly its traces and spans, or is
// refused by name.
func TestCorpusIsReadOrRefusedByName(t *testing.T) {
	for _, c := range corpus(t) {
		got := readCorpusFile(t, filepath.Join(corpusFolder, c.name))
		short := c.name
		if len(short) > 60 {
			short = "…" + short[len(short)-59:]
		}
		t.Logf("%-61s %-28.28s %s", short, c.format, got)
		if want := c.want(); want != "" && !strings.HasPrefix(strings.TrimPrefix(got, "refused: "), want) {
			t.Errorf("%s: want %s", c.name, want)
		}
	}
}

// readCorpusFile says what became of a file.
func readCorpusFile(t *testing.T, path string) string {
	c := traceHow{}.config(t)
	f, err := Open(Source{Path: path, Named: true}, c, new(atomic.Int64))
	var refused *format.RefusedError
	var unknown *UnknownFormatError
	switch {
	case errors.As(err, &refused):
		return "refused: " + refused.What
	case errors.As(err, &unknown):
		return "not recognised"
	case err != nil:
		return "not read: " + strings.ReplaceAll(err.Error(), path, "")
	}
	defer f.Close()
	d := NewDecoder(c, newChecked(t), 0, false)
	defer d.Release()
	accepted, rejected, traces := int64(0), int64(0), map[spans.TraceID]bool{}
	take := func(b *spans.Batch) {
		for i := range b.TraceHi {
			traces[spans.TraceID{Hi: b.TraceHi[i], Lo: b.TraceLo[i]}] = true
		}
		b.Release()
	}
	for chunk, err := f.Next(); err == nil; chunk, err = f.Next() {
		tally := d.Decode(chunk, take)
		accepted, rejected = accepted+tally.Accepted, rejected+tally.Rejected
		for _, r := range tally.Rejects {
			t.Log("  ", r.Line, r.Offset, r.Reason, r.Detail)
		}
	}
	d.Flush(take)
	return fmt.Sprintf("%d traces, %d spans, %d rejected (%s)", len(traces), accepted, rejected, f.Format)
}
