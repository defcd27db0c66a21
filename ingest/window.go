package ingest

import (
	"bytes"
	"io"
)

// window is the part of a stream that is looked at. What lies before pos was
// dealt with; line and offset are those of pos. Reading on may move the buffer,
// so places in it are counted from pos.
type window struct {
	r      io.Reader
	buf    []byte
	pos    int
	line   int64
	offset int64
	err    error // of the stream, once it ended
}

// more reads on; false at the end of the stream.
func (w *window) more() bool {
	if w.err != nil {
		return false
	}
	if len(w.buf) == cap(w.buf) {
		w.move()
	}
	n, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
	w.buf, w.err = w.buf[:len(w.buf)+n], err
	return n > 0 || err == nil
}

// move makes room: what is ahead goes to the start of a new buffer.
func (w *window) move() {
	ahead := w.ahead()
	w.buf = append(make([]byte, 0, max(2*len(ahead), 2*chunkSize)), ahead...)
	w.pos = 0
}

// ahead is what was read from pos on.
func (w *window) ahead() []byte { return w.buf[w.pos:] }

// atLeast reads until n bytes are there from pos on, or the stream ends.
func (w *window) atLeast(n int) {
	for len(w.ahead()) < n && w.more() {
	}
}

// peek returns the byte at pos.
func (w *window) peek() (byte, bool) {
	for w.pos >= len(w.buf) {
		if !w.more() {
			return 0, false
		}
	}
	return w.buf[w.pos], true
}

// skip moves on by n bytes.
func (w *window) skip(n int) {
	w.line += int64(bytes.Count(w.buf[w.pos:w.pos+n], newline))
	w.pos += n
	w.offset += int64(n)
}

// space moves past white space and byte order marks.
func (w *window) space() {
	for {
		c, ok := w.peek()
		switch {
		case !ok:
			return
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			w.skip(1)
		case c == byteOrderMark[0]:
			w.atLeast(len(byteOrderMark))
			if !bytes.HasPrefix(w.buf[w.pos:], byteOrderMark) {
				return
			}
			w.skip(len(byteOrderMark))
		default:
			return
		}
	}
}

// take moves on by n bytes and gives them away: the window never writes to what
// lies before pos again, and moves to another buffer when this one is full.
func (w *window) take(n int) []byte {
	taken := w.buf[w.pos : w.pos+n : w.pos+n]
	w.skip(n)
	return taken
}

// token reads on until end finds the end of what starts at pos, and returns it.
// ok is false where the stream ends before.
func (w *window) token(end func([]byte) int) (text []byte, ok bool) {
	for {
		if n := end(w.ahead()); n > 0 {
			text = w.ahead()[:n]
			w.skip(n)
			return text, true
		}
		if !w.more() {
			return nil, false
		}
	}
}
