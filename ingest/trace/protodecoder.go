package trace

import (
	"errors"
	"io"

	"github.com/jaegertracing/jaeger-idl/model/v1"
	"github.com/tailscope/tailscope/ingest/format"
)

// protoDecoder decodes chunks of protobuf messages.
type protoDecoder struct {
	spanReader
	model modelReader
	span  model.Span
}

func newProtoDecoder(f *format.Settings) *protoDecoder {
	d := &protoDecoder{spanReader: newSpanReader(f)}
	d.model.spanReader = &d.spanReader
	return d
}

func (d *protoDecoder) Decode(c *format.Chunk, t *format.Tally, s format.Sink) {
	d.begin(c, t, s)
	d.partial = fragmentOf(c).partial
	d.model.forget()
	_ = eachField(c.Data, func(f wireField, at int) {
		if f.number == fieldProcess && f.bytes {
			d.process(c.Data[at+f.header : at+f.size])
		}
	})
	err := eachField(c.Data, func(f wireField, at int) {
		if f.number == fieldSpan {
			d.reject(at, d.read(c.Data[at+f.header:at+f.size], at))
		}
	})
	d.rest(c, err)
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
		d.model.add(entry.ProcessID, processOf(&entry.Process))
	}
	var whole model.Process
	if err := whole.Unmarshal(b); err == nil {
		d.model.batch = processOf(&whole)
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
