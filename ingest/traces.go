package ingest

import (
	"bytes"

	"github.com/tailscope/tailscope/spans"
)

// traceDecoder decodes chunks of JSON documents that hold traces, whatever
// their variant: the keys of each value tell.
type traceDecoder struct {
	spanReader
	jaeger jaegerReader
	otlp   otlpReader
	nested []parts // one for each level of documents in documents
	depth  int
}

func newTraceDecoder(f *Fields) *traceDecoder {
	d := &traceDecoder{}
	d.tags, d.rules = newKeyCache(f.tags), f.rules
	d.jaeger = jaegerReader{spanReader: &d.spanReader, processes: map[string]process{}}
	d.otlp = otlpReader{spanReader: &d.spanReader}
	return d
}

func (d *traceDecoder) decode(c *Chunk, t *Tally, s sink) {
	d.tally, d.sink, d.where, d.depth = t, s, newCursor(c), 0
	if c.bad != nil {
		t.reject(c.Line, c.Offset, c.bad)
		return
	}
	all := located{c.Data, 0}
	switch c.piece {
	case documentLines:
		d.lines(c)
	case loneSpans:
		d.loneSpans(c)
	case resourceSpans:
		d.junk(all.sequence(func(v located) { d.element(c, v, d.otlp.resourceSpans, otlpSpanDepth) }))
	default:
		d.junk(all.sequence(func(v located) { d.element(c, v, d.value, jaegerSpanDepth) }))
	}
}

// lines decodes a document a line: a broken one is one reject.
func (d *traceDecoder) lines(c *Chunk) {
	at := 0
	for line := range bytes.Lines(c.Data) {
		v := located{bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark)), at}
		last := c.Open && at+len(line) == len(c.Data)
		at += len(line)
		switch {
		case len(v.raw) == 0:
		case last && balanced(v.raw) == 0:
			d.reject(v.at, &fault{Incomplete, "the input ends inside the record"})
		case balanced(v.raw) != len(v.raw):
			d.reject(v.at, &fault{Malformed, "the line is no JSON document"})
		default:
			d.reject(v.at, d.value(v))
		}
	}
}

// junk counts what stands between elements and is none.
func (d *traceDecoder) junk(n int) {
	if n > 0 {
		d.reject(0, &fault{Malformed, "bytes between the records that are no record"})
	}
}

// How deep spans lie in an element: {"spans":[{ and {"scopeSpans":[{"spans":[{.
const (
	jaegerSpanDepth = 2
	otlpSpanDepth   = 4
)

// element decodes one element of a chunk. Of one that the input cuts off, the
// spans before the cut are whole.
func (d *traceDecoder) element(c *Chunk, v located, decode func(located) *fault, spanDepth int) {
	if !c.Cut || balanced(v.raw) > 0 {
		d.reject(v.at, decode(v))
		return
	}
	if whole := mend(v.raw, spanDepth); whole != nil {
		_ = decode(located{whole, v.at}) // what it cannot use is in the reject below
	}
	d.reject(v.at, &fault{Incomplete, "the input ends inside the record"})
}

// mend cuts an unfinished element back to its last whole span and closes its
// brackets; nil if it has none.
func mend(raw []byte, spanDepth int) []byte {
	var open, kept []byte
	end := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			n := stringEnd(raw[i:])
			if n == 0 {
				i = len(raw)
			}
			i += n - 1
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			if len(open) == 0 {
				return nil
			}
			open = open[:len(open)-1]
			if c == '}' && len(open) == spanDepth {
				end, kept = i+1, append(kept[:0], open...)
			}
		}
	}
	if end == 0 {
		return nil
	}
	whole := append([]byte(nil), raw[:end]...)
	for i := len(kept) - 1; i >= 0; i-- {
		whole = append(whole, kept[i]+2) // { and }, [ and ] lie two apart
	}
	return whole
}

// loneSpans decodes spans out of one large element.
func (d *traceDecoder) loneSpans(c *Chunk) {
	spans, context := located{c.Data, 0}, located{c.context, 0}
	if c.contextKind == resourceSpans {
		if bad := d.otlp.context(context); bad != nil {
			d.reject(0, bad)
			return
		}
		spans.sequence(func(v located) { d.reject(v.at, d.otlp.span(v)) })
		return
	}
	var m parts
	if err := m.read(context, valueParts); err != nil {
		d.reject(0, jsonFault(err, false))
		return
	}
	if bad := d.jaeger.context(&m); bad != nil {
		d.reject(0, bad)
		return
	}
	spans.sequence(func(v located) { d.reject(v.at, d.jaeger.span(v)) })
}

// valueParts are the keys that tell what a value is.
var valueParts = map[string]bool{
	"data": true, "result": true, "resourceSpans": true, "resource_spans": true, "errors": true,
	"spans": true, "processes": true, "traceID": true, "spanID": true, "operationName": true,
	"resourceMetrics": true, "resource_metrics": true, "resourceLogs": true, "resource_logs": true,
}

// value decodes a value by its keys: an answer, a trace, a span, OTLP.
func (d *traceDecoder) value(v located) *fault {
	if v.raw[0] == '[' {
		v.each(func(e located) { d.reject(e.at, d.value(e)) })
		return nil
	}
	m := d.level()
	defer func() { d.depth-- }()
	if err := m.read(v, valueParts); err != nil {
		return jsonFault(err, false)
	}
	return d.known(v, m)
}

// level returns the members for the next level of nesting.
func (d *traceDecoder) level() *parts {
	if d.depth == len(d.nested) {
		d.nested = append(d.nested, parts{})
	}
	d.depth++
	return &d.nested[d.depth-1]
}

func (d *traceDecoder) known(v located, m *parts) *fault {
	if list, ok := m.get("errors"); ok && len(list.raw) > 2 && d.tally.AnswerErrors == "" && list.raw[0] == '[' {
		d.tally.AnswerErrors = string(list.raw)
	}
	for _, name := range [...]string{"data", "result"} {
		if inner, ok := m.get(name); ok {
			return d.inner(inner)
		}
	}
	for _, name := range [...]string{"resourceSpans", "resource_spans"} {
		if array, ok := m.get(name); ok {
			array.each(func(e located) { d.reject(e.at, d.otlp.resourceSpans(e)) })
			return nil
		}
	}
	switch {
	case m.has("resourceMetrics", "resource_metrics", "resourceLogs", "resource_logs"):
		d.tally.blank()
		d.tally.OtherSignals++
		return nil
	case m.has("spans"):
		return d.jaeger.trace(m)
	case m.has("spanID"):
		clear(d.jaeger.processes)
		d.jaeger.traceID = nil
		return d.jaeger.span(v)
	}
	return &fault{NotARecord, "neither a trace nor a span"}
}

// inner is the value of data or result; null holds nothing.
func (d *traceDecoder) inner(v located) *fault {
	if c := v.raw[0]; c != '{' && c != '[' {
		return nil
	}
	return d.value(v)
}

// spanHop names a hop of a trace.
func (f *Fields) spanHop(service, operation string, kind spans.Kind) spans.Hop {
	h := spans.Hop{Service: service, Operation: operation, Kind: kind}
	switch f.config.HopName {
	case "service":
		h.Name = service
	case "operation":
		h.Name = operation
	default:
		h.Name = service + " " + operation
	}
	return h
}
