package trace

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// located is a JSON value with its place in the chunk.
type located struct {
	raw []byte
	at  int // index of its first byte in Chunk.Data
}

// members are those members of an object that a decoder looks at, in their order.
type members struct {
	names  []string
	values []located
	others int // members of other names
}

// keySet makes a set of keys; the values spare a copy of each key that is read.
func keySet(keys ...string) map[string]string {
	m := map[string]string{}
	for _, k := range keys {
		m[k] = k
	}
	return m
}

// get returns the member of that name, the last one if it comes twice.
func (m *members) get(name string) (v located, ok bool) {
	for i := len(m.names) - 1; i >= 0; i-- {
		if m.names[i] == name {
			return m.values[i], true
		}
	}
	return located{}, false
}

// has reports whether one of the names is there.
func (m *members) has(names ...string) bool {
	for _, n := range names {
		if _, ok := m.get(n); ok {
			return true
		}
	}
	return false
}

// read notes the members of the object at the start of v whose names are known,
// and returns its length, 0 after a fault. It looks at brackets only, so that a
// fault inside one part does not cost the others. After a fault between them,
// those before it count.
func (m *members) read(v located, known map[string]string) (n int, err error) {
	m.names, m.values, m.others = m.names[:0], m.values[:0], 0
	var s jsonscan.Scanner
	s.At(v.raw)
	err = s.Members(func(name []byte) error {
		key, isKnown := known[string(name)]
		at := s.I
		raw, err := s.Block()
		switch {
		case err != nil:
		case isKnown:
			m.names, m.values = append(m.names, key), append(m.values, located{raw, v.at + at})
		default:
			m.others++
		}
		return err
	})
	return s.End(err), err
}

// is returns the first byte of a value, which tells its kind.
func (v located) is() byte {
	if len(v.raw) == 0 {
		return 0
	}
	return v.raw[0]
}

// each calls visit at every object or array in the array at the start of v, and
// unexpected for what else stands there, and returns the length of the array, 0 if it
// has no end. visit returns how much it read, 0 after a fault: then the brackets
// tell where to go on. Anything but an array is empty.
func (v located) each(visit func(located) int, unexpected func(at int)) (n int) {
	if v.is() != '[' {
		return 0
	}
	inside := located{v.raw[1:], v.at + 1}
	if n = inside.run(visit, unexpected, ']'); n == len(inside.raw) {
		return 0
	}
	return n + len("[]")
}

// sequence is each for elements without their array's brackets.
func (v located) sequence(visit func(located) int, unexpected func(at int)) {
	v.run(visit, unexpected, 0)
}

// run visits what stands before end, and returns where that is.
func (v located) run(visit func(located) int, unexpected func(at int), end byte) (i int) {
	for i < len(v.raw) {
		rest := v.raw[i:]
		switch c := rest[0]; {
		case jsonscan.White(c) || c == ',':
			i++
		case c == '{' || c == '[':
			n := visit(located{rest, v.at + i})
			if n == 0 {
				n = jsonscan.Balanced(rest)
			}
			if n == 0 {
				n = len(rest)
			}
			i += n
		case c == end:
			return i
		default:
			unexpected(v.at + i)
			i += unexpectedLength(rest)
		}
	}
	return i
}

// whole is the object or array at the start of v.
func (v located) whole() located { return located{v.raw[:jsonscan.Balanced(v.raw)], v.at} }

// unexpectedLength is the length of a string, a number or what else is no object and
// no array.
func unexpectedLength(b []byte) int {
	if b[0] == '"' {
		if n := jsonscan.StringEnd(b); n > 0 {
			return n
		}
		return len(b)
	}
	n, _ := jsonscan.ScanScalar(b)
	return max(1, n)
}

// cursor turns places in a chunk into lines and offsets of the file. Places are
// asked for in rising order, so that all of them cost one pass.
type cursor struct {
	chunk *format.Chunk
	note  *fragment
	at    int
	line  int64
}

func newCursor(c *format.Chunk) cursor { return cursor{chunk: c, note: fragmentOf(c), line: c.Line} }

// beyond reports whether a place is not in the chunk, but behind it.
func (c *cursor) beyond(at int) bool {
	return !c.note.apart && !c.note.binary && c.note.context == nil && at >= len(c.chunk.Data)
}

func (c *cursor) place(at int) format.Place {
	if c.chunk.Places != nil {
		return c.chunk.Origin(at)
	}
	switch {
	case c.note.apart:
		return format.Place{Line: c.line, Offset: c.chunk.Offset}
	case c.note.binary:
		return format.Place{Line: c.line, Offset: c.chunk.Offset + int64(at)}
	}
	text, moved, lines := c.chunk.Data, at, int64(0)
	if rest := c.note.context; rest != nil && len(text) == 0 {
		length, taken := rest.before(at)
		text, moved, lines = rest.text, at+length, taken
	}
	if at < c.at {
		c.at, c.line = 0, c.chunk.Line
	}
	c.line += int64(bytes.Count(text[c.at:at], format.Newline))
	c.at = at
	return format.Place{Line: c.line + lines, Offset: c.chunk.Offset + int64(moved)}
}

// repair cuts an unfinished element back to its last whole object that is no part
// of a span, and closes the brackets that are open there; nil if it has none.
func repair(raw []byte) []byte {
	m := repairer{raw: raw}
	for m.i < len(raw) {
		m.step()
	}
	if m.end == 0 {
		return nil
	}
	return closed(bytes.Clone(raw[:m.end]), m.kept)
}

// repairer walks through an unfinished element.
type repairer struct {
	raw        []byte
	i          int
	open, kept []byte // brackets, all and those at end
	key, last  string // before the colon, and before anything
	inSpans    int    // how many brackets are open up to an array of spans, 0 outside
	end        int    // of the last whole object
}

func (m *repairer) step() {
	n := 1
	switch c := m.raw[m.i]; c {
	case '"':
		if n = jsonscan.StringEnd(m.raw[m.i:]); n == 0 {
			n = len(m.raw) - m.i
		} else if m.inSpans == 0 {
			m.last = string(m.raw[m.i+1 : m.i+n-1])
		}
	case ':':
		m.key = m.last
	case '{', '[':
		m.open = append(m.open, c)
		if c == '[' && m.inSpans == 0 && m.key == "spans" {
			m.inSpans = len(m.open)
		}
		m.key = ""
	case ',':
		m.key = ""
	case '}', ']':
		m.close(c)
	}
	m.i += n
}

func (m *repairer) close(c byte) {
	if len(m.open) > 0 {
		m.open = m.open[:len(m.open)-1]
	}
	switch depth := len(m.open); {
	case m.inSpans > depth:
		m.inSpans = 0
	case c == '}' && (m.inSpans == 0 || m.inSpans == depth):
		m.end, m.kept = m.i+1, append(m.kept[:0], m.open...)
	}
}
