package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Chunk is a run of whole records of one file, in the order of the file.
type Chunk struct {
	File   *File
	Seq    int   // 0, 1, 2 … within the file
	Line   int64 // of the first byte, 1-based
	Offset int64 // of the first byte in the decompressed input
	Data   []byte
	// Open: the input ends at the end of Data without a newline. Cut: it ended
	// too early, so what stands after the last newline may be half a record.
	Open, Cut bool
	// skipped is the length, without its newline, of an overlong line that was
	// left out; then Data is empty.
	skipped int64

	// The following are of JSON documents.
	piece   piece
	context *context // of loneSpans
	// partial says why the processes of spans may not be in Data.
	partial *fault
	// binary: Data has no lines. apart: it was compressed, so that all of it is
	// at one place.
	binary, apart bool
	// bad says that there is no record here, but a fault.
	bad *fault
	// free takes the buffer of Data back, where it can be used again.
	free   chan []byte
	buffer []byte
}

// Release gives the chunk's memory back, once nothing of it is in use; it may be
// left out.
func (c *Chunk) Release() {
	if c.free != nil {
		select {
		case c.free <- c.buffer[:0]:
		default:
		}
		c.Data, c.free, c.buffer = nil, nil, nil
	}
}

const (
	// chunkSize is how much is read for a chunk, if its records allow it.
	chunkSize = 256 << 10
	// DefaultMaxLine is the longest line that is read, in bytes. It only guards
	// the memory: no log has such lines, but binary junk does.
	DefaultMaxLine = 256 << 20
)

// freeChunks is how many buffers wait to be used again: about as many as there are
// chunks under way.
const freeChunks = 8

// splitter cuts a stream into chunks that end at a newline. CSV has newlines
// inside quotes; boundary knows.
type splitter struct {
	r    io.Reader
	file *File
	size int // of a chunk, about
	// boundary returns the length of the longest prefix of whole records, 0 if
	// there is none.
	boundary func([]byte) int

	rest   []byte // read, but not handed out
	free   chan []byte
	seq    int
	line   int64
	offset int64
	err    error // of the stream, once it ended
}

func newSplitter(f *File, boundary func([]byte) int) *splitter {
	return &splitter{r: f.content(), file: f, size: chunkSize, boundary: boundary, line: 1, free: make(chan []byte, freeChunks)}
}

func (s *splitter) count() int { return s.seq }

// lastNewline is the boundary of formats whose records are lines.
func lastNewline(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// next returns the next chunk, io.EOF after the last one. A stream that breaks
// gives what came before it as a last chunk with Cut set; the fault itself is
// then the file's.
func (s *splitter) next() (*Chunk, error) {
	buf := append(s.buffer(), s.rest...)
	s.rest = s.rest[:0]
	for s.err == nil {
		buf = s.fill(buf)
		if n := s.whole(buf); n > 0 {
			s.rest = append(s.rest[:0], buf[n:]...)
			return s.chunk(buf[:n]), nil
		}
		if s.err == nil && len(buf) > s.file.maxLine {
			return s.skipLine(buf)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
	return s.last(buf)
}

// buffer returns room for what waits and for a chunk. Only buffers of the usual
// size are used again: then chunks are the same whenever one comes back.
func (s *splitter) buffer() []byte {
	usual := s.size + s.size/16
	if len(s.rest) > s.size/16 {
		return make([]byte, 0, s.size+2*len(s.rest))
	}
	select {
	case buf := <-s.free:
		if cap(buf) == usual {
			return buf
		}
	default:
	}
	return make([]byte, 0, usual)
}

// fill reads until buf is full or the stream ends.
func (s *splitter) fill(buf []byte) []byte {
	for len(buf) < cap(buf) && s.err == nil {
		n, err := s.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		s.err = err
	}
	return buf
}

// whole is how much of buf can be handed out now: at the end of the stream the
// open record is not decided here.
func (s *splitter) whole(buf []byte) int {
	if s.err != nil {
		return 0
	}
	return s.boundary(buf)
}

func (s *splitter) last(buf []byte) (*Chunk, error) {
	if !errors.Is(s.err, io.EOF) {
		s.file.fail(s.err)
	}
	if len(buf) == 0 {
		return nil, io.EOF
	}
	c := s.chunk(buf)
	c.Open = buf[len(buf)-1] != '\n'
	c.Cut = !errors.Is(s.err, io.EOF)
	return c, nil
}

func (s *splitter) chunk(data []byte) *Chunk {
	c := &Chunk{File: s.file, Seq: s.seq, Line: s.line, Offset: s.offset, Data: data, free: s.free, buffer: data}
	s.seq++
	s.line += int64(bytes.Count(data, newline))
	s.offset += int64(len(data))
	return c
}

var newline = []byte{'\n'}

// skipLine reads on to the end of a line that is too long to hold, of which buf
// is the start, and reports it as a chunk of its own.
func (s *splitter) skipLine(buf []byte) (*Chunk, error) {
	c := &Chunk{File: s.file, Seq: s.seq, Line: s.line, Offset: s.offset}
	end := -1
	for end < 0 {
		c.skipped += int64(len(buf))
		if s.err != nil {
			break
		}
		buf = s.fill(buf[:0])
		end = bytes.IndexByte(buf, '\n')
	}
	s.offset += c.skipped
	if end >= 0 {
		c.skipped += int64(end)
		s.offset += int64(end) + 1
		s.rest = append(s.rest[:0], buf[end+1:]...)
	}
	s.seq++
	s.line++
	return c, nil
}

// tooLong reports whether a line is longer than --max-line.
func (f *File) tooLong(line []byte) bool {
	return len(line) > f.maxLine && len(bytes.TrimSuffix(line, newline)) > f.maxLine
}

func tooLong(line []byte) *fault { return overlong(int64(len(bytes.TrimSuffix(line, newline)))) }

func overlong(n int64) *fault {
	return &fault{LineTooLong, fmt.Sprintf("a line of %d bytes: see --max-line", n)}
}
