package format

import (
	"bytes"
	"cmp"
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
	// Bad says that there is no record here, but a fault.
	Bad *Fault
	// Note is what the cutter of a format has its decoder know.
	Note any

	// free takes the buffer of Data back, where it can be used again.
	free   chan []byte
	buffer []byte
}

// Recycle has Release give a buffer back.
func (c *Chunk) Recycle(buffer []byte, free chan []byte) { c.buffer, c.free = buffer, free }

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
	// ChunkSize is how much is read for a chunk, if its records allow it.
	ChunkSize = 256 << 10
	// FreeChunks is how many buffers wait to be used again: about as many as there
	// are chunks under way.
	FreeChunks = 8
)

// ByteOrderMark may stand at the start of a file, and so inside files that were
// put together.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// Newline ends a line.
var Newline = []byte{'\n'}

// Blank reports whether a line has nothing in it.
func Blank(line []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(line, ByteOrderMark))) == 0
}

// TooLong reports whether a line is longer than MaxLine.
func (f *File) TooLong(line []byte) bool {
	return len(line) > f.MaxLine && len(bytes.TrimSuffix(line, Newline)) > f.MaxLine
}

// TooLong is the fault of a line that is.
func TooLong(line []byte) *Fault { return Overlong(int64(len(bytes.TrimSuffix(line, Newline)))) }

// Overlong is the fault of a line of n bytes.
func Overlong(n int64) *Fault {
	return &Fault{LineTooLong, fmt.Sprintf("a line of %d bytes: see --max-line", n)}
}

// Splitter cuts a stream into chunks that end at a newline. CSV has newlines
// inside quotes; boundary knows.
type Splitter struct {
	R    io.Reader
	Note any // of all chunks
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

func NewSplitter(f *File, boundary func([]byte) int) *Splitter {
	return &Splitter{R: f.Rest(), file: f, size: cmp.Or(f.Sizes.Chunk, ChunkSize), boundary: boundary, line: 1, free: make(chan []byte, FreeChunks)}
}

// Skip counts what was consumed before the first chunk.
func (s *Splitter) Skip(lines, bytes int64) {
	s.line += lines
	s.offset += bytes
}

// Count returns how many chunks there were so far.
func (s *Splitter) Count() int { return s.seq }

// LastNewline is the boundary of formats whose records are lines.
func LastNewline(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// Next returns the next chunk, io.EOF after the last one. A stream that breaks
// gives what came before it as a last chunk with Cut set; the fault itself is
// then the file's.
func (s *Splitter) Next() (*Chunk, error) {
	buf := append(s.buffer(), s.rest...)
	s.rest = s.rest[:0]
	for s.err == nil {
		buf = s.fill(buf)
		if n := s.whole(buf); n > 0 {
			s.rest = append(s.rest[:0], buf[n:]...)
			return s.chunk(buf[:n]), nil
		}
		if s.err == nil && len(buf) > s.file.MaxLine {
			return s.skipLine(buf)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
	return s.last(buf)
}

// buffer returns room for what waits and for a chunk. Only buffers of the full
// size are used again: then chunks are the same whenever one comes back.
func (s *Splitter) buffer() []byte {
	full := s.size + s.size/16
	if len(s.rest) > s.size/16 {
		return make([]byte, 0, s.size+2*len(s.rest))
	}
	select {
	case buf := <-s.free:
		if cap(buf) == full {
			return buf
		}
	default:
	}
	return make([]byte, 0, full)
}

// fill reads until buf is full or the stream ends.
func (s *Splitter) fill(buf []byte) []byte {
	for len(buf) < cap(buf) && s.err == nil {
		n, err := s.R.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		s.err = err
	}
	return buf
}

// whole is how much of buf can be handed out now: at the end of the stream the
// open record is not decided here.
func (s *Splitter) whole(buf []byte) int {
	if s.err != nil {
		return 0
	}
	return s.boundary(buf)
}

func (s *Splitter) last(buf []byte) (*Chunk, error) {
	if !errors.Is(s.err, io.EOF) {
		s.file.Fail(s.err)
	}
	if len(buf) == 0 {
		return nil, io.EOF
	}
	c := s.chunk(buf)
	c.Open = buf[len(buf)-1] != '\n'
	c.Cut = !errors.Is(s.err, io.EOF)
	return c, nil
}

func (s *Splitter) chunk(data []byte) *Chunk {
	c := &Chunk{File: s.file, Seq: s.seq, Line: s.line, Offset: s.offset, Data: data, Note: s.Note, free: s.free, buffer: data}
	s.seq++
	s.line += int64(bytes.Count(data, Newline))
	s.offset += int64(len(data))
	return c
}

// skipLine reads on to the end of a line that is too long to hold, of which buf
// is the start, and reports it as a chunk of its own.
func (s *Splitter) skipLine(buf []byte) (*Chunk, error) {
	c := &Chunk{File: s.file, Seq: s.seq, Line: s.line, Offset: s.offset}
	end, length := -1, int64(0)
	for end < 0 {
		length += int64(len(buf))
		if s.err != nil {
			break
		}
		buf = s.fill(buf[:0])
		end = bytes.IndexByte(buf, '\n')
	}
	s.offset += length
	if end >= 0 {
		length += int64(end)
		s.offset += int64(end) + 1
		s.rest = append(s.rest[:0], buf[end+1:]...)
	}
	c.Bad = Overlong(length)
	s.seq++
	s.line++
	return c, nil
}
