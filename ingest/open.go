package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/tailscope/tailscope/internal/note"
)

// Config is how a run reads its inputs.
type Config struct {
	Fields  *Fields
	Format  string // name of a format, "" to detect it
	MaxLine int    // longest line in bytes, 0 for DefaultMaxLine
	TempDir string // for what is too large to hold, "" for the system's
}

// File is one open input. Next and Close belong to one goroutine; decoders read
// the rest.
type File struct {
	Path        string
	Format      string // "" for an input without content
	Compression string // "none", "gzip" or "zstd"
	Index       int32  // of the file in the rows, for the caller to set

	format   *format
	maxLine  int
	header   *header
	plain    io.Reader     // without compression
	head     *bufio.Reader // the start of plain
	chunks   chunker
	tempDir  string
	closers  []func() error
	bytes    *atomic.Int64
	damage   error
	warnings []note.Warning
	answered bool // errors in an answer were noted
}

const headSize = 256 << 10

// Open opens an input, undoes its compression and recognises its format. read
// is added to as bytes of the file are consumed. The errors are an *os.PathError,
// an *UnknownFormatError or a *UnitError.
func Open(src Source, c Config, read *atomic.Int64) (*File, error) {
	f := &File{Path: src.Path, bytes: new(atomic.Int64), maxLine: c.MaxLine, tempDir: c.TempDir}
	if f.maxLine == 0 {
		f.maxLine = DefaultMaxLine
	}
	raw, err := f.source(src, read)
	if err != nil {
		return nil, err
	}
	if err := f.prepare(raw, c); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) source(src Source, read *atomic.Int64) (*bufio.Reader, error) {
	in := src.Stdin
	if in == nil {
		file, err := os.Open(src.Path)
		if err != nil {
			return nil, err
		}
		f.closers = append(f.closers, file.Close)
		in = file
	}
	return bufio.NewReaderSize(&counter{in, f.bytes, read}, headSize), nil
}

// counter counts bytes for the file's summary and for the progress bar.
type counter struct {
	r           io.Reader
	file, total *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.file.Add(int64(n))
	c.total.Add(int64(n))
	return n, err
}

// prepare undoes the compression and looks at the head of what comes out.
func (f *File) prepare(raw *bufio.Reader, c Config) error {
	plain, err := f.decompress(raw)
	if err != nil {
		f.fail(err)
		return nil
	}
	f.plain = &sticky{r: plain}
	f.head = bufio.NewReaderSize(f.plain, headSize)
	head, err := f.head.Peek(headSize)
	none := len(head) == 0 || blank(head) && !isBinary(c.Format)
	switch broken := err != nil && err != io.EOF; {
	case broken && none:
		f.fail(err)
		return nil
	case broken && bytes.IndexByte(head, '\n') < 0:
		return f.recogniseStump(head, c, err)
	case err == io.EOF && none:
		f.empty(head)
		return nil
	}
	return f.recognise(head, c)
}

// recogniseStump recognises a stream that breaks off within its first line: a
// document on one line may hold whole traces even so. What is of no known format
// has broken off before it showed one.
func (f *File) recogniseStump(head []byte, c Config, broken error) error {
	var unknown *UnknownFormatError
	if err := f.recognise(head, c); !errors.As(err, &unknown) {
		return err
	}
	f.format, f.Format, f.chunks = nil, "", nil
	f.fail(broken)
	return nil
}

// content reads what is in the file: what head holds already, then straight from
// the stream.
func (f *File) content() io.Reader {
	held, _ := f.head.Peek(f.head.Buffered())
	return io.MultiReader(bytes.NewReader(held), f.plain)
}

// sticky is a stream that stays at its end: a bufio.Reader asks again, and a
// decompressor would look for its next member once more.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	n, s.err = s.r.Read(p)
	return n, s.err
}

// recognise finds the format and starts the cutting into chunks after what
// stands before the records.
func (f *File) recognise(head []byte, c Config) (err error) {
	if f.format, err = detect(f.Path, head, c.Format, c.Fields); err != nil {
		return err
	}
	f.Format = f.format.name
	if f.chunks, err = f.format.open(f, c.Fields); err != nil {
		return &UnknownFormatError{f.Path, []string{f.format.name + ": " + err.Error()}}
	}
	return nil
}

// empty is an input with nothing but blank lines in it.
func (f *File) empty(head []byte) {
	if len(head) > 0 {
		f.format = formatNamed("ndjson")
		f.chunks = newSplitter(f, lastNewline)
	}
	f.warn("empty_file", f.Path+" is empty")
}

func (f *File) decompress(raw *bufio.Reader) (io.Reader, error) {
	magic, _ := raw.Peek(4)
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		f.Compression = "gzip"
		return newMembers(raw, f)
	case bytes.Equal(magic, zstdMagic) || len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], skippableMagic):
		f.Compression = "zstd"
		return f.zstd(raw)
	}
	f.Compression = "none"
	return raw, nil
}

var (
	gzipMagic      = []byte{0x1f, 0x8b}
	zstdMagic      = []byte{0x28, 0xb5, 0x2f, 0xfd}
	skippableMagic = []byte{0x2a, 0x4d, 0x18} // after 0x50 to 0x5f
)

// maxWindow is the largest zstd window that is granted, as in the zstd command
// (--long=27): what a hostile file asks for is not allocated.
const maxWindow = 128 << 20

func (f *File) zstd(raw *bufio.Reader) (io.Reader, error) {
	z, err := zstd.NewReader(raw, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, func() error { z.Close(); return nil })
	return &zstdFrames{z, f}, nil
}

// zstdFrames turns garbage after the last whole frame into a warning. The first
// frame's magic was seen, so a wrong magic can only come after a frame.
type zstdFrames struct {
	z    *zstd.Decoder
	file *File
}

func (z *zstdFrames) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if errors.Is(err, zstd.ErrMagicMismatch) {
		z.file.trailing("bytes that are no zstd frame")
		err = io.EOF
	}
	return n, err
}

func (f *File) trailing(what string) {
	f.warn("trailing_garbage", f.Path+" ends in "+what+" after its last whole member: they are left out")
}

// noteErrors passes on the first errors that an answer carries beside its data.
func (f *File) noteErrors(list []byte) {
	if text := shownErrors(list); text != "" && !f.answered {
		f.answered = true
		f.warnings = append(f.warnings, errorsInAnswer(f.Path, text))
	}
}

// shownErrors is a list of errors, or one error, on one line and shortened; ""
// for none.
func shownErrors(list []byte) string {
	text := bytes.Join(bytes.Fields(list), []byte{' '})
	if len(bytes.Trim(text, "[]{} ")) == 0 || text[0] != '[' && text[0] != '{' {
		return ""
	}
	const most = 500
	if len(text) > most {
		text = append(text[:most:most], "…"...)
	}
	return string(text)
}

func errorsInAnswer(path, list string) note.Warning {
	return note.Warning{Code: "errors_in_answer", Text: path + " carries errors of the server that wrote it: " + list}
}

func (f *File) warn(code, text string) {
	f.warnings = append(f.warnings, note.Warning{Code: code, Text: text})
}

// fail notes that the input broke off; what came before stands.
func (f *File) fail(err error) { f.damage = err }

// Damage says why the input could not be read to its end, nil if it was.
func (f *File) Damage() error {
	if f.damage == nil {
		return nil
	}
	if f.Compression == "none" {
		return fmt.Errorf("%s: reading breaks off: %w", f.Path, f.damage)
	}
	return fmt.Errorf("%s: the %s stream breaks off: %w", f.Path, f.Compression, f.damage)
}

// takeHeader consumes a CSV header.
func (f *File) takeHeader(c cutter, fields *Fields) error {
	head, _ := f.head.Peek(headSize)
	h, rest, err := findHeader(head, c, fields)
	if err != nil {
		return err
	}
	used := head[:len(head)-len(rest)]
	h.lines, h.bytes = int64(bytes.Count(used, newline)), int64(len(used))
	f.header = h
	_, err = f.head.Discard(len(used))
	return err
}

// Next returns the next chunk, io.EOF after the last.
func (f *File) Next() (*Chunk, error) {
	if f.chunks == nil {
		return nil, io.EOF
	}
	return f.chunks.next()
}

// Close gives the file back.
func (f *File) Close() error {
	var err error
	for i := len(f.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, f.closers[i]())
	}
	f.closers = nil
	return err
}

// Chunks returns how many chunks Next gave; all of them once it said io.EOF.
func (f *File) Chunks() int {
	if f.chunks == nil {
		return 0
	}
	return f.chunks.count()
}
