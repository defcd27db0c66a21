package trace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jaegertracing/jaeger-idl/model/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// Jaeger's protobuf: a Trace, a Batch and a SpansResponseChunk all have their
// spans in field 1; field 2 is a trace's process table or a batch's process.
const (
	fieldSpan    = 1
	fieldProcess = 2 // of a trace: one entry of its table
)

// Fields of a span.
const (
	spanDuration = 7
	spanProcess  = 10
)

// protobuf is Jaeger's protobuf.
var protobuf = &format.Format{
	Name: "jaeger-proto",
	Sniff: func(*format.Head, *format.Settings) format.Sniffed {
		return format.Sniffed{Why: "protobuf has no marks: it is read with --input-format jaeger-proto only"}
	},
	Open: func(f *format.File, _ *format.Settings) (format.Chunker, error) {
		m := &messages{Window: format.NewWindow(f, f.Head), most: min(f.MaxLine, cmp.Or(f.Sizes.Element, largeElement))}
		f.OnClose(func() error { return m.large.close() })
		return m, nil
	},
	NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newProtoDecoder(s, c) },
	Binary:     true,
}

// messages cuts a stream of protobuf messages, one after the other or each in
// the frame of gRPC, into chunks of whole fields. Messages have no end of their
// own: a span after a process starts the next. A message of spans that have
// their process inside is streamed; one with its processes at its end is held, and
// taken apart where it is large.
type messages struct {
	format.Window
	most  int           // bytes of a message that are held
	large *largeMessage // whose spans wait, nil for none
}

// Next returns the next chunk, io.EOF after the last. A fault of the temporary file
// ends the input, as one of the input itself does.
func (m *messages) Next() (*format.Chunk, error) {
	for {
		c, err := m.move()
		if c != nil {
			return c, nil
		}
		if err != nil {
			m.File.Fail(err)
			m.Ended = true
		}
		if m.Ended && m.large == nil {
			return nil, io.EOF
		}
	}
}

// move takes one step; not every one gives a chunk.
func (m *messages) move() (*format.Chunk, error) {
	switch {
	case m.large != nil:
		return m.large.next()
	case m.Ended:
		return nil, nil
	}
	first, ok := m.Peek()
	switch {
	case !ok:
		m.End()
		return nil, nil
	case first <= 1: // no field has the number 0
		return m.frame(), nil
	}
	return m.message()
}

// frame cuts off one frame of gRPC: a flag, a length of four bytes, a message.
func (m *messages) frame() *format.Chunk {
	const header = 5
	if !m.AtLeast(header) {
		return m.cut()
	}
	compressed := m.Ahead()[0] == 1
	n := int(binary.BigEndian.Uint32(m.Ahead()[1:]))
	switch {
	case n > m.File.MaxLine:
		return m.overlong("message", header+n)
	case n == 0:
		m.Skip(header)
		return nil
	}
	whole := m.AtLeast(header + n)
	m.Skip(header)
	c := m.chunk(min(n, len(m.Ahead())))
	if c.Cut = !whole; c.Cut {
		fragmentOf(c).partial = endsBefore
	}
	if compressed {
		inflate(c)
	}
	return c
}

// inflate undoes the compression of a message.
func inflate(c *format.Chunk) {
	fragmentOf(c).apart = true
	z, err := gzip.NewReader(bytes.NewReader(c.Data))
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(z, int64(c.File.MaxLine)+1))
	}
	switch {
	case err != nil && !c.Cut:
		c.Bad = format.NewFault(format.Malformed, "a compressed message: "+err.Error())
	case len(data) > c.File.MaxLine:
		c.Bad = format.Overlong("message", int64(len(data)))
	}
	c.Data = data
}

// message collects fields until a chunk is full or the message ends.
func (m *messages) message() (*format.Chunk, error) {
	var run fieldRun
	for {
		f, err := m.field(run.size)
		switch {
		case err == nil && run.endsBefore(f):
			return m.chunk(run.size), nil
		case err == nil && run.size > 0 && run.size+f.size > m.most:
			return m.tooLarge(&run)
		case err != nil || f.size > m.File.MaxLine || !m.AtLeast(run.size+f.size):
			return m.stopped(run.size, f, err), nil
		}
		run.add(f, m.Ahead()[run.size:])
		if run.size >= m.Size && run.inline && f.number == fieldSpan {
			return m.chunk(run.size), nil
		}
	}
}

// tooLarge deals with a message of which no more is held.
func (m *messages) tooLarge(run *fieldRun) (*format.Chunk, error) {
	if run.inline {
		return m.chunk(run.size), nil
	}
	return nil, m.takeApart()
}

// fieldRun is fields of one message, one after the other.
type fieldRun struct {
	size   int
	last   int  // number of the last one
	spans  bool // there was one
	inline bool // all spans have their process inside
}

// endsBefore reports whether f starts the next message.
func (r *fieldRun) endsBefore(f wireField) bool {
	return r.spans && f.number == fieldSpan && r.last > fieldSpan
}

func (r *fieldRun) add(f wireField, at []byte) {
	if f.number == fieldSpan {
		r.inline = (r.inline || !r.spans) && f.bytes && hasField(at[f.header:f.size], spanProcess)
		r.spans = true
	}
	r.size, r.last = r.size+f.size, f.number
}

// stopped is what comes of n bytes of fields before one that is not there, not
// whole, or too long.
func (m *messages) stopped(n int, f wireField, err error) *format.Chunk {
	switch {
	case n > 0 && errors.Is(err, io.EOF) && errors.Is(m.Err, io.EOF):
		return m.chunk(n) // after an error of the stream the process may be missing
	case n > 0:
		return m.partial(n, endsBefore)
	case err == nil && f.size > m.File.MaxLine:
		return m.overlong("field", f.size)
	}
	return m.broken(err)
}

// partial is a chunk of spans whose processes are not known.
func (m *messages) partial(n int, why *format.Fault) *format.Chunk {
	c := m.chunk(n)
	fragmentOf(c).partial = why
	return c
}

// broken is the end of what can be read: a field that the input cuts off, or
// bytes that are none, after which no other can be found.
func (m *messages) broken(err error) *format.Chunk {
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return m.cut()
	}
	c := m.chunk(0)
	c.Bad = format.NewFault(format.Malformed, err.Error())
	m.File.Fail(fmt.Errorf("at byte %d: %w", m.Offset, err))
	m.Ended = true
	return c
}

// cut is a field or a frame that the input cuts off.
func (m *messages) cut() *format.Chunk {
	c := m.chunk(0)
	c.Bad = endsInside
	m.SkipAll()
	return c
}

// overlong leaves out the next n bytes.
func (m *messages) overlong(what string, n int) *format.Chunk {
	c := m.chunk(0)
	if c.Bad = format.Overlong(what, int64(n)); !m.pass(n) {
		c.Bad = endsInside
	}
	return c
}

// pass moves past n bytes without holding them; false where the input ends before.
func (m *messages) pass(n int) bool {
	return m.Pass(func(b []byte) (int, bool) {
		step := min(n, len(b))
		n -= step
		return step, n == 0
	})
}

// chunk cuts off the next n bytes. A binary input has no lines: all is on its
// first.
func (m *messages) chunk(n int) *format.Chunk {
	c := m.Window.Chunk(n, &fragment{binary: true})
	c.Line = 1
	return c
}

// field reads the field at from; its content may not be there yet.
func (m *messages) field(from int) (wireField, error) {
	m.AtLeast(from + 2*binary.MaxVarintLen64)
	return readField(m.Ahead()[from:])
}

// wireField is one field of a message.
type wireField struct {
	number       int
	bytes        bool // the content is a text or a message
	header, size int  // of what stands before the content, and of all
}

var errNotField = errors.New("no field of a protobuf message")

// readField reads the head of the field at the start of b: io.EOF where b is
// empty, io.ErrUnexpectedEOF where b ends inside it.
func readField(b []byte) (f wireField, err error) {
	if len(b) == 0 {
		return f, io.EOF
	}
	tag, n, err := readVarint(b)
	if number := tag >> 3; err == nil && (number == 0 || number >= 1<<29) {
		err = errNotField
	}
	if err != nil {
		return f, err
	}
	f.number, f.header = int(tag>>3), n
	content, err := f.content(tag&7, b[n:])
	f.size = f.header + content
	return f, err
}

// content returns the length of the content, of which b starts with the first
// byte or with a length.
func (f *wireField) content(wireType uint64, b []byte) (length int, err error) {
	switch wireType {
	case 0:
		_, n, err := readVarint(b)
		return n, err
	case 1:
		return 8, nil
	case 2:
		length, n, err := readVarint(b)
		if err == nil && length > maxField {
			err = errNotField
		}
		f.bytes, f.header = true, f.header+n
		return int(min(length, maxField)), err
	case 5:
		return 4, nil
	}
	return 0, errNotField
}

// maxField is the longest content that protobuf allows.
const maxField = 1<<31 - 1

func readVarint(b []byte) (v uint64, n int, err error) {
	switch v, n = binary.Uvarint(b); {
	case n == 0:
		err = io.ErrUnexpectedEOF
	case n < 0:
		n, err = 0, errNotField
	}
	return v, n, err
}

// hasField reports whether a message has a field of that number.
func hasField(b []byte, number int) bool {
	found := false
	_ = eachField(b, func(f wireField, _ int) { found = found || f.number == number })
	return found
}

// eachField calls visit for each field of a message and its place.
func eachField(b []byte, visit func(f wireField, at int)) error {
	for at := 0; at < len(b); {
		f, err := readField(b[at:])
		if err == nil && at+f.size > len(b) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return &brokenField{at, err}
		}
		visit(f, at)
		at += f.size
	}
	return nil
}

// brokenField is a fault of a message and its place.
type brokenField struct {
	at  int
	err error
}

func (e *brokenField) Error() string { return e.err.Error() }

// protoDecoder decodes chunks of protobuf messages.
type protoDecoder struct {
	spanReader
	model modelReader
	span  model.Span
	// ready are the processes of a large message that were read last, and readyPartial
	// what was wrong with them.
	ready        *processFields
	readyPartial *format.Fault
}

func newProtoDecoder(f *format.Settings, c spans.Columns) *protoDecoder {
	d := &protoDecoder{spanReader: newSpanReader(f, c)}
	d.model.spanReader = &d.spanReader
	return d
}

func (d *protoDecoder) Decode(c *format.Chunk, t *format.Tally, s format.Sink) {
	d.begin(c, t, s)
	d.processes(c)
	err := eachField(c.Data, func(f wireField, at int) {
		if f.number == fieldSpan {
			d.reject(at, d.read(c.Data[at+f.header:at+f.size], at))
		}
	})
	d.rest(c, err)
}

// processes reads the processes of the spans of a chunk: those in it, or of a large
// message those that came at its end, once for all its chunks.
func (d *protoDecoder) processes(c *format.Chunk) {
	note, from := fragmentOf(c), c.Data
	d.partial = note.partial
	if of := note.processes; of != nil {
		if d.partial, from = of.partial, of.text; d.ready == of {
			d.partial = d.readyPartial
			return
		}
	}
	d.model.forget()
	_ = eachField(from, func(f wireField, at int) {
		if f.number == fieldProcess && f.bytes {
			d.process(from[at+f.header : at+f.size])
		}
	})
	d.ready, d.readyPartial = note.processes, d.partial
}

// rest is what cannot be read at the end of a chunk.
func (d *protoDecoder) rest(c *format.Chunk, err error) {
	var broken *brokenField
	switch isBroken := errors.As(err, &broken); {
	case isBroken && !(c.Cut && errors.Is(broken.err, io.ErrUnexpectedEOF)):
		d.reject(broken.at, format.NewFault(format.Malformed, broken.Error()))
	case isBroken:
		d.reject(broken.at, endsInside)
	case c.Cut:
		d.reject(len(c.Data), endsInside)
	}
}

// process reads field 2: an entry of a process table, or the process of a batch.
// Both have a text and then messages, and which it is tells only whether spans
// name it, so that it is read as both.
func (d *protoDecoder) process(b []byte) {
	var entry model.Trace_ProcessMapping
	isEntry := entry.Unmarshal(b) == nil
	if isEntry {
		d.model.add(entry.ProcessID, d.model.processOf(&entry.Process))
	}
	var whole model.Process
	if err := whole.Unmarshal(b); err == nil {
		d.model.batch = d.model.processOf(&whole)
	} else if !isEntry && d.partial == nil {
		d.partial = format.NewFault(format.Malformed, "process: "+err.Error())
	}
}

// read reads one span.
func (d *protoDecoder) read(b []byte, at int) *format.Fault {
	d.span = model.Span{}
	if err := d.span.Unmarshal(b); err != nil {
		return format.NewFault(format.Malformed, err.Error())
	}
	return d.model.read(&d.span, hasField(b, spanDuration), at)
}
