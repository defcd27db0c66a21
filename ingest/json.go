package ingest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// maxDepth is the nesting that encoding/json accepts too.
const maxDepth = 10000

// syntaxError is a fault at a byte of the record, counted from 0.
type syntaxError struct {
	at   int
	what string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.at+1) }

// jsonScanner reads JSON in one pass over the bytes. It accepts exactly what
// encoding/json accepts.
type jsonScanner struct {
	b     []byte
	i     int // of the next byte
	depth int
}

func (s *jsonScanner) fault(what string) error { return &syntaxError{s.i, what} }

// peek returns the next byte, 0 at the end: no token starts with it.
func (s *jsonScanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *jsonScanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *jsonScanner) close() error {
	s.i++
	s.depth--
	return nil
}

// any reads a value of any kind.
func (s *jsonScanner) any() (valueKind, []byte, error) {
	from := s.i
	switch c := s.peek(); {
	case c == '"':
		raw, err := s.text()
		return text, raw, err
	case c == '-' || c-'0' <= 9:
		err := s.number()
		return number, s.b[from:s.i], err
	case c == 't':
		return boolTrue, trueText, s.literal("true")
	case c == 'f':
		return boolFalse, falseText, s.literal("false")
	case c == 'n':
		return null, nil, s.literal("null")
	}
	err := s.skip()
	return composite, s.b[from:s.i], err
}

var trueText, falseText = []byte("true"), []byte("false")

// skip reads any value.
func (s *jsonScanner) skip() error {
	switch c := s.peek(); {
	case c == '"':
		_, err := s.quoted()
		return err
	case c == '{':
		return s.members(func([]byte) error { return s.skip() })
	case c == '[':
		return s.elements(s.skip)
	case c == '-' || c-'0' <= 9:
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.fault("expected a value")
}

func (s *jsonScanner) literal(word string) error {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return s.fault("expected a value")
	}
	s.i += len(word)
	return nil
}

// number reads a number by JSON's grammar.
func (s *jsonScanner) number() error {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return s.fault("expected a digit")
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return s.fault("expected a digit")
		}
	}
	if s.peek()|0x20 == 'e' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return s.fault("expected a digit")
		}
	}
	return nil
}

func (s *jsonScanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}

// text reads a string and returns it without quotes and escapes: a view of
// the line where it has no escapes, else a copy.
func (s *jsonScanner) text() ([]byte, error) {
	from := s.i
	escaped, err := s.quoted()
	if err != nil {
		return nil, err
	}
	return unquote(s.b[from:s.i], escaped), nil
}

// unquote takes the quotes off a valid string, and the escapes if it has any.
func unquote(quoted []byte, escaped bool) []byte {
	if escaped {
		return unescape(quoted)
	}
	return quoted[1 : len(quoted)-1]
}

// unescape decodes a string with escapes; as it was found valid, that cannot
// fail. encoding/json replaces bytes that are not UTF-8; only such a string loses
// them.
func unescape(quoted []byte) []byte {
	var out string
	_ = json.Unmarshal(quoted, &out)
	return []byte(out)
}

// quoted moves past a string and reports whether it has escapes.
func (s *jsonScanner) quoted() (escaped bool, err error) {
	b := s.b
	for i := s.i + 1; ; {
		if i += plainRun(b[i:]); i == len(b) {
			break
		}
		switch {
		case b[i] == '"':
			s.i = i + 1
			return escaped, nil
		case b[i] != '\\':
			s.i = i
			return false, s.fault("control character in a string")
		}
		escaped = true
		n := escapeLength(b[i+1:])
		if n == 0 {
			s.i = i
			return false, s.fault("bad escape")
		}
		i += 1 + n
	}
	s.i = len(b)
	return false, s.fault("string without an end")
}

// plainRun is how many bytes come before the first that ends the plain run of a
// string: a quote, a backslash or a control character. It looks at eight bytes at
// a time: strings are mostly short, and there are many.
func plainRun(b []byte) (n int) {
	for ; n+8 <= len(b); n += 8 {
		if found := notPlain(binary.LittleEndian.Uint64(b[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// notPlain sets the top bit of those of eight bytes that end a plain run. x-1
// borrows from the top bit of exactly those bytes that are 0, and of bytes above
// such a one, so the lowest hit is always a true one. A quote, 0x22, with its
// second bit turned over is 0x20, and control characters stay below that: one
// comparison finds both.
func notPlain(word uint64) uint64 {
	slashes := word ^ (lowBits * '\\')
	return quoteOrControl(word) | (slashes-lowBits)&^slashes&highBits
}

// quoteOrControl sets the top bit of quotes and control characters, as notPlain.
func quoteOrControl(word uint64) uint64 {
	turned := word ^ lowBits*2
	return (turned - lowBits*0x21) &^ turned & highBits
}

// escapeLength is the length of the escape after its backslash, 0 if it is none.
func escapeLength(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) >= 5 && hex(b[1]) && hex(b[2]) && hex(b[3]) && hex(b[4]) {
			return 5
		}
	}
	return 0
}

func hex(c byte) bool { return c-'0' <= 9 || (c|0x20)-'a' <= 5 }
