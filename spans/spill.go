package spans

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync/atomic"
)

const (
	// segmentBytes is the size of a segment.
	segmentBytes = 24
	// bufferBytes is the size of the buffer of a file being written or read.
	bufferBytes = 64 << 10
)

// segment is where fragments of one partition stand in a spill file. The sum
// tells a file that was changed under our feet.
type segment struct {
	start, end int64
	sum        uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// spillFile holds fragments, those of one partition in segments.
type spillFile struct {
	path    string
	file    *os.File
	out     *bufio.Writer
	written int64
	total   *atomic.Int64
}

// createSpill makes a new spill file; total counts the bytes of all of them.
func createSpill(path string, total *atomic.Int64) (*spillFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spill file: %w", err)
	}
	return &spillFile{path: path, file: file, total: total, out: bufio.NewWriterSize(file, bufferBytes)}, nil
}

// write appends the fragments of a pile.
func (f *spillFile) write(p *pile) (segment, error) {
	seg := segment{start: f.written}
	for _, b := range p.blocks {
		seg.sum = crc32.Update(seg.sum, castagnoli, b)
		n, err := f.out.Write(b)
		f.written += int64(n)
		if err != nil {
			return seg, f.named(err)
		}
	}
	seg.end = f.written
	f.total.Add(seg.end - seg.start)
	return seg, nil
}

// named gives an error the file's name.
func (f *spillFile) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("spill file %s: %w", f.path, err)
}

// finish makes what was written readable; nothing more can be written.
func (f *spillFile) finish() error {
	err := f.out.Flush()
	f.out = nil
	return f.named(err)
}

// spillReader reads fragments back, with one buffer for all.
type spillReader struct {
	in      *bufio.Reader
	scratch []byte
	sum     uint32
	from    io.Reader
}

// Read counts what is read for the sum.
func (r *spillReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.sum = crc32.Update(r.sum, castagnoli, p[:n])
	return n, err
}

var errDamaged = errors.New("its content was changed")

// read calls visit with each fragment of the shelf's segments until ctx ends.
// Several readers may read a file at once. What visit gets may be damaged as
// long as read has not returned without an error, but its head makes sense.
func (r *spillReader) read(ctx context.Context, f *spillFile, s *shelf, visit func(fragment) error) error {
	if r.in == nil {
		r.in = bufio.NewReaderSize(r, bufferBytes)
	}
	for _, seg := range s.segments {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.from, r.sum = io.NewSectionReader(f.file, seg.start, seg.end-seg.start), 0
		r.in.Reset(r)
		if err := r.segment(int(seg.end-seg.start), visit); err != nil {
			return f.named(err)
		}
		if r.sum != seg.sum {
			return f.named(errDamaged)
		}
	}
	return nil
}

func (r *spillReader) segment(left int, visit func(fragment) error) error {
	for left > 0 {
		head, err := r.in.Peek(headBytes)
		if err != nil {
			return early(err)
		}
		n := fragment(head).length()
		if n < headBytes || n > left {
			return errDamaged
		}
		f, err := r.next(n)
		if err != nil {
			return early(err)
		}
		if err := visit(f); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// next reads n bytes, good until the next ones are read.
func (r *spillReader) next(n int) (fragment, error) {
	if n <= bufferBytes {
		f, err := r.in.Peek(n)
		if err == nil {
			_, err = r.in.Discard(n)
		}
		return f, err
	}
	if cap(r.scratch) < n {
		r.scratch = make([]byte, n)
	}
	_, err := io.ReadFull(r.in, r.scratch[:n])
	return r.scratch[:n], err
}

// early names the end of a file that comes too early.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// remove closes and deletes the file.
func (f *spillFile) remove() error {
	return errors.Join(f.named(f.file.Close()), f.named(os.Remove(f.path)))
}
