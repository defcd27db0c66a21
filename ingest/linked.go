package ingest

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// Tables and logs whose records name a span and its parent are traces, and so
// are hop logs whose nesting is to be inferred from times: their records go
// where spans go, and are grouped by trace.

// linked reports whether records of hop logs are spans.
func (f *Fields) linked() bool { return f.config.InferNesting || f.spanTable }

// namesSpans reports whether the user named the field of the span id.
func (c FieldConfig) namesSpans() bool {
	return slices.ContainsFunc(c.Fields, func(f FieldFlag) bool { return f.Role == SpanKey })
}

// ids checks that a record of a table of spans says which span it is.
func (a *attempts) ids(rec *record) *fault {
	if !a.fields.spanTable {
		return nil
	}
	if traceOf(rec.get(Trace)) == nil || len(bytes.TrimSpace(rec.get(SpanKey).raw)) == 0 {
		return &fault{NoID, "the record has no trace id or no span id"}
	}
	return nil
}

// link makes a span of an attempt.
func (o *output) link(rec *record, row *spans.Row, hop []byte) {
	var opaque bool
	if row.TraceID, opaque = spans.ParseTraceID(row.Trace); !opaque {
		row.Trace = nil
	}
	if id := bytes.TrimSpace(rec.get(SpanKey).raw); len(id) > 0 {
		if row.Span, opaque = spans.ParseSpanID(id); opaque {
			row.SpanText = id
		}
	} else {
		row.Span, row.Ties = placeID(o.file, row.Offset), row.Ties|spans.LogLine
	}
	if id := bytes.TrimSpace(rec.get(ParentKey).raw); !noParent(id) {
		row.Parent, _ = spans.ParseSpanID(id)
	}
	if row.Retry {
		row.Ties |= spans.MarkedRetry
	}
	o.linkHop(rec, row, hop)
	row.Digest = hash64(hash64(0, o.key), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(row.Start)), uint64(row.Duration)))
	row.Host, row.Instance = o.host(nil), o.instance(o.spans, rec.instance())
	row.Stratum = o.stratum(rec.get(Stratum).raw)
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
func (o *output) hopName(rec *record, hop []byte) []byte {
	service, operation := hopParts(rec)
	if len(service) == 0 || len(operation) == 0 {
		return hop
	}
	switch o.fields.config.HopName {
	case "service":
		return service
	case "operation":
		return operation
	}
	o.key = append(append(append(o.key[:0], service...), ' '), operation...)
	return o.key
}

func hopParts(rec *record) (service, operation []byte) {
	return bytes.TrimSpace(rec.get(ServiceKey).raw), bytes.TrimSpace(rec.get(OperationKey).raw)
}

// linkHop is hopName for a record that is a span.
func (o *output) linkHop(rec *record, row *spans.Row, hop []byte) {
	service, operation := hopParts(rec)
	kind := spans.NoKind
	if v := rec.get(SpanKind); !v.empty() {
		kind = kindOf(v.raw)
	}
	o.key = append(append(append(append(append(append(o.key[:0], hop...), 0), service...), 0), operation...), 0, byte(kind))
	row.Hop = o.spans.SpanHop(o.key, func() spans.Hop {
		if len(service) == 0 || len(operation) == 0 {
			return spans.Hop{Name: string(hop), Service: string(service), Operation: string(operation), Kind: kind}
		}
		return o.fields.spanHop(string(service), string(operation), kind)
	})
}
