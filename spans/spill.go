package spans

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

const (
	// spillRows is the most rows in a spilled record: what a column needs while
	// it is written or read stays small.
	spillRows = 2048
	// spillText is the most bytes of texts in a spilled record, but for one
	// row's.
	spillText = 8 << 20
	// segmentBytes is the size of a segment.
	segmentBytes = 16
	// bufferBytes is the size of the buffer of a file being written or read.
	bufferBytes = 64 << 10
)

// segment is where records of one partition stand in a spill file.
type segment struct{ start, end int64 }

// spillFile is one Arrow IPC stream (LZ4). Each of its records holds rows of
// one partition; the schema and some of the records are a stream again, which
// is how a partition is read.
type spillFile struct {
	path    string
	file    *os.File
	out     *bufio.Writer
	stream  *ipc.Writer
	written int64
	head    int64 // bytes of the schema
	mem     memory.Allocator
	total   *atomic.Int64
	rows    []record // on their way to or from columns
}

// createSpill makes a new spill file; total counts the bytes of all of them.
func createSpill(path string, mem memory.Allocator, total *atomic.Int64) (*spillFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spill file: %w", err)
	}
	f := &spillFile{path: path, file: file, mem: mem, total: total, out: bufio.NewWriterSize(file, bufferBytes)}
	f.stream = ipc.NewWriter(f, ipc.WithSchema(spillSchema()), ipc.WithAllocator(mem), ipc.WithLZ4())
	if err := f.writeRecord(&pile{}, 0, 0); err != nil { // without rows, for the schema
		return nil, errors.Join(err, f.remove())
	}
	f.head = f.written
	return f, nil
}

// Write counts what goes to the file.
func (f *spillFile) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	f.written += int64(n)
	f.total.Add(int64(n))
	return n, err
}

// write appends the rows of a pile.
func (f *spillFile) write(p *pile) (segment, error) {
	seg := segment{start: f.written}
	for from := 0; from < p.rows; {
		to := p.recordEnd(from)
		if err := f.writeRecord(p, from, to); err != nil {
			return seg, err
		}
		from = to
	}
	seg.end = f.written
	return seg, nil
}

// recordEnd returns where a record that begins with row from must end.
func (p *pile) recordEnd(from int) int {
	end := min(from+spillRows, p.rows)
	if len(p.captions) == 0 {
		return end
	}
	bytes := 0
	for i := from; i < end; i++ {
		traceText, spanText := p.captionsOf(i)
		if bytes += len(traceText) + len(spanText); bytes > spillText && i > from {
			return i
		}
	}
	return end
}

func (f *spillFile) writeRecord(p *pile, from, to int) error {
	rec := f.toColumns(p, from, to)
	defer rec.Release()
	return f.named(f.stream.Write(rec))
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
	err := f.stream.Close()
	if err == nil {
		err = f.out.Flush()
	}
	f.out, f.rows = nil, nil
	return f.named(err)
}

// read calls visit with each row of the shelf's segments until ctx ends. Several
// goroutines may read at once. Arrow takes a file that ends too early for one
// that ends, so the rows are counted.
func (f *spillFile) read(ctx context.Context, s *shelf, visit func(r *record, traceText, spanText []byte) error) error {
	if s.spilledRows == 0 {
		return nil
	}
	stream, err := ipc.NewReader(f.part(s.segments), ipc.WithSchema(spillSchema()), ipc.WithAllocator(f.mem))
	if err != nil {
		return f.named(err)
	}
	defer stream.Release()
	var rows []record
	found := 0
	for stream.Next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows = fromColumns(stream.Record(), rows)
		if err := visitRows(stream.Record(), rows, visit); err != nil {
			return err
		}
		found += len(rows)
	}
	if err := stream.Err(); err != nil {
		return f.named(err)
	}
	if found != s.spilledRows {
		return f.named(fmt.Errorf("%d rows of %d are left", found, s.spilledRows))
	}
	return nil
}

// part is the stream of a partition: the schema and its segments.
func (f *spillFile) part(segments []segment) io.Reader {
	parts := []io.Reader{io.NewSectionReader(f.file, 0, f.head)}
	for _, s := range segments {
		parts = append(parts, io.NewSectionReader(f.file, s.start, s.end-s.start))
	}
	return bufio.NewReaderSize(io.MultiReader(parts...), bufferBytes)
}

func visitRows(rec arrow.Record, rows []record, visit func(r *record, traceText, spanText []byte) error) error {
	n := int(rec.NumCols())
	traceTexts, spanTexts := rec.Column(n-2).(*array.Binary), rec.Column(n-1).(*array.Binary)
	if traceTexts.NullN() == len(rows) && spanTexts.NullN() == len(rows) {
		for i := range rows {
			if err := visit(&rows[i], nil, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range rows {
		if err := visit(&rows[i], traceTexts.Value(i), spanTexts.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

// remove closes and deletes the file.
func (f *spillFile) remove() error {
	if f.out != nil { // never finished: what the stream holds must go back
		f.stream.Close()
	}
	return errors.Join(f.named(f.file.Close()), f.named(os.Remove(f.path)))
}
