// Package jsonscan reads JSON as bytes: a pull parser that accepts what
// encoding/json accepts, objects by a table of their members, and the ends of values
// by their brackets alone, in as many pieces as the bytes come in.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is the nesting that encoding/json accepts too.
const MaxDepth = 10000

// SyntaxError is a fault at a byte of the record, counted from 0.
type SyntaxError struct {
	At   int
	what string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.At+1) }

// Scanner reads JSON in one pass over the bytes. It accepts exactly what
// encoding/json accepts.
type Scanner struct {
	B     []byte
	I     int // of the next byte
	Depth int
}

func (s *Scanner) Fault(what string) error { return &SyntaxError{s.I, what} }

// Peek returns the next byte, 0 at the end: no token starts with it.
func (s *Scanner) Peek() byte {
	if s.I < len(s.B) {
		return s.B[s.I]
	}
	return 0
}

func (s *Scanner) Space() {
	for s.I < len(s.B) {
		switch s.B[s.I] {
		case ' ', '\t', '\n', '\r':
			s.I++
		default:
			return
		}
	}
}

func (s *Scanner) close() error {
	s.I++
	s.Depth--
	return nil
}

// Any reads a value of any kind.
func (s *Scanner) Any() (Kind, []byte, error) {
	from := s.I
	switch c := s.Peek(); {
	case c == '"':
		raw, err := s.text()
		return Text, raw, err
	case c == '-' || c-'0' <= 9:
		err := s.number()
		return Number, s.B[from:s.I], err
	case c == 't':
		return True, TrueText, s.literal("true")
	case c == 'f':
		return False, FalseText, s.literal("false")
	case c == 'n':
		return Null, nil, s.literal("null")
	case c == '{' || c == '[':
		err := s.Skip()
		return Composite, s.B[from:s.I], err
	}
	return Composite, nil, s.Fault("expected a value")
}

var TrueText, FalseText = []byte("true"), []byte("false")

// Skip reads any value.
func (s *Scanner) Skip() error {
	switch s.Peek() {
	case '"':
		_, err := s.quoted()
		return err
	case '{':
		return s.Members(func([]byte) error { return s.Skip() })
	case '[':
		return s.Elements(s.Skip)
	}
	_, _, err := s.Any()
	return err
}

func (s *Scanner) literal(word string) error {
	if !s.Pass(word) {
		return s.Fault("expected a value")
	}
	return nil
}

// number reads a number by JSON's grammar.
func (s *Scanner) number() error {
	if s.Peek() == '-' {
		s.I++
	}
	if s.Peek() == '0' {
		s.I++
	} else if !s.digits() {
		return s.Fault("expected a digit")
	}
	if s.Peek() == '.' {
		s.I++
		if !s.digits() {
			return s.Fault("expected a digit")
		}
	}
	if s.Peek()|0x20 == 'e' {
		s.I++
		if c := s.Peek(); c == '+' || c == '-' {
			s.I++
		}
		if !s.digits() {
			return s.Fault("expected a digit")
		}
	}
	return nil
}

func (s *Scanner) digits() bool {
	from := s.I
	for s.I < len(s.B) && s.B[s.I]-'0' <= 9 {
		s.I++
	}
	return s.I > from
}

// text reads a string and returns it without quotes and escapes: a view of
// the line where it has no escapes, else a copy.
func (s *Scanner) text() ([]byte, error) {
	if raw, ok := s.Unescaped(); ok {
		return raw, nil
	}
	from := s.I
	escaped, err := s.quoted()
	if err != nil {
		return nil, err
	}
	return unquote(s.B[from:s.I], escaped), nil
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
	if len(quoted) > 1 {
		if out := unescapeShort(quoted[1 : len(quoted)-1]); out != nil {
			return out
		}
	}
	var out string
	_ = json.Unmarshal(quoted, &out)
	return []byte(out)
}

// unescapeShort decodes text whose escapes have one letter, as most have; nil for other.
func unescapeShort(text []byte) []byte {
	if !utf8.Valid(text) {
		return nil
	}
	out := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(out, text...)
		}
		if i+1 == len(text) || shortEscapes[text[i+1]] == 0 {
			return nil
		}
		out, text = append(append(out, text[:i]...), shortEscapes[text[i+1]]), text[i+2:]
	}
}

// shortEscapes are what the letter after a backslash means, 0 for u.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// quoted moves past a string and reports whether it has escapes.
func (s *Scanner) quoted() (escaped bool, err error) {
	b := s.B
	for i := s.I + 1; ; {
		if i += UnescapedRun(b[i:]); i == len(b) {
			break
		}
		switch {
		case b[i] == '"':
			s.I = i + 1
			return escaped, nil
		case b[i] != '\\':
			s.I = i
			return false, s.Fault("control character in a string")
		}
		escaped = true
		n := escapeLength(b[i+1:])
		if n == 0 {
			s.I = i
			return false, s.Fault("bad escape")
		}
		i += 1 + n
	}
	s.I = len(b)
	return false, s.Fault("string without an end")
}

// UnescapedRun is how many bytes come before the first that ends the unescaped run of a
// string: a quote, a backslash or a control character. It looks at eight bytes at
// a time: strings are mostly short, and there are many.
func UnescapedRun(b []byte) (n int) {
	for ; n+8 <= len(b); n += 8 {
		if found := endsUnescaped(binary.LittleEndian.Uint64(b[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// endsUnescaped sets the top bit of those of eight bytes that end an unescaped run. x-1
// borrows from the top bit of exactly those bytes that are 0, and of bytes above
// such a one, so the lowest hit is always a true one. A quote, 0x22, with its
// second bit turned over is 0x20, and control characters stay below that: one
// comparison finds both.
func endsUnescaped(word uint64) uint64 {
	slashes := word ^ (LowBits * '\\')
	return QuoteOrControl(word) | (slashes-LowBits)&^slashes&HighBits
}

// QuoteOrControl sets the top bit of quotes and control characters, as endsUnescaped does.
func QuoteOrControl(word uint64) uint64 {
	turned := word ^ LowBits*2
	return (turned - LowBits*0x21) &^ turned & HighBits
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
