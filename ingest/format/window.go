package format

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Place is a place in an input: a line, counted from 1, and a byte.
type Place struct{ Line, Offset int64 }

// Window is the part of a stream that is looked at, and cuts chunks off. What lies
// before its place was dealt with. Reading on may move the buffer, so indexes are
// counted from that place.
type Window struct {
	Place
	File  *File
	R     io.Reader
	Size  int   // of a chunk, about
	Err   error // of the stream, once it ended
	Ended bool  // no chunk is left

	seq  int // of the next chunk
	room int // of the next buffer, at least
	most int // that room grows to
	step int // how much is read at once
	// lines: what is large is a long line, after which others may be as long. A document
	// has few large elements.
	lines bool
	of    *buffer
	buf   []byte // what was read into it and not given to a chunk
	pos   int    // of the place in buf
}

// readSize is how much is read at once: what is left of it after a chunk is
// copied, and it is looked at while it is near.
const readSize = 256 << 10

// NewWindow returns a window on r for documents, whose elements may be of any size.
func NewWindow(f *File, r io.Reader) Window {
	w := newWindow(f, r)
	w.step, w.room, w.most = cmp.Or(f.Sizes.Read, readSize), cmp.Or(f.Sizes.Window, 64<<10), cmp.Or(f.Sizes.Window, ChunkSize+2*readSize)
	return w
}

// newWindow returns a window for chunks of the usual size.
func newWindow(f *File, r io.Reader) Window {
	size := cmp.Or(f.Sizes.Chunk, ChunkSize)
	buffer := size + size/16
	return Window{File: f, R: r, Size: size, Place: Place{Line: 1, Offset: f.Skipped}, step: buffer, room: buffer, most: buffer}
}

// shareBuffer has a file that lies in its head whole, and is small, go on in the buffer of
// the one before.
func (w *Window) shareBuffer() {
	const small = 4                 // of them have room in a buffer, at least
	n := w.File.Head.Buffered() + 1 // to read the end, too
	if s, ok := w.File.content.(*sticky); ok && s.err == io.EOF && n <= w.most/small {
		w.of, w.buf = part(w.most, n)
	}
}

// Count returns how many chunks there were so far.
func (w *Window) Count() int { return w.seq }

// End notes that the stream is read.
func (w *Window) End() {
	w.Ended = true
	if w.Err != nil && !errors.Is(w.Err, io.EOF) {
		w.File.Fail(w.Err)
	}
}

// More reads on; false at the end of the stream.
func (w *Window) More() bool {
	if w.Err != nil {
		return false
	}
	if len(w.buf) == cap(w.buf) {
		w.move()
	}
	n, err := w.R.Read(w.buf[len(w.buf):min(cap(w.buf), len(w.buf)+w.step)])
	w.buf, w.Err = w.buf[:len(w.buf)+n], err
	return n > 0 || err == nil
}

// move makes room: what is ahead goes to the start of another buffer.
func (w *Window) move() {
	old := w.of
	w.of = w.buffer()
	w.buf, w.pos = append(w.of.b[:0], w.Ahead()...), 0
	old.release()
}

// buffer returns a buffer with room for more than what is ahead.
func (w *Window) buffer() *buffer {
	size, room := 2*len(w.Ahead()), w.room
	w.room = min(2*w.room, w.most)
	switch {
	case size <= room:
		return newBuffer(room)
	case w.lines:
		return newLarge(size)
	}
	return newSingle(size)
}

// Close gives the buffer back: the chunks keep what they have of it.
func (w *Window) Close() {
	w.of.release()
	w.of, w.buf, w.pos = nil, nil, 0
	if w.lines {
		large.drop()
	}
}

// Ahead is what was read from pos on.
func (w *Window) Ahead() []byte { return w.buf[w.pos:] }

// AtLeast reads until n bytes are there from pos on; false where the stream
// ends before.
func (w *Window) AtLeast(n int) bool {
	for len(w.Ahead()) < n {
		if !w.More() {
			return false
		}
	}
	return true
}

// Peek returns the byte at pos.
func (w *Window) Peek() (byte, bool) {
	if !w.AtLeast(1) {
		return 0, false
	}
	return w.buf[w.pos], true
}

// Skip moves on by n bytes.
func (w *Window) Skip(n int) {
	w.Line += int64(bytes.Count(w.buf[w.pos:w.pos+n], Newline))
	w.pos += n
	w.Offset += int64(n)
}

// SkipAll moves to the end of what was read.
func (w *Window) SkipAll() { w.Skip(len(w.Ahead())) }

// Space moves past white space and byte order marks.
func (w *Window) Space() {
	for {
		c, ok := w.Peek()
		switch {
		case !ok:
			return
		case jsonscan.White(c):
			w.Skip(len(w.Ahead()) - len(bytes.TrimLeft(w.Ahead(), jsonscan.Blanks)))
		case c == ByteOrderMark[0] && w.AtLeast(len(ByteOrderMark)) && bytes.HasPrefix(w.Ahead(), ByteOrderMark):
			w.Skip(len(ByteOrderMark))
		default:
			return
		}
	}
}

// Chunk cuts off the next n bytes.
func (w *Window) Chunk(n int, note any) *Chunk {
	c := w.ChunkAt(w.Place, note)
	w.take(c, n)
	return c
}

// ChunkAt returns the next chunk, which has no bytes yet.
func (w *Window) ChunkAt(at Place, note any) *Chunk {
	w.seq++
	return &Chunk{File: w.File, Seq: w.seq - 1, Line: at.Line, Offset: at.Offset, Note: note}
}

// take moves on by n bytes and gives them to a chunk. Where that is most of the
// buffer, what is left goes to another one; else they share it.
func (w *Window) take(c *Chunk, n int) {
	c.Data = w.buf[w.pos : w.pos+n : w.pos+n]
	w.Skip(n)
	if cap(w.buf) == w.most && len(w.Ahead()) < n {
		c.of = w.of
		if w.of = nil; len(w.Ahead()) == 0 {
			w.buf, w.pos = nil, 0
			return
		}
		w.of = w.buffer()
		w.buf, w.pos = append(w.of.b[:0], w.Ahead()...), 0
		return
	}
	c.of = w.of.share()
	w.buf, w.pos = w.Ahead(), 0
}

// Pass moves past the token that scan ends, without holding it; false where the stream
// ends before.
func (w *Window) Pass(scan func([]byte) (n int, done bool)) bool {
	for {
		n, done := scan(w.Ahead())
		w.Skip(n)
		if done || !w.More() {
			return done
		}
	}
}

// Find returns where the token at from ends, counted from pos: scan is fed all
// of it, piece by piece. ok is false where the stream ends before.
func (w *Window) Find(from int, scan func([]byte) (n int, done bool)) (end int, ok bool) {
	end = from
	for {
		n, done := scan(w.Ahead()[end:])
		end += n
		if done {
			return end, true
		}
		if !w.More() {
			return end, false
		}
	}
}

// Token moves past the token at pos and returns it with its length. Of one that is
// longer than limit it returns the start only, and does not hold the rest.
func (w *Window) Token(limit int, scan func([]byte) (n int, done bool)) (text []byte, size int64, ok bool) {
	from, end := w.Offset, 0
	for done := false; !done; {
		var n int
		n, done = scan(w.Ahead()[end:])
		switch end += n; {
		case end > limit:
			text = bytes.Clone(w.Ahead()[:min(limit, startOfToken)])
			w.Skip(end)
			ok = done || w.Pass(scan)
			return text, w.Offset - from, ok
		case !done && !w.More():
			return nil, int64(end), false
		}
	}
	text = w.Ahead()[:end]
	w.Skip(end)
	return text, int64(end), true
}

// startOfToken is how much is kept of a token that is too long.
const startOfToken = 1 << 10

// ElementState is what there is of an element: all, what the stream has before it ends,
// or more than may be held.
type ElementState uint8

const (
	ElementWhole ElementState = iota
	ElementCut
	ElementLong
)

// Element finds the end of the object or array that starts at from, if it is not longer
// than limit. Both count bytes from the place reached.
func (w *Window) Element(from, limit int) (end int, state ElementState) {
	var s jsonscan.Balance
	for at := from; ; {
		n, done := s.Scan(w.Ahead()[at:])
		at += n
		switch {
		case done:
			return at, ElementWhole
		case at-from > limit:
			return 0, ElementLong
		case !w.More():
			return 0, ElementCut
		}
	}
}
