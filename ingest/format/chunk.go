package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
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
	// Before is the end of what came before, from the start of a line, where the cutter
	// keeps it.
	Before []byte

	// Places says where the lines of Data stood, if they were taken out of something
	// else; nil if they stand as they are.
	Places []Origin

	of *buffer // that Data is part of, nil for none
}

// Origin is the place of a line that was taken out of something else. From is its first
// byte in the data of the chunk.
type Origin struct {
	From int
	Place
}

// Origin returns where what starts at a byte of the data stood.
func (c *Chunk) Origin(at int) Place {
	i := sort.Search(len(c.Places), func(i int) bool { return c.Places[i].From > at })
	return c.Places[max(0, i-1)].Place
}

// Release gives the chunk's memory back, once nothing of it is in use; it may be
// left out.
func (c *Chunk) Release() {
	if c.of != nil {
		c.of.release()
		c.Data, c.of = nil, nil
	}
}

const (
	// ChunkSize is how much is read for a chunk, if its records allow it.
	ChunkSize = 256 << 10
	// TailBytes is how much of what stood before a chunk is kept where that is needed.
	TailBytes = 32 << 10
	// freeChunks is how many buffers wait to be used again: about as many as there
	// are chunks under way.
	freeChunks = 8
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
func TooLong(line []byte) *Fault {
	return Overlong("line", int64(len(bytes.TrimSuffix(line, Newline))))
}

// Overlong is the fault of something of n bytes.
func Overlong(what string, n int64) *Fault {
	return NewFault(LineTooLong, fmt.Sprintf("a %s of %d bytes: see --max-line", what, n))
}

// Splitter cuts a stream into chunks that end at a newline. CSV has newlines
// inside quotes; boundary knows.
type Splitter struct {
	Window
	Note any // of all chunks
	// KeepsLong: a line that is too long to hold is not left out, but Next says so and
	// somebody else reads it.
	KeepsLong bool
	// Tail says how many bytes of what came before each chunk is given, 0 for none. It is
	// asked once there is a second chunk: most of very many files have one.
	Tail   func() int
	tail   []byte
	tailed int
	// boundary returns the length of the longest prefix of whole records, 0 if
	// there is none.
	boundary func([]byte) int
}

// NewSplitter returns what cuts the rest of a file.
func NewSplitter(f *File, boundary func([]byte) int) *Splitter {
	s := &Splitter{Window: newWindow(f, f.Rest()), boundary: boundary}
	s.lines = true
	s.shareBuffer()
	return s
}

// LastNewline is the boundary of formats whose records are lines.
func LastNewline(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// Next returns the next chunk, io.EOF after the last one. A stream that breaks
// gives what came before it as a last chunk with Cut set; the fault itself is
// then the file's. At the end of the stream the decoder decides on the open record.
func (s *Splitter) Next() (*Chunk, error) {
	c, err := s.next()
	if err != nil {
		return c, err
	}
	c.Before = bytes.Clone(s.tail)
	if s.Tail != nil && !s.Ended {
		s.tailed, s.Tail = s.Tail(), nil
	}
	if s.tailed > 0 {
		s.keepTail(c.Data)
	}
	return c, nil
}

// keepTail remembers the end of what was handed on.
func (s *Splitter) keepTail(data []byte) {
	if len(data) < s.tailed {
		data = append(s.tail, data...)
	}
	if over := len(data) - s.tailed; over > 0 {
		data = data[over:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	s.tail = append([]byte(nil), data...)
}

func (s *Splitter) next() (*Chunk, error) {
	for want := s.Size; ; want = min(2*len(s.Ahead()), s.File.MaxLine+1) {
		if s.AtLeast(want); s.Err != nil {
			return s.last()
		}
		if n := s.boundary(s.Ahead()); n > 0 {
			return s.Chunk(n, s.Note), nil
		}
		if len(s.Ahead()) > s.File.MaxLine {
			if s.KeepsLong {
				return nil, ErrLongLine
			}
			return s.skipLine(), nil
		}
	}
}

// ErrLongLine says that a line comes that is too long to hold.
var ErrLongLine = errors.New("a line is too long to hold")

func (s *Splitter) last() (*Chunk, error) {
	s.End()
	rest := s.Ahead()
	if len(rest) == 0 {
		return nil, io.EOF
	}
	c := s.Chunk(len(rest), s.Note)
	c.Open = rest[len(rest)-1] != '\n'
	c.Cut = !errors.Is(s.Err, io.EOF)
	return c, nil
}

// skipLine passes a line that is too long to hold, and reports it as a chunk of its
// own.
func (s *Splitter) skipLine() *Chunk {
	c := s.ChunkAt(s.Place, nil)
	s.SkipAll()
	ends := s.Pass(PastNewline)
	length := s.Offset - c.Offset
	if ends {
		length--
	}
	c.Bad = Overlong("line", length)
	return c
}

// PastNewline finds the end of a line.
func PastNewline(b []byte) (n int, done bool) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1, true
	}
	return len(b), false
}
