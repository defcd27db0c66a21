package ingest

import "bytes"

// located is a JSON value with its place in the chunk.
type located struct {
	raw []byte
	at  int // index of its first byte in Chunk.Data
}

// parts are those members of an object that a decoder looks at.
type parts struct {
	names  []string
	values []located
	others int // members of other names
}

// get returns the member of that name.
func (m *parts) get(name string) (v located, ok bool) {
	for i, n := range m.names {
		if n == name {
			return m.values[i], true
		}
	}
	return located{}, false
}

// has reports whether one of the names is there.
func (m *parts) has(names ...string) bool {
	for _, n := range names {
		if _, ok := m.get(n); ok {
			return true
		}
	}
	return false
}

// read notes the members of the object v whose names are known. It looks at
// brackets only, so that a fault inside one part does not cost the others.
func (m *parts) read(v located, known map[string]bool) error {
	m.names, m.values, m.others = m.names[:0], m.values[:0], 0
	var s jsonScanner
	s.at(v.raw)
	return s.members(func(name []byte) error {
		isKnown := known[string(name)]
		key := string(name)
		at := s.i
		raw, err := s.block()
		switch {
		case err != nil:
		case isKnown:
			m.names, m.values = append(m.names, key), append(m.values, located{raw, v.at + at})
		default:
			m.others++
		}
		return err
	})
}

// each calls visit for every object or array in the array v, again by brackets
// only. What stands between them and is no value is passed over and counted.
func (v located) each(visit func(located)) (junk int) {
	if len(v.raw) == 0 || v.raw[0] != '[' {
		return 0
	}
	return located{v.raw[1 : len(v.raw)-1], v.at + 1}.sequence(visit)
}

// sequence is each for elements without their array's brackets.
func (v located) sequence(visit func(located)) (junk int) {
	for i := 0; i < len(v.raw); {
		switch v.raw[i] {
		case ' ', '\t', '\r', '\n', ',':
			i++
		case '{', '[':
			n := balanced(v.raw[i:])
			if n == 0 {
				n = len(v.raw) - i
			}
			visit(located{v.raw[i : i+n], v.at + i})
			i += n
		default:
			n := otherEnd(v.raw[i:])
			if n == 0 {
				n = len(v.raw) - i
			}
			i += n
			junk++
		}
	}
	return junk
}

// cursor turns places in a chunk into lines and offsets of the file. Places are
// asked for in rising order, so that all of them cost one pass.
type cursor struct {
	chunk *Chunk
	at    int
	line  int64
}

func newCursor(c *Chunk) cursor { return cursor{chunk: c, line: c.Line} }

func (c *cursor) place(at int) place {
	if at < c.at {
		c.at, c.line = 0, c.chunk.Line
	}
	c.line += int64(bytes.Count(c.chunk.Data[c.at:at], newline))
	c.at = at
	return place{c.line, c.chunk.Offset + int64(at)}
}

// otherEnd returns the length of a string, a number or what else is no object
// and no array, 0 if it does not end in b.
func otherEnd(b []byte) int {
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '}', ']':
		return 1
	}
	return scalarEnd(b)
}
