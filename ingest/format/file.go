package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
)

// File is one open input. Next and Close belong to one goroutine; decoders read
// the rest.
type File struct {
	Path        string
	Format      string    // "" for an input without content
	Compression string    // "none", "gzip" or "zstd"
	Wrapper     string    // what the records lie in, "" for nothing
	Within      any       // how they are taken out of it, nil where there is nothing
	Settings    *Settings // by which its records are read
	Skipped     int64     // bytes before the first record that are none
	Index       int32     // of the file in the rows, for the caller to set

	MaxLine int           // longest line, or token of a document, in bytes
	TempDir string        // for what is too large to hold, "" for the system's
	Sizes   Sizes         // of what is read
	Head    *bufio.Reader // the start of the content
	Read    atomic.Int64  // bytes, compressed

	format   *Format
	content  io.Reader // without compression
	chunks   Chunker
	closers  []func() error
	damage   error
	warnings []note.Warning
	answered bool // errors in an answer were noted
	closed   bool
	given    int // chunks there were, once it is closed
}

// Sizes of what is read and held, in bytes; 0 for the defaults.
type Sizes struct {
	Chunk   int // about how much a chunk has
	Read    int // how much is read at once
	Window  int // how much of a document is held, if its elements allow it
	Element int // from where on an element of a document is not held whole
}

const (
	// HeadSize is how much of an input is looked at to recognise its format.
	HeadSize = 256 << 10
	// DefaultMaxLine is the longest line, and the longest token of a document, that is
	// read, in bytes. It only guards the memory: no log has such lines, but binary junk
	// does.
	DefaultMaxLine = 16 << 20
)

// SetContent makes r, which has no compression, what the file holds.
func (f *File) SetContent(r io.Reader) {
	f.content = &sticky{r: r}
	f.Head = f.NewReader(f.content)
}

// Rest reads what is in the file: what Head holds already, then straight from
// the stream.
func (f *File) Rest() io.Reader {
	held, _ := f.Head.Peek(f.Head.Buffered())
	return io.MultiReader(bytes.NewReader(held), f.content)
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

// Start starts the cutting into chunks, after what stands before the records.
func (f *File) Start(as *Format, s *Settings) (err error) {
	f.format, f.Format, f.Settings = as, as.Name, s
	f.chunks, err = as.Open(f, s)
	return err
}

// StartWith is Start with what cuts the file into chunks.
func (f *File) StartWith(as *Format, chunks Chunker) {
	f.format, f.Format, f.chunks = as, as.Name, chunks
}

// PresetName is that of the preset by which its records are read, "" for none.
func (f *File) PresetName() jsontype.Text {
	if f.Settings == nil {
		return ""
	}
	return jsontype.Text(f.Settings.Preset)
}

// Kind is the format that Start was given, nil before.
func (f *File) Kind() *Format { return f.format }

// NoteErrors passes on the first errors that an answer carries beside its data.
func (f *File) NoteErrors(list []byte) {
	if text := ShownErrors(list); text != "" && !f.answered {
		f.answered = true
		f.warnings = append(f.warnings, ErrorsInAnswer(f.Path, text))
	}
}

// ShownErrors is a list of errors, or one error, on one line and shortened; ""
// for none.
func ShownErrors(list []byte) string {
	const looked = 4 << 10
	text := bytes.Join(bytes.Fields(list[:min(len(list), looked)]), []byte{' '})
	if len(bytes.Trim(text, "[]{} ")) == 0 || text[0] != '[' && text[0] != '{' {
		return ""
	}
	const most = 500
	if len(text) > most {
		text = append(text[:most:most], "…"...)
	}
	return string(text)
}

// ErrorsInAnswer warns of errors that an answer carries beside its data.
func ErrorsInAnswer(path, list string) note.Warning {
	return note.Warning{Code: "errors_in_answer", Text: path + " carries errors of the server that wrote it: " + list}
}

// Warn notes something odd about the file.
func (f *File) Warn(code, text string) {
	f.warnings = append(f.warnings, note.Warning{Code: code, Text: text})
}

// Warnings are what was odd about the file.
func (f *File) Warnings() []note.Warning { return f.warnings }

// OnClose has Close call a function, the last one first.
func (f *File) OnClose(c func() error) { f.closers = append(f.closers, c) }

// Fail notes that the input broke off; what came before stands.
func (f *File) Fail(err error) { f.damage = err }

// Damage says why the input could not be read to its end, nil if it was.
func (f *File) Damage() error {
	if f.damage == nil {
		return nil
	}
	if f.Compression == "" || f.Compression == "none" {
		return fmt.Errorf("%s: reading breaks off: %w", f.Path, f.damage)
	}
	return fmt.Errorf("%s: the %s stream breaks off: %w", f.Path, f.Compression, f.damage)
}

// Next returns the next chunk, io.EOF after the last.
func (f *File) Next() (*Chunk, error) {
	if f.chunks == nil {
		return nil, io.EOF
	}
	return f.chunks.Next()
}

// Close gives the file back, and all that reading it took: who accounts for it keeps
// it to the end of the run. Calling it again does nothing.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	var err error
	for i := len(f.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, f.closers[i]())
	}
	f.given = f.Chunks()
	if w, ok := f.chunks.(interface{ Close() }); ok {
		w.Close()
	}
	f.closers, f.chunks, f.content, f.Head = nil, nil, nil, nil
	return err
}

// Chunks returns how many chunks Next gave; all of them once it said io.EOF.
func (f *File) Chunks() int {
	if f.chunks == nil {
		return f.given
	}
	return f.chunks.Count()
}
