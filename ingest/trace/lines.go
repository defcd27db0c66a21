package trace

import (
	"bytes"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// firstLine is how far the first line break is looked for, to tell JSON lines
// from one large document.
const firstLine = 8 << 20

// newChunker cuts JSON traces. Where the first line is a whole document and
// another follows, every line is one: a broken line is then only its own fault.
// Otherwise the values are found by their brackets.
func newChunker(f *format.File) (format.Chunker, error) {
	d := newDocuments(f)
	lines := d.linewise()
	again := io.MultiReader(bytes.NewReader(d.ahead()), d.r)
	if !lines {
		d.window = newWindow(f, again) // whose buffers are of the usual size
		return d, nil
	}
	s := format.NewSplitter(f, format.LastNewline)
	s.R = again
	s.Note = &fragment{lines: true}
	return s, nil
}

// linewise reports whether the first line is a document and another starts on
// the next. A first line that is broken off is told from the start of a document
// of many lines by its last byte, and the next must then be whole.
func (d *documents) linewise() bool {
	end, ok := d.firstLine(0)
	if !ok || !d.atLeast(end+1) || d.ahead()[end] != '{' {
		return false
	}
	first := bytes.Trim(bytes.TrimPrefix(d.ahead()[:end], format.ByteOrderMark), jsonscan.Blanks)
	if len(first) == 0 || first[0] == '[' {
		return false
	}
	if first[0] == '{' && jsonscan.Balanced(first) == len(first) {
		return true
	}
	if bytes.IndexByte([]byte("{[,:"), first[len(first)-1]) >= 0 {
		return false
	}
	next, _ := d.firstLine(end)
	second := bytes.Trim(d.ahead()[end:next], jsonscan.Blanks)
	return jsonscan.Balanced(second) == len(second)
}

// firstLine returns where the line that starts at from ends.
func (d *documents) firstLine(from int) (end int, ok bool) {
	for {
		if i := bytes.IndexByte(d.ahead()[from:], '\n'); i >= 0 {
			return from + i + 1, true
		}
		if len(d.ahead())-from > firstLine || !d.more() {
			return len(d.ahead()), false
		}
	}
}
