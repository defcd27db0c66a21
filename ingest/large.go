package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// A trace of a million spans is a gigabyte of text, and the names of its
// services may stand at its very end. Such an element is taken apart in one
// pass: its spans go to a temporary file, the rest is kept, and then the spans
// come back in chunks together with the rest.

// spool holds the spans of one large element.
type spool struct {
	documents *documents
	kind      piece
	start     place
	file      *os.File
	pending   bytes.Buffer // spans not yet in the file
	first     place        // of pending
	blocks    []block

	rest    bytes.Buffer // the element without its spans
	open    []byte       // brackets of rest that are open
	key     string       // of the value that comes next
	wantKey bool
}

// place is a place in the input.
type place struct{ line, offset int64 }

// block is a run of spans in the temporary file.
type block struct {
	place
	length int
}

// takeApart reads the large element at hand into a spool.
func (d *documents) takeApart(kind piece) error {
	file, err := os.CreateTemp(d.file.tempDir, "tailscope-*.json")
	if err != nil {
		return err
	}
	// Without a name the file is gone with the process, however that ends.
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	s := &spool{documents: d, kind: kind, start: place{d.line, d.offset}, file: file}
	d.spool = s
	if err := s.read(); err != nil {
		return errors.Join(err, s.close())
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

func (s *spool) close() error {
	s.documents.spool = nil
	return s.file.Close()
}

// read walks through the element token by token.
func (s *spool) read() error {
	for first := true; first || len(s.open) > 0; first = false {
		s.documents.space()
		c, ok := s.documents.peek()
		if ok && s.rest.Len() <= s.documents.file.maxLine {
			ok = s.token(c)
		} else {
			ok = false
		}
		if !ok {
			s.mend()
			break
		}
	}
	return s.flush()
}

// token takes the bracket, the separator or the value that starts with c; false
// where the input ends inside it.
func (s *spool) token(c byte) bool {
	switch {
	case c == '[' && s.key == "spans":
		s.key = ""
		return s.spans() == nil
	case c == '{' || c == '[':
		s.open = append(s.open, c)
		s.wantKey, s.key = c == '{', ""
		s.keep(1)
	case c == '}' || c == ']':
		s.open = s.open[:len(s.open)-1]
		s.wantKey, s.key = false, ""
		s.keep(1)
	case c == ',':
		s.wantKey = len(s.open) > 0 && s.open[len(s.open)-1] == '{'
		s.keep(1)
	case c == ':':
		s.keep(1)
	default:
		return s.scalar()
	}
	return true
}

// keep takes the next n bytes over into the rest.
func (s *spool) keep(n int) {
	s.rest.Write(s.documents.ahead()[:n])
	s.documents.skip(n)
}

func (s *spool) scalar() bool {
	text, ok := s.documents.value()
	if !ok {
		return false
	}
	s.key = ""
	if s.wantKey && text[0] == '"' {
		s.key = string(unescape(text))
	}
	s.wantKey = false
	s.rest.Write(text)
	return true
}

// spans moves the elements of an array of spans to the file.
func (s *spool) spans() error {
	s.rest.WriteString("[]")
	d := s.documents
	d.skip(1)
	for {
		d.space()
		c, ok := d.peek()
		switch {
		case !ok:
			return io.ErrUnexpectedEOF
		case c == ']':
			d.skip(1)
			return nil
		case c != '{':
			d.skip(1)
		default:
			if err := s.span(); err != nil {
				return err
			}
		}
	}
}

// span moves one span; the distances to the one before stay as in the input, so
// that places come out right.
func (s *spool) span() error {
	d := s.documents
	end, state := d.element(0)
	if state != elementWhole {
		d.skip(len(d.ahead()))
		return io.ErrUnexpectedEOF
	}
	if s.pending.Len() == 0 {
		s.first = place{d.line, d.offset}
	} else {
		s.pad()
	}
	s.pending.Write(d.ahead()[:end])
	d.skip(end)
	if s.pending.Len() >= d.size {
		return s.flush()
	}
	return nil
}

func (s *spool) pad() {
	d := s.documents
	lines := int(d.line-s.first.line) - bytes.Count(s.pending.Bytes(), newline)
	blanks := int(d.offset-s.first.offset) - s.pending.Len() - lines - 1
	s.pending.WriteByte(',')
	s.pending.Write(bytes.Repeat([]byte{' '}, max(0, blanks)))
	s.pending.Write(bytes.Repeat(newline, max(0, lines)))
}

// flush moves what waits to the file.
func (s *spool) flush() error {
	if s.pending.Len() == 0 {
		return nil
	}
	s.blocks = append(s.blocks, block{s.first, s.pending.Len()})
	_, err := s.pending.WriteTo(s.file)
	return err
}

// mend closes the brackets of a rest that the input cut off.
func (s *spool) mend() {
	s.documents.nesting = s.documents.nesting[:0]
	s.rest.Truncate(len(bytes.TrimRight(s.rest.Bytes(), ",: \t\r\n")))
	for i := len(s.open) - 1; i >= 0; i-- {
		s.rest.WriteByte(s.open[i] + 2) // { and }, [ and ] lie two apart
	}
	s.open = nil
	s.blocks = append(s.blocks, block{place: s.start}) // says that it was cut
}

// next hands out the spans, block by block; nil after the last.
func (s *spool) next() (*Chunk, error) {
	if len(s.blocks) == 0 {
		return nil, s.close()
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	d := s.documents
	c := &Chunk{File: d.file, Seq: d.seq, Line: b.line, Offset: b.offset, piece: loneSpans, contextKind: s.kind, context: s.rest.Bytes()}
	d.seq++
	if b.length == 0 {
		c.bad = &fault{Incomplete, "the input ends inside the record, or it is too large without its spans"}
		return c, nil
	}
	c.Data = make([]byte, b.length)
	_, err := io.ReadFull(s.file, c.Data)
	return c, err
}
