package trace

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/spans"
)

// decoder decodes chunks of JSON documents that hold traces, of whatever dialect:
// the keys of each value tell.
type decoder struct {
	spanReader
	readers []dialectReader
	// values reads a value of any dialect.
	values func(located) int

	nested []members // one for each level of documents in documents
	depth  int

	// ready is the context that was read last, and is still good; readyPartial is what
	// was wrong with it.
	ready        *context
	readyPartial *format.Fault
}

// dialectReader is a reader and its dialect.
type dialectReader struct {
	reader
	of *dialect
	// elements reads an element and rejects for itself.
	elements func(located) int
}

func newDecoder(s *format.Settings, c spans.Columns) *decoder {
	d := &decoder{}
	d.spanReader = newSpanReader(s, c)
	for _, of := range dialects {
		if of.read != nil {
			r := of.read(&d.spanReader)
			d.readers = append(d.readers, dialectReader{r, of, d.visiting(r.element)})
		}
	}
	d.values = d.visiting(d.value)
	return d
}

// readerOf returns what reads the elements of a dialect; for nil, what reads
// traces by their members.
func (d *decoder) readerOf(of *dialect) *dialectReader {
	return &d.readers[slices.IndexFunc(d.readers, func(r dialectReader) bool { return r.of == of || of == nil && r.trace != nil })]
}

func (d *decoder) Decode(c *format.Chunk, t *format.Tally, s format.Sink) {
	d.begin(c, t, s)
	d.depth = 0
	all, note := located{c.Data, 0}, fragmentOf(c)
	if note.context == nil {
		d.ready = nil
	}
	switch {
	case note.lines:
		d.lines(c)
	case note.context != nil:
		d.loneSpans(c, note.context)
	case note.of != nil:
		r := d.readerOf(note.of)
		all.sequence(d.element(c.Cut, r.elements, r.element), d.unexpected)
	default:
		all.sequence(d.element(c.Cut, d.values, d.value), d.unexpected)
	}
}

// lines decodes a document a line: a broken one is one reject.
func (d *decoder) lines(c *format.Chunk) {
	at := 0
	for line := range bytes.Lines(c.Data) {
		last := (c.Open || c.Cut) && at+len(line) == len(c.Data)
		d.line(line, at, last)
		at += len(line)
	}
}

func (d *decoder) line(line []byte, at int, last bool) {
	text := bytes.TrimLeft(line, jsonscan.Blanks)
	for bytes.HasPrefix(text, format.ByteOrderMark) {
		text = bytes.TrimLeft(text[len(format.ByteOrderMark):], jsonscan.Blanks)
	}
	v := located{bytes.TrimRight(text, jsonscan.Blanks), at + len(line) - len(text)}
	switch {
	case len(v.raw) == 0:
	case v.is() != '{' && v.is() != '[':
		d.reject(v.at, format.NewFault(format.Malformed, "the line is no JSON document").OtherLine())
	case d.fastLine(v):
	case last && jsonscan.Balanced(v.raw) == 0:
		d.cutShort(v, d.value)
	case jsonscan.Balanced(v.raw) != len(v.raw):
		d.reject(v.at, format.NewFault(format.Malformed, "the line is no JSON document"))
	default:
		d.values(v)
	}
}

// fastLine reads a line that is written as one of the dialects' writers does.
func (d *decoder) fastLine(v located) bool {
	for i := range d.readers {
		if fast := d.readers[i].fastLine; fast != nil && fast(v) {
			return true
		}
	}
	return false
}

// element returns what reads an element of a chunk, which the input may cut off.
func (d *decoder) element(cut bool, visit func(located) int, read func(located) (int, *format.Fault)) func(located) int {
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
func (d *decoder) cutShort(v located, read func(located) (int, *format.Fault)) {
	ends := cmp.Or(fragmentOf(d.where.chunk).ends, &inputEnds)
	if whole := repair(v.raw); whole != nil {
		d.partial = ends.before
		_, _ = read(located{whole, v.at}) // what it cannot use is in the reject below
		d.partial = nil
	}
	d.reject(v.at, ends.inside)
}

// loneSpans decodes spans out of one large element. A chunk without any stands
// for what is wrong with the rest of the element.
func (d *decoder) loneSpans(c *format.Chunk, of *context) {
	d.partial, d.rest = of.partial, of
	rest, r := located{of.text, 0}, d.readerOf(of.of)
	switch {
	case len(c.Data) > 0:
		if d.ready != of { // which is not so for the next spans of the element
			r.context(rest)
			d.ready, d.readyPartial = of, d.partial
		}
		d.partial, d.rest = d.readyPartial, nil
		located{c.Data, 0}.sequence(d.visiting(r.inContext), d.unexpected)
	case of.of != nil:
		d.ready = nil
		r.elements(rest)
	default:
		d.ready = nil
		d.values(rest)
	}
	d.partial, d.rest = nil, nil
}

// readMembers reads the members of v. After a fault, those before it are decoded, but
// spans whose process is not among them are not.
func (r *spanReader) readMembers(m *members, v located, known map[string]string) (n int, bad *format.Fault) {
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

// value decodes the value at the start of v by its keys: an answer, a trace, a
// span, OTLP.
func (d *decoder) value(v located) (n int, bad *format.Fault) {
	if d.depth == maxNesting {
		return 0, format.NewFault(format.Malformed, "nested too deep")
	}
	if v.is() == '[' {
		d.depth++
		n = v.each(d.values, d.unexpected)
		d.depth--
		return n, nil
	}
	for i := range d.readers {
		if fast := d.readers[i].fastValue; fast != nil {
			if n, ok := fast(v); ok {
				return n, nil
			}
		}
	}
	m := d.level()
	before := d.partial
	n, bad = d.readMembers(m, v, knownKeys)
	if bad == nil || len(m.names) > 0 {
		bad = cmp.Or(bad, d.known(v, m, bad != nil))
	}
	d.depth, d.partial = d.depth-1, before
	return n, bad
}

// level returns the members for the next level of nesting.
func (d *decoder) level() *members {
	for d.depth >= len(d.nested) {
		d.nested = append(d.nested, members{})
	}
	d.depth++
	return &d.nested[d.depth-1]
}

// known decodes a value whose members were read; broken tells that not all of
// them were.
func (d *decoder) known(v located, m *members, broken bool) *format.Fault {
	d.answerErrors(m)
	for _, name := range m.names {
		if means, known := meanings[name]; known && means.content == holdsValues {
			d.contents(m)
			return nil
		} else if known {
			return d.traceOrSpan(v, m, broken)
		}
	}
	switch {
	case d.isOtherSignal(m):
		d.tally.SkipBlank()
		d.tally.Odd[format.OtherSignals]++
		return nil
	case m.others == 0 && m.has("errors", "error"):
		return nil
	case len(m.names)+m.others == 0 && !broken:
		d.tally.SkipBlank() // an empty message of OTLP
		return nil
	}
	return format.NewFault(format.NotARecord, "neither a trace nor a span")
}

func (d *decoder) answerErrors(m *members) {
	for _, name := range [...]string{"errors", "error"} {
		if v, ok := m.get(name); ok && d.tally.AnswerErrors == "" {
			d.tally.AnswerErrors = format.ShownErrors(v.raw)
		}
	}
}

func (d *decoder) isOtherSignal(m *members) bool {
	return slices.ContainsFunc(d.readers, func(r dialectReader) bool { return m.has(r.of.otherSignals...) })
}

// contents decodes the members of a container, in their order.
func (d *decoder) contents(m *members) {
	for i, name := range m.names {
		v := m.values[i]
		switch means := meanings[name]; {
		case means.content != holdsValues:
		case means.elements != nil:
			v.each(d.readerOf(means.elements).elements, d.unexpected)
		case v.is() == '{' || v.is() == '[':
			d.values(v)
		}
	}
}

func (d *decoder) traceOrSpan(v located, m *members, broken bool) *format.Fault {
	for i := range d.readers {
		if r := &d.readers[i]; r.trace != nil && r.isTrace(m) {
			r.trace(m)
			return nil
		}
	}
	if broken {
		return nil // the fault is known
	}
	for i := range d.readers {
		if r := &d.readers[i]; r.isSpan != nil && r.isSpan(m) {
			_, bad := r.span(v)
			return bad
		}
	}
	return format.NewFault(format.NotARecord, "neither a trace nor a span")
}
