package trace

import (
	"bytes"
	"io"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// container reports whether the object at from holds its traces in an array,
// rather than being one trace or span itself.
func (d *documents) container(from int) bool {
	for {
		b := d.Ahead()[from:]
		b = b[:min(len(b), format.HeadSize)]
		content, known := contentOf(b)
		if known || len(b) == format.HeadSize || !d.More() {
			return content == holdsValues
		}
	}
}

// content is what an object is, as its keys tell.
type content uint8

const (
	itself      content = iota // a value of its own
	holdsValues                // traces or spans are in one of its members
)

// contentOf looks for the keys of the object at the start of b, by brackets only:
// the first that tells decides. known is false where b ends before.
func contentOf(b []byte) (is content, known bool) {
	for i := 1; i < len(b); {
		n := 1
		switch b[i] {
		case '"':
			if n = jsonscan.StringEnd(b[i:]); n == 0 {
				return itself, false
			}
			rest := bytes.TrimLeft(b[i+n:], jsonscan.Blanks)
			if len(rest) == 0 {
				return itself, false
			}
			if m, known := meanings[string(jsonscan.Unquoted(b[i:i+n]))]; known && rest[0] == ':' {
				return m.content, true
			}
		case '{', '[':
			if n = jsonscan.Balanced(b[i:]); n == 0 {
				return itself, false
			}
		case '}', ']':
			return itself, true
		}
		i += n
	}
	return itself, false
}

// firstLine is how far the first line break is looked for, to tell JSON lines
// from one large document.
const firstLine = 8 << 20

// newChunker cuts JSON traces. Where the first line is a whole document and
// another follows, every line is one: a broken line is then only its own fault.
// Otherwise the values are found by their brackets.
func newChunker(f *format.File) (format.Chunker, error) {
	d := newDocuments(f, f.Head)
	lines := d.linewise()
	again := io.MultiReader(bytes.NewReader(d.Ahead()), d.R)
	looked := d.Window
	f.OnClose(func() error { looked.Close(); return nil })
	if lines {
		return newLineDocuments(f, again), nil
	}
	d.Window = format.NewWindow(f, again) // whose buffers are of the full size
	f.OnClose(d.close)
	return d, nil
}

// linewise reports whether the first line is a document and another starts on
// the next. A first line that is broken off is told from the start of a document
// of many lines by its last byte, and the next must then be whole.
func (d *documents) linewise() bool {
	end, ok := d.firstLine(0)
	if !ok || !d.AtLeast(end+1) || d.Ahead()[end] != '{' {
		return false
	}
	first := bytes.Trim(bytes.TrimPrefix(d.Ahead()[:end], format.ByteOrderMark), jsonscan.Blanks)
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
	second := bytes.Trim(d.Ahead()[end:next], jsonscan.Blanks)
	return jsonscan.Balanced(second) == len(second)
}

// firstLine returns where the line that starts at from ends.
func (d *documents) firstLine(from int) (end int, ok bool) {
	for seen := from; ; {
		if i := bytes.IndexByte(d.Ahead()[seen:], '\n'); i >= 0 {
			return seen + i + 1, true
		}
		seen = len(d.Ahead())
		if len(d.Ahead())-from > firstLine || !d.More() {
			return len(d.Ahead()), false
		}
	}
}
