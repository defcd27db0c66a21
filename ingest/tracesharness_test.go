package ingest

import (
	order "cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/wrap"
	"github.com/tailscope/tailscope/spans"
)

// traceHow is the way in which a test reads traces; the zero value is the tool's
// without any flag.
type traceHow struct {
	format  string
	rules   outcome.Config
	hopName string
	by      string
	weight  string
	maxLine int
	sizes   *sizes
	general bool // no shortcut is taken
	unit    string
	fields  []string // values of --field
}

// sizes are those of the cutting into chunks.
type sizes struct {
	oneByte            bool // a read gives one byte
	room, chunk, large int
}

// manySizes bring every place of a small input to the end of a window, of a
// chunk and of what is held whole.
var manySizes = []sizes{
	{true, 1, 1, 1 << 20}, {true, 1, 1, 0}, {true, 2, 3, 16}, {false, 1, 7, 40}, {true, 7, 64, 100}, {false, 64, 1 << 20, 0}, {true, 64, 200, 300}, {false, 4096, 1, 1},
}

// spanRow is a row as a test reads it back. The zero value of a field is the
// usual: no parent, completed, no host.
type spanRow struct {
	Hop, Service, Operation string
	Kind                    string
	Trace, Span, Parent     string
	Start                   int64 // ns
	NoStart                 bool
	Duration                time.Duration
	End                     string // "truncated own"; "" for completed
	Marked                  bool
	Ties                    string // "async retry shifted"
	Host, Peer              string
	Weight                  float64
	Stratum                 string
	Resolution              uint8
	Line, Offset            int64
	Timeout                 time.Duration
	Speaks                  bool // a message that does not count speaks of a timeout
	Tries                   uint8
}

// traced is what an input became.
type traced struct {
	rows    []spanRow
	digests []uint64
	rejects []format.Reject
	summary Summary
	damage  error
	err     error
}

func (h traceHow) config(t testing.TB) Config {
	t.Helper()
	made := settingsOf(t, field.Config{Fields: flagsOf(t, h.fields), Unit: unitOf(h.unit), FirstAttempt: -1, HopName: h.hopName, By: h.by, WeightKey: h.weight}, h.rules)
	settings := *made
	settings.General = h.general
	c := Config{Fields: &settings, Format: h.format, MaxLine: h.maxLine}
	if s := h.sizes; s != nil {
		c.sizes = format.Sizes{Chunk: s.chunk, Window: s.room, Element: max(1, s.large)}
		if s.oneByte {
			c.sizes.Read = 1
		}
	}
	return c
}

// readTraces reads an input as the tool does.
func readTraces(t testing.TB, h traceHow, in string) traced {
	t.Helper()
	return readTraceSource(t, h, Source{Path: "in", Stdin: strings.NewReader(in)})
}

func readTraceSource(t testing.TB, h traceHow, src Source) (d traced) {
	t.Helper()
	c := h.config(t)
	f, err := Open(src, c, new(atomic.Int64))
	if err != nil {
		return traced{err: err}
	}
	defer f.Close()
	ledger := NewLedger()
	d.read(t, h, c, f, ledger)
	ledger.Done(f)
	d.summary, d.damage = ledger.Summary(false), f.Damage()
	if s := d.summary; s.Accepted != int64(len(d.rows)) || s.Rejected != int64(len(d.rejects)) {
		t.Errorf("%d accepted and %d rejected, but %d rows and %d rejects", s.Accepted, s.Rejected, len(d.rows), len(d.rejects))
	}
	return d
}

// read decodes all chunks, as a Decoder does, but without the cost of a batch.
func (d *traced) read(t testing.TB, h traceHow, c Config, f *format.File, ledger *Ledger) {
	sink := &rowSink{traced: d, fields: c.Fields, names: []string{""}}
	var dec format.Decoder
	for chunk, err := f.Next(); err != io.EOF; chunk, err = f.Next() {
		sink.tally = &format.Tally{Chunk: chunk, KeepAll: true}
		if dec == nil {
			dec = f.Kind().NewDecoder(c.Fields, spans.Positions)
		}
		if chunk.Bad != nil {
			sink.tally.Reject(chunk.Line, chunk.Offset, chunk.Bad)
		} else {
			records := chunk
			if plan, ok := f.Within.(*wrap.Plan); ok {
				records = new(wrap.Unwrapper).Unwrap(chunk, plan)
				records.Note = f.Kind().LineNote
			}
			dec.Decode(records, sink.tally, sink)
		}
		spoil(chunk)
		d.rejects = append(d.rejects, sink.tally.Rejects...)
		if err := ledger.Add(sink.tally); err != nil {
			t.Error(err)
		}
	}
}

// rowSink takes spans as they come.
type rowSink struct {
	*traced
	fields *format.Settings
	tally  *format.Tally
	names  []string
}

func (s *rowSink) Attempt(*spans.Row, []byte, []byte, []byte) {}
func (s *rowSink) Peer(name []byte) int32                     { return s.Host(name) }
func (s *rowSink) Stratum(name []byte) int32                  { return s.Host(name) }

func (s *rowSink) Host(name []byte) int32 {
	s.names = append(s.names, string(name))
	return int32(len(s.names) - 1)
}

func (s *rowSink) Span(row *spans.Row, name, service, operation []byte, kind spans.Kind) {
	hop := s.fields.SpanHop(name, service, operation, kind)
	r := spanRow{
		Hop: hop.Name, Service: hop.Service, Operation: hop.Operation, Kind: hop.Kind.String(),
		Trace: row.TraceID.String(), Span: row.Span.String(), Start: row.Start, NoStart: !row.HasStart,
		Duration: time.Duration(row.Duration), Marked: row.Marked, Host: s.names[row.Host], Peer: s.names[row.Instance],
		Weight: row.Weight, Stratum: s.names[row.Stratum], Resolution: row.Resolution, Line: row.Line, Offset: row.Offset,
		Timeout: time.Duration(row.Timeout), Speaks: row.Speaks, Tries: row.Tries,
		End: strings.TrimPrefix(ending(row.Outcome, row.CutBy, row.Failure), "completed"), Ties: tiesText(row.Ties),
	}
	if row.Trace != nil {
		r.Trace = string(row.Trace)
	}
	if row.SpanText != nil {
		r.Span = string(row.SpanText)
	}
	if row.Parent != 0 {
		r.Parent = row.Parent.String()
	}
	s.rows, s.digests = append(s.rows, r), append(s.digests, row.Digest)
	if row.HasDuration != (row.Outcome != spans.Unfinished) || row.Duration < 0 || row.Span == 0 || row.TraceID.IsZero() || row.Start < 0 && !row.Ties.Has(spans.Shifted) {
		panic(fmt.Sprintf("an invalid row: %+v", *row))
	}
}

func tiesText(ties spans.Ties) string {
	var words []string
	for _, w := range []struct {
		tie  spans.Ties
		name string
	}{{spans.Async, "async"}, {spans.MarkedRetry, "retry"}, {spans.Shifted, "shifted"}} {
		if ties.Has(w.tie) {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, " ")
}

// readAnyhow reads an input with windows, chunks and limits of many sizes, fails
// the test where what comes out differs, and returns it.
func readAnyhow(t testing.TB, h traceHow, in string) traced {
	t.Helper()
	want := readTraces(t, h, in)
	for _, s := range manySizes {
		h.sizes = &s
		got := readTraces(t, h, in)
		if !reflect.DeepEqual(want.parts(), got.parts()) {
			t.Fatalf("%s\nwith sizes %+v:\n%s", in, s, cmp.Diff(want.parts(), got.parts()))
		}
	}
	return want
}

// parts is all that the sizes of the cutting must not change. What is wrong
// around the spans of a large element is told after what is wrong with them.
func (d traced) parts() []any {
	slices.SortStableFunc(d.rejects, func(a, b format.Reject) int { return order.Compare(a.Offset, b.Offset) })
	return []any{d.rows, d.digests, d.rejects, d.summary, fmt.Sprint(d.damage), fmt.Sprint(d.err)}
}

// oneSpan reads an input of one valid span.
func oneSpan(t testing.TB, h traceHow, in string) spanRow {
	t.Helper()
	d := readAnyhow(t, h, in)
	if d.err != nil || len(d.rows) != 1 || len(d.rejects) > 0 {
		t.Fatalf("%s\n gives %d rows, rejects %v, error %v", in, len(d.rows), d.rejects, d.err)
	}
	return d.rows[0]
}

// refused returns the refusal of an input, "" where it was not refused.
func (d traced) refused() string {
	var r *format.RefusedError
	if errors.As(d.err, &r) {
		return r.What
	}
	return ""
}

// warned reports whether there is a warning of that code, and its text.
func (d traced) warned(code string) string {
	for _, w := range d.summary.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}
