package ingest

import (
	"bytes"
	"encoding/binary"

	"github.com/tailscope/tailscope/spans"
)

// Tables and logs whose records name a span and its parent are traces, and so
// are hop logs whose nesting is to be inferred from times: their records go
// where spans go, and are grouped by trace.

// ids checks that a record of a table of spans says which span it is.
func (a *attempts) ids(rec *record) *fault {
	if !a.spanTable {
		return nil
	}
	if traceOf(rec.get(Trace)) == nil || len(bytes.TrimSpace(rec.get(SpanKey).raw)) == 0 {
		return &fault{NoID, "the record has no trace id or no span id"}
	}
	return nil
}

// handOn gives an attempt away, as a span where it is one.
func (a *attempts) handOn(rec *record, row *spans.Row, hop []byte, file int32, s sink) {
	a.tally.accept(rec)
	service, operation := hopParts(rec)
	if a.linked && row.Trace != nil {
		a.link(rec, row, file, s)
		a.linkHop(rec, row, hop, service, operation, s)
		return
	}
	s.attempt(row, a.hopName(hop, service, operation), rec.instance(), rec.get(Stratum).raw)
}

// link makes a span of an attempt.
func (a *attempts) link(rec *record, row *spans.Row, file int32, s sink) {
	var opaque bool
	if row.TraceID, opaque = spans.ParseTraceID(row.Trace); !opaque {
		row.Trace = nil
	}
	if id := bytes.TrimSpace(rec.get(SpanKey).raw); len(id) > 0 {
		if row.Span, opaque = spans.ParseSpanID(id); opaque {
			row.SpanText = id
		}
	} else {
		row.Span, row.Ties = placeID(file, row.Offset), row.Ties|spans.LogLine
	}
	if id := bytes.TrimSpace(rec.get(ParentKey).raw); !noParent(id) {
		row.Parent, _ = spans.ParseSpanID(id)
	}
	if row.Retry {
		row.Ties |= spans.MarkedRetry
	}
	row.Host, row.Instance, row.Stratum = s.host(nil), s.peer(rec.instance()), s.stratum(rec.get(Stratum).raw)
}

// placeID makes an id for a record without one: no two records of a run share
// their place.
func placeID(file int32, offset int64) spans.SpanID {
	return spans.SpanID(hash64(uint64(file)+1, binary.LittleEndian.AppendUint64(nil, uint64(offset))) | 1)
}

// noParent reports whether a parent id says that there is none.
func noParent(id []byte) bool {
	return placeholder(id) || bytes.EqualFold(id, []byte("root")) || string(id) == "-1"
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

func hopParts(rec *record) (service, operation []byte) {
	return bytes.TrimSpace(rec.get(ServiceKey).raw), bytes.TrimSpace(rec.get(OperationKey).raw)
}

// linkHop hands on a record that is a span with the name of its hop.
func (a *attempts) linkHop(rec *record, row *spans.Row, hop, service, operation []byte, s sink) {
	kind := spans.NoKind
	if v := rec.get(SpanKind); !v.empty() {
		kind = kindOf(v.raw)
	}
	a.key = AppendHopKey(a.key[:0], hop, service, operation, kind)
	row.Digest = hash64(hash64(0, a.key), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(row.Start)), uint64(row.Duration)))
	if len(service) > 0 && len(operation) > 0 {
		s.span(row, nil, service, operation, kind)
	} else {
		s.span(row, hop, service, operation, kind)
	}
}
