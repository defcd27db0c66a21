package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/spans"
)

// Config is how a run reads its inputs.
type Config struct {
	Fields  *format.Settings // from NewSettings
	Format  string           // name of a format, "" to detect it
	Preset  string           // name of a preset, "none", or "" for what the keys show
	MaxLine int              // longest line in bytes, 0 for DefaultMaxLine
	TempDir string           // for what is too large to hold, "" for the system's
	Naming  *spans.Naming    // of the hops; nil: they are called as they come
	sizes   format.Sizes
}

// Open opens an input, undoes its compression and recognises its format. read
// is added to as bytes of the file are consumed. The errors are an *os.PathError,
// an *UnknownFormatError or a *UnitError.
func Open(src Source, c Config, read *atomic.Int64) (*format.File, error) {
	f := &format.File{Path: src.Path, MaxLine: c.MaxLine, TempDir: c.TempDir, Sizes: c.sizes}
	if f.MaxLine == 0 {
		f.MaxLine = format.DefaultMaxLine
	}
	o := opener{File: f, config: c, size: src.Size}
	raw, err := o.source(src, read)
	if err != nil {
		return nil, err
	}
	if err := o.prepare(raw); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// opener opens a file.
type opener struct {
	*format.File
	config Config
	size   int64 // as it is stored, 0 where not known
	// hopLogsOnly: what the records lie in was refused as a document of traces.
	hopLogsOnly bool
	// nearest takes what the records lack that were taken out of something, nil if nobody
	// asks.
	nearest *string
}

func (f opener) source(src Source, read *atomic.Int64) (*bufio.Reader, error) {
	in := src.Stdin
	if in == nil {
		open := disk.Open
		if src.regular {
			open = disk.OpenRegular
		}
		file, err := open(src.Path)
		if err != nil {
			return nil, err
		}
		f.OnClose(file.Close)
		in = file
	}
	return f.NewReader(&counter{r: in, file: &f.Read, total: read}), nil
}

// counter counts bytes for the file's summary and for the progress bar. After an
// error it reads no more: who looks ahead may leave one to the next who reads.
type counter struct {
	r           io.Reader
	file, total *atomic.Int64
	err         error
}

func (c *counter) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, c.err = c.r.Read(p)
	c.file.Add(int64(n))
	c.total.Add(int64(n))
	return n, c.err
}

// prepare undoes the compression and looks at the head of what comes out.
func (f opener) prepare(raw *bufio.Reader) error {
	content, err := f.decompress(raw)
	if err != nil {
		f.Fail(err)
		return nil
	}
	f.SetContent(content)
	if !isBinary(f.config.Format) {
		f.skipZeros()
	}
	head, err := f.Head.Peek(format.HeadSize)
	none := len(head) == 0 || format.Blank(head) && !isBinary(f.config.Format)
	switch broken := err != nil && err != io.EOF; {
	case broken && none:
		f.Fail(err)
		return nil
	case broken:
		return f.recogniseTruncated(head, err)
	case err == io.EOF && none:
		f.empty(head)
		return nil
	}
	return f.recognise(head)
}

// recogniseTruncated recognises a stream that breaks off within its head, which may
// hold whole records even so. What is of no known format has broken off before it
// showed one.
func (f opener) recogniseTruncated(head []byte, broken error) error {
	var unknown *UnknownFormatError
	if err := f.recognise(head); !errors.As(err, &unknown) {
		return err
	}
	f.Fail(broken)
	return nil
}

// recognise finds the format and starts the cutting into chunks.
func (f opener) recognise(head []byte) error {
	as, by, err := f.detect(head)
	if refused := foreignText(head); refused != nil && (err != nil || as.Lines) {
		refused.Path = f.Path
		return refused
	}
	if found, wrong := f.wrapped(head, as, err); found || wrong != nil {
		return wrong
	}
	var unknown *UnknownFormatError
	if errors.As(err, &unknown) && len(head) == format.HeadSize {
		return f.readOn(head, err)
	}
	if err != nil {
		return err
	}
	if err := unusable(f.Path, as, f.config.Fields.Fields); err != nil {
		return err
	}
	if err := f.Start(as, by); err != nil {
		f.Format = ""
		return &UnknownFormatError{Path: f.Path, Whys: []string{as.Name + ": " + err.Error()}}
	}
	return nil
}

// empty is an input with nothing but blank lines in it, which are lines all the
// same.
func (f opener) empty(head []byte) {
	f.Warn("empty_file", f.Path+" is empty")
	if len(head) > 0 {
		_ = f.Start(hoplog.NDJSON, f.config.Fields) // which cannot fail
		f.Format = ""
	}
}

func (f opener) decompress(raw *bufio.Reader) (io.Reader, error) {
	magic, err := raw.Peek(4)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case bytes.HasPrefix(magic, gzipMagic):
		f.Compression = "gzip"
		return newMembers(raw, f.File)
	case bytes.Equal(magic, zstdMagic) || isSkippable(magic):
		f.Compression = "zstd"
		return f.zstd(raw, f.size)
	}
	f.Compression = "none"
	return raw, nil
}

var gzipMagic = []byte{0x1f, 0x8b}

func trailing(f *format.File, what string) {
	f.Warn("trailing_garbage", f.Path+" ends in "+what+" after its last whole member: they are left out")
}
