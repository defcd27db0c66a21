package trace

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// window is the part of a stream that is looked at. What lies before pos was
// dealt with; line and offset are those of pos. Reading on may move the buffer,
// so places in it are counted from pos.
type window struct {
	file   *format.File
	seq    int // of the next chunk
	size   int // of a chunk, about
	ended  bool
	r      io.Reader
	room   int // of the next buffer, at least
	most   int // that room grows to
	step   int // how much is read at once
	buf    []byte
	pos    int
	line   int64
	offset int64
	err    error // of the stream, once it ended

	free chan []byte // buffers of chunks that are done with
	// shared: a chunk has part of buf.
	shared bool
}

// readSize is how much is read at once: what is left of it after a chunk is
// copied, and it is looked at while it is near.
const readSize = 256 << 10

func newWindow(f *format.File, r io.Reader) window {
	return window{
		file: f, size: cmp.Or(f.Sizes.Chunk, format.ChunkSize), r: r, line: 1, free: make(chan []byte, format.FreeChunks), step: cmp.Or(f.Sizes.Read, readSize),
		room: cmp.Or(f.Sizes.Window, 64<<10), most: cmp.Or(f.Sizes.Window, format.ChunkSize+2*readSize),
	}
}

// Count returns how many chunks there were so far.
func (w *window) Count() int { return w.seq }

// end notes that the stream is read.
func (w *window) end() {
	w.ended = true
	if w.err != nil && !errors.Is(w.err, io.EOF) {
		w.file.Fail(w.err)
	}
}

// more reads on; false at the end of the stream.
func (w *window) more() bool {
	if w.err != nil {
		return false
	}
	if len(w.buf) == cap(w.buf) {
		w.move()
	}
	n, err := w.r.Read(w.buf[len(w.buf):min(cap(w.buf), len(w.buf)+w.step)])
	w.buf, w.err = w.buf[:len(w.buf)+n], err
	return n > 0 || err == nil
}

// move makes room: what is ahead goes to the start of another buffer.
func (w *window) move() {
	old := w.buf
	w.buf = append(w.buffer(), w.ahead()...)
	if !w.shared && cap(old) == w.most {
		w.giveBack(old)
	}
	w.pos, w.shared = 0, false
}

// buffer returns an empty buffer with room for more than what is ahead: one that
// comes back, if it has the full size.
func (w *window) buffer() []byte {
	size := max(2*len(w.ahead()), w.room)
	w.room = min(2*w.room, w.most)
	if size == w.most {
		select {
		case buf := <-w.free:
			return buf
		default:
		}
	}
	return make([]byte, 0, size)
}

func (w *window) giveBack(buf []byte) {
	select {
	case w.free <- buf[:0]:
	default:
	}
}

// ahead is what was read from pos on.
func (w *window) ahead() []byte { return w.buf[w.pos:] }

// atLeast reads until n bytes are there from pos on; false where the stream
// ends before.
func (w *window) atLeast(n int) bool {
	for len(w.ahead()) < n {
		if !w.more() {
			return false
		}
	}
	return true
}

// peek returns the byte at pos.
func (w *window) peek() (byte, bool) {
	if !w.atLeast(1) {
		return 0, false
	}
	return w.buf[w.pos], true
}

// skip moves on by n bytes.
func (w *window) skip(n int) {
	w.line += int64(bytes.Count(w.buf[w.pos:w.pos+n], format.Newline))
	w.pos += n
	w.offset += int64(n)
}

// skipAll moves to the end of what was read.
func (w *window) skipAll() { w.skip(len(w.ahead())) }

// place is where the window stands.
func (w *window) place() place { return place{w.line, w.offset} }

// space moves past white space and byte order marks.
func (w *window) space() {
	for {
		c, ok := w.peek()
		switch {
		case !ok:
			return
		case jsonscan.White(c):
			w.skip(1)
		case c == format.ByteOrderMark[0] && w.atLeast(len(format.ByteOrderMark)) && bytes.HasPrefix(w.ahead(), format.ByteOrderMark):
			w.skip(len(format.ByteOrderMark))
		default:
			return
		}
	}
}

// chunk cuts off the next n bytes.
func (w *window) chunk(n int, note *fragment) *format.Chunk {
	c := w.chunkAt(w.place(), note)
	w.take(c, n)
	return c
}

// chunkAt returns the next chunk, which has no bytes yet.
func (w *window) chunkAt(at place, note *fragment) *format.Chunk {
	w.seq++
	return &format.Chunk{File: w.file, Seq: w.seq - 1, Line: at.line, Offset: at.offset, Note: note}
}

// take moves on by n bytes and gives them to a chunk. Where that is most of the
// buffer the chunk has all of it, to be used again; else they share it.
func (w *window) take(c *format.Chunk, n int) {
	c.Data = w.buf[w.pos : w.pos+n : w.pos+n]
	w.skip(n)
	if !w.shared && cap(w.buf) == w.most && len(w.ahead()) < n {
		c.Recycle(w.buf[:0], w.free)
		w.buf, w.pos = append(w.buffer(), w.ahead()...), 0
		return
	}
	w.buf, w.pos, w.shared = w.ahead(), 0, true
}

// find returns where the token at from ends, counted from pos: scan is fed all
// of it, piece by piece. ok is false where the stream ends before.
func (w *window) find(from int, scan func([]byte) (n int, done bool)) (end int, ok bool) {
	end = from
	for {
		n, done := scan(w.ahead()[end:])
		end += n
		if done {
			return end, true
		}
		if !w.more() {
			return end, false
		}
	}
}

// token moves past the token at pos and returns it.
func (w *window) token(scan func([]byte) (n int, done bool)) (text []byte, ok bool) {
	end, ok := w.find(0, scan)
	if !ok {
		return nil, false
	}
	text = w.ahead()[:end]
	w.skip(end)
	return text, true
}
