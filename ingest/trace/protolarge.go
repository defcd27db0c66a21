package trace

import (
	"bytes"
	"errors"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/spill"
)

// largeMessage is a message of protobuf that is too large to be held until its
// processes come, at its end. As with JSON its spans go to a temporary file, and come
// back together with the processes.
type largeMessage struct {
	messages  *messages
	file      *spill.File
	pending   bytes.Buffer // fields, not yet in the file
	first     format.Place // of pending
	blocks    []block
	processes processFields
}

// processFields are the fields of a large message that its spans refer to.
type processFields struct {
	text []byte
	// partial says why some may be missing, nil if none is.
	partial *format.Fault
}

var processLeftOut = format.NewFault(format.LineTooLong, "the process of the span is among those left out: see --max-line")

// takeApart reads the message at hand into a largeMessage.
func (m *messages) takeApart() error {
	l := &largeMessage{messages: m, file: spill.New(m.File.TempDir, "spans")}
	m.large = l
	if err := l.read(); err != nil {
		return errors.Join(err, l.close())
	}
	return nil
}

// close gives the file back; it may be called again, and for no message.
func (l *largeMessage) close() error {
	if l == nil {
		return nil
	}
	l.messages.large = nil
	return l.file.Close()
}

// read takes field after field, to the end of the message or of what can be read.
func (l *largeMessage) read() error {
	m := l.messages
	var run fieldRun
	for {
		f, err := m.field(0)
		switch {
		case errors.Is(err, io.EOF) || err == nil && run.endsBefore(f):
			return l.flush()
		case err != nil || f.size <= m.File.MaxLine && !m.AtLeast(f.size):
			l.processes.partial = endsBefore
			return l.flush()
		}
		run.spans, run.last = run.spans || f.number == fieldSpan, f.number
		if err := l.take(f); err != nil {
			return err
		}
	}
}

// take takes a field over.
func (l *largeMessage) take(f wireField) error {
	m := l.messages
	switch {
	case f.size > m.File.MaxLine:
		return l.leaveOut(f)
	case f.number == fieldProcess:
		return l.keep(f)
	}
	if l.pending.Len() == 0 {
		l.first = m.Place
	}
	l.pending.Write(m.Ahead()[:f.size])
	m.Skip(f.size)
	if l.pending.Len() < m.Size {
		return nil
	}
	return l.flush()
}

// keep keeps a process, as far as there is room.
func (l *largeMessage) keep(f wireField) error {
	m := l.messages
	if len(l.processes.text)+f.size > m.File.MaxLine {
		l.processes.partial = processLeftOut
	} else {
		l.processes.text = append(l.processes.text, m.Ahead()[:f.size]...)
	}
	err := l.flush()
	m.Skip(f.size)
	return err
}

// leaveOut leaves out a field that is too long to hold.
func (l *largeMessage) leaveOut(f wireField) error {
	err := l.flush()
	b := block{Place: l.messages.Place, bad: format.Overlong("field", int64(f.size))}
	if !l.messages.pass(f.size) {
		b.bad = endsInside
	}
	if f.number == fieldProcess {
		l.processes.partial = processLeftOut
	}
	l.blocks = append(l.blocks, b)
	return err
}

// flush moves what waits to the file.
func (l *largeMessage) flush() error {
	if l.pending.Len() == 0 {
		return nil
	}
	piece, err := l.file.Write(l.pending.Bytes())
	l.blocks = append(l.blocks, block{Place: l.first, spans: piece})
	l.pending.Reset()
	return err
}

// next hands out what was taken over, block by block; nil after the last.
func (l *largeMessage) next() (*format.Chunk, error) {
	if len(l.blocks) == 0 {
		return nil, l.close()
	}
	b := l.blocks[0]
	l.blocks = l.blocks[1:]
	c := l.messages.ChunkAt(format.Place{Line: 1, Offset: b.Offset}, &fragment{binary: true, processes: &l.processes})
	if c.Bad = b.bad; c.Bad != nil {
		return c, nil
	}
	c.Data = make([]byte, b.spans.Size())
	if err := l.file.Read(b.spans, c.Data); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return c, nil
}
