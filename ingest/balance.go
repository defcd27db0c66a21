package ingest

import "bytes"

// balance finds the end of a JSON object or array by its brackets alone, in as
// many pieces as the bytes come in. It does not check the grammar: that is the
// decoder's part, which can then reject one element and go on with the next.
type balance struct {
	depth  int
	quoted bool // inside a string
	escape bool // the next byte is escaped
}

// scan reads on in b and returns how many bytes belong to the value; done tells
// that its last bracket is among them.
func (s *balance) scan(b []byte) (n int, done bool) {
	i := 0
	for i < len(b) {
		if s.quoted {
			i = s.string(b, i)
			continue
		}
		switch bracket[b[i]] {
		case quote:
			s.quoted = true
		case opening:
			s.depth++
		case closingBracket:
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
		i++
	}
	return i, false
}

// string moves from inside a string past its end, or to the end of b.
func (s *balance) string(b []byte, i int) int {
	if s.escape {
		s.escape = false
		return i + 1
	}
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		end := i + n
		if n < 0 {
			end = len(b)
		}
		odd := oddBackslashes(b[i:end])
		i = end + 1
		if n < 0 {
			s.escape = odd
			return len(b)
		}
		if !odd {
			s.quoted = false
			return i
		}
	}
	return len(b)
}

// oddBackslashes reports whether b ends in an odd number of backslashes, so
// that the next byte is escaped.
func oddBackslashes(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

const (
	quote uint8 = iota + 1
	opening
	closingBracket
)

// bracket marks the bytes that structure JSON.
var bracket = [256]uint8{'"': quote, '{': opening, '[': opening, '}': closingBracket, ']': closingBracket}

// balanced returns the length of the object or array at the start of b, 0 if it
// does not end in b.
func balanced(b []byte) int {
	var s balance
	if n, done := s.scan(b); done {
		return n
	}
	return 0
}
