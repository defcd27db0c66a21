package hoplog

import (
	"bytes"
	"encoding/binary"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/spans"
)

// Tables and logs whose records name a span and its parent are traces, and so
// are hop logs whose nesting is to be inferred from times: their records go
// where spans go, and are grouped by trace.

// ids checks that a record of a table of spans says which span it is.
func (a *attempts) ids(rec *field.Record) *format.Fault {
	if !a.spanTable {
		return nil
	}
	if traceOf(rec.Get(field.Trace)) == nil || len(bytes.TrimSpace(rec.Get(field.SpanKey).Raw)) == 0 {
		return format.NewFault(format.NoID, "the record has no trace id or no span id")
	}
	return nil
}

// handOn gives an attempt away, as a span where it is one.
func (a *attempts) handOn(hop []byte, file int32) {
	rec, row, s := &a.rec, &a.row, a.sink
	a.tally.AcceptRecord(rec)
	service, operation := hopParts(rec)
	if a.linked && row.Trace != nil {
		a.link(file)
		a.linkHop(hop, service, operation)
		return
	}
	s.Attempt(row, a.hopName(hop, service, operation), rec.Instance(), rec.Get(field.Stratum).Raw)
}

// link makes a span of an attempt.
func (a *attempts) link(file int32) {
	rec, row, s := &a.rec, &a.row, a.sink
	var opaque bool
	if row.TraceID, opaque = spans.ParseTraceID(row.Trace); !opaque {
		row.Trace = nil
	}
	if id := bytes.TrimSpace(rec.Get(field.SpanKey).Raw); len(id) > 0 {
		if row.Span, opaque = spans.ParseSpanID(id); opaque {
			row.SpanText = id
		}
	} else {
		row.Span, row.Ties = placeID(file, row.Offset), row.Ties|spans.LogLine
	}
	if id := bytes.TrimSpace(rec.Get(field.ParentKey).Raw); !noParent(id) {
		row.Parent, _ = spans.ParseSpanID(id)
	}
	if row.Retry {
		row.Ties |= spans.MarkedRetry
	}
	if s := a.fields.Selection; s != nil {
		row.Ties |= format.SelectionTies(s.Judge(rec.Selected))
	}
	row.Host, row.Instance, row.Stratum = s.Host(nil), s.Peer(rec.Instance()), s.Stratum(rec.Get(field.Stratum).Raw)
}

// placeID makes an id for a record without one: no two records of a run share
// their place.
func placeID(file int32, offset int64) spans.SpanID {
	return spans.SpanID(digest.Sum(uint64(file)+1, binary.LittleEndian.AppendUint64(nil, uint64(offset))) | 1)
}

// noParent reports whether a parent id says that there is none.
func noParent(id []byte) bool {
	return field.Placeholder(id) || bytes.EqualFold(id, []byte("root")) || string(id) == "-1"
}

// hopName names the hop of a line by service and operation where the user named
// those fields, else by the hop's own name. The name is good until the next one.
func (a *attempts) hopName(hop, service, operation []byte) []byte {
	if len(service) == 0 || len(operation) == 0 {
		return hop
	}
	switch a.fields.HopName {
	case "service":
		return service
	case "operation":
		return operation
	}
	a.key = append(append(append(a.key[:0], service...), ' '), operation...)
	return a.key
}

func hopParts(rec *field.Record) (service, operation []byte) {
	return bytes.TrimSpace(rec.Get(field.ServiceKey).Raw), bytes.TrimSpace(rec.Get(field.OperationKey).Raw)
}

// linkHop hands on a record that is a span with the name of its hop.
func (a *attempts) linkHop(hop, service, operation []byte) {
	row, kind := &a.row, spans.NoKind
	if v := a.rec.Get(field.SpanKind); !v.Empty() {
		kind = field.SpanKindOf(v.Raw)
	}
	a.key = format.AppendHopKey(a.key[:0], hop, service, operation, kind)
	row.Digest = digest.Sum(digest.Sum(0, a.key), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(row.Start)), uint64(row.Duration)))
	if len(service) > 0 && len(operation) > 0 {
		hop = nil
	}
	a.sink.Span(row, hop, service, operation, kind)
}
