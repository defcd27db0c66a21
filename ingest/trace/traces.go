package trace

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// traceDecoder decodes chunks of JSON documents that hold traces, whatever
// their variant: the keys of each value tell.
type traceDecoder struct {
	spanReader
	jaeger *jaegerReader
	otlp   *otlpReader
	// resources and values read an element of each kind.
	resources, values func(located) int

	nested []parts // one for each level of documents in documents
	depth  int
}

func newTraceDecoder(f *format.Settings) *traceDecoder {
	d := &traceDecoder{}
	d.spanReader = newSpanReader(f)
	d.jaeger = newJaegerReader(&d.spanReader)
	d.otlp = newOTLPReader(&d.spanReader)
	d.resources = d.visiting(d.otlp.resourceSpans)
	d.values = d.visiting(d.value)
	return d
}

func (d *traceDecoder) Decode(c *format.Chunk, t *format.Tally, s format.Sink) {
	d.begin(c, t, s)
	d.depth = 0
	switch all, note := (located{c.Data, 0}), fragmentOf(c); note.piece {
	case documentLines:
		d.lines(c)
	case loneSpans:
		d.loneSpans(c, note.context)
	case resourceSpans:
		all.sequence(d.element(c.Cut, d.resources, d.otlp.resourceSpans), d.stray)
	default:
		all.sequence(d.element(c.Cut, d.values, d.value), d.stray)
	}
}

// lines decodes a document a line: a broken one is one reject.
func (d *traceDecoder) lines(c *format.Chunk) {
	at := 0
	for line := range bytes.Lines(c.Data) {
		last := (c.Open || c.Cut) && at+len(line) == len(c.Data)
		d.line(line, at, last, c.File)
		at += len(line)
	}
}

func (d *traceDecoder) line(line []byte, at int, last bool, f *format.File) {
	text := bytes.TrimLeft(line, jsonscan.Blanks)
	for bytes.HasPrefix(text, format.ByteOrderMark) {
		text = bytes.TrimLeft(text[len(format.ByteOrderMark):], jsonscan.Blanks)
	}
	v := located{bytes.TrimRight(text, jsonscan.Blanks), at + len(line) - len(text)}
	switch {
	case f.TooLong(line):
		d.reject(v.at, format.TooLong(line))
	case len(v.raw) == 0:
	case v.is() != '{' && v.is() != '[':
		d.reject(v.at, format.NewFault(format.Malformed, "the line is no JSON document"))
	case d.otlp.wholeLine(v):
	case last && jsonscan.Balanced(v.raw) == 0:
		d.cutShort(v, d.value)
	case jsonscan.Balanced(v.raw) != len(v.raw):
		d.reject(v.at, format.NewFault(format.Malformed, "the line is no JSON document"))
	default:
		d.values(v)
	}
}

// element returns what reads an element of a chunk, which the input may cut off.
func (d *traceDecoder) element(cut bool, visit func(located) int, read func(located) (int, *format.Fault)) func(located) int {
	if !cut {
		return visit
	}
	return func(v located) int {
		if n := jsonscan.Balanced(v.raw); n > 0 {
			visit(v)
			return n
		}
		d.cutShort(v, read)
		return len(v.raw)
	}
}

// cutShort reads an element that the input cuts off: the spans before the cut
// are whole.
func (d *traceDecoder) cutShort(v located, read func(located) (int, *format.Fault)) {
	if whole := mend(v.raw); whole != nil {
		d.partial = endsBefore
		_, _ = read(located{whole, v.at}) // what it cannot use is in the reject below
		d.partial = nil
	}
	d.reject(v.at, endsInside)
}

// loneSpans decodes spans out of one large element. A chunk without any stands
// for what is wrong with the rest of the element.
func (d *traceDecoder) loneSpans(c *format.Chunk, of *context) {
	d.partial, d.rest = of.partial, of
	rest := located{of.text, 0}
	switch {
	case len(c.Data) > 0:
		read := d.contextOf(rest, of.kind)
		d.rest = nil
		located{c.Data, 0}.sequence(d.visiting(read), d.stray)
	case of.kind == resourceSpans:
		d.resources(rest)
	default:
		d.values(rest)
	}
	d.partial, d.rest = nil, nil
}

// contextOf reads what the spans of an element refer to, and returns what reads
// them.
func (d *traceDecoder) contextOf(v located, kind piece) (read func(located) (int, *format.Fault)) {
	if kind == resourceSpans {
		d.otlp.context(v)
		return d.otlp.span
	}
	var m parts
	d.parts(&m, v, valueParts)
	d.jaeger.context(&m)
	return d.jaeger.span
}

// parts reads the members of v. After a fault, those before it are decoded, but
// spans whose process is not among them are not.
func (r *spanReader) parts(m *parts, v located, known map[string]string) (n int, bad *format.Fault) {
	n, err := m.read(v, known)
	if err == nil {
		return n, nil
	}
	bad = r.fault(err, v.at)
	if r.partial == nil {
		r.partial = bad
	}
	return n, bad
}

// valueParts are the keys that tell what a value is.
var valueParts = keySet(
	"data", "result", "resourceSpans", "resource_spans", "errors", "error",
	"spans", "processes", "traceID", "spanID", "traceId", "spanId", "trace_id", "span_id",
	"processMap", "process_map", "process",
	"resourceMetrics", "resource_metrics", "resourceLogs", "resource_logs",
)

// value decodes the value at the start of v by its keys: an answer, a trace, a
// span, OTLP.
func (d *traceDecoder) value(v located) (n int, bad *format.Fault) {
	if d.depth == maxNesting {
		return 0, format.NewFault(format.Malformed, "nested too deep")
	}
	if v.is() == '[' {
		d.depth++
		n = v.each(d.values, d.stray)
		d.depth--
		return n, nil
	}
	if n, ok := d.jaeger.wholeTrace(v); ok {
		return n, nil
	}
	m := d.level()
	before := d.partial
	n, bad = d.parts(m, v, valueParts)
	if bad == nil || len(m.names) > 0 {
		bad = firstFault(bad, d.known(v, m, bad != nil))
	}
	d.depth, d.partial = d.depth-1, before
	return n, bad
}

func firstFault(faults ...*format.Fault) *format.Fault {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// level returns the members for the next level of nesting.
func (d *traceDecoder) level() *parts {
	for d.depth >= len(d.nested) {
		d.nested = append(d.nested, parts{})
	}
	d.depth++
	return &d.nested[d.depth-1]
}

// known decodes a value whose members were read; broken tells that not all of
// them were.
func (d *traceDecoder) known(v located, m *parts, broken bool) *format.Fault {
	d.answerErrors(m)
	for _, name := range m.names {
		if is, known := tells(name); known && is == holdsValues {
			d.members(m)
			return nil
		} else if known {
			return d.traceOrSpan(v, m, broken)
		}
	}
	switch {
	case m.has("resourceMetrics", "resource_metrics", "resourceLogs", "resource_logs"):
		d.tally.SkipBlank()
		d.tally.OtherSignals++
		return nil
	case m.others == 0 && m.has("errors", "error"):
		return nil
	case len(m.names)+m.others == 0 && !broken:
		d.tally.SkipBlank() // an empty message of OTLP
		return nil
	}
	return format.NewFault(format.NotARecord, "neither a trace nor a span")
}

func (d *traceDecoder) answerErrors(m *parts) {
	for _, name := range [...]string{"errors", "error"} {
		if v, ok := m.get(name); ok && d.tally.AnswerErrors == "" {
			d.tally.AnswerErrors = format.ShownErrors(v.raw)
		}
	}
}

// members decodes the members of a container, in their order.
func (d *traceDecoder) members(m *parts) {
	for i, name := range m.names {
		v := m.values[i]
		switch name {
		case "data", "result":
			if c := v.is(); c == '{' || c == '[' {
				d.values(v)
			}
		case "resourceSpans", "resource_spans":
			v.each(d.resources, d.stray)
		}
	}
}

func (d *traceDecoder) traceOrSpan(v located, m *parts, broken bool) *format.Fault {
	switch {
	case m.has("spans"):
		d.jaeger.trace(m)
		return nil
	case broken:
		return nil // the fault is known
	case m.has("spanID", "spanId", "span_id"):
		d.jaeger.context(&parts{})
		_, bad := d.jaeger.span(v)
		return bad
	}
	return format.NewFault(format.NotARecord, "neither a trace nor a span")
}
