package format

import (
	"bytes"
	"fmt"
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
