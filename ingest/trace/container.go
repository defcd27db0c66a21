package trace

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// container reports whether the object at from holds its traces in an array,
// rather than being one trace or span itself.
func (d *documents) container(from int) bool {
	for {
		b := d.ahead()[from:]
		b = b[:min(len(b), format.HeadSize)]
		content, known := contentOf(b)
		if known || len(b) == format.HeadSize || !d.more() {
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
