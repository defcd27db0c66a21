package jsonscan

// Balance finds the end of a JSON object or array by its brackets alone, in as
// many pieces as the bytes come in. It does not check the grammar: that is the
// decoder's part, which can then reject one element and go on with the next.
type Balance struct {
	Depth  int
	quoted bool // inside a string
	escape bool // the next byte is escaped
	begun  bool // of a string: its first quote was read
}

// Scan reads on in b and returns how many bytes belong to the value; done tells
// that its last bracket is among them.
func (s *Balance) Scan(b []byte) (n int, done bool) {
	i, bytewise := 0, 0
	for i < len(b) {
		if i >= bytewise && len(b)-i >= 64 {
			if s.block((*[64]byte)(b[i:])) {
				i += 64
				continue
			}
			bytewise = i + 64
		}
		if s.quoted {
			i = s.string(b, i)
			continue
		}
		switch bracket[b[i]] {
		case quote:
			s.quoted = true
		case opening:
			s.Depth++
		case closingBracket:
			if s.Depth--; s.Depth <= 0 {
				return i + 1, true
			}
		}
		i++
	}
	return i, false
}

// string moves from inside a string past its end, or to the end of b.
func (s *Balance) string(b []byte, i int) int {
	if s.escape {
		s.escape = false
		i++
	}
	for i < len(b) {
		i += UnescapedRun(b[i:])
		if i < len(b) && b[i] < ' ' { // the grammar's matter, not the brackets'
			i++
			continue
		}
		switch {
		case i >= len(b):
			return i
		case b[i] == '"':
			s.quoted = false
			return i + 1
		}
		if i += 2; i > len(b) { // a backslash and what it escapes
			s.escape = true
			return len(b)
		}
	}
	return i
}

const (
	quote uint8 = iota + 1
	opening
	closingBracket
)

// bracket marks the bytes that structure JSON.
var bracket = [256]uint8{'"': quote, '{': opening, '[': opening, '}': closingBracket, ']': closingBracket}

// Balanced returns the length of the object or array at the start of b, 0 if it
// does not end in b.
func Balanced(b []byte) int {
	var s Balance
	if n, done := s.Scan(b); done {
		return n
	}
	return 0
}

// ScanString is scan for a string, from its first quote on.
func (s *Balance) ScanString(b []byte) (n int, done bool) {
	if !s.begun && len(b) > 0 {
		s.begun, s.quoted, n = true, true, 1
	}
	for n < len(b) && s.quoted {
		n = s.string(b, n)
	}
	return n, s.begun && !s.quoted
}

// StringEnd returns the length of the string at the start of b, 0 if it does not
// end there.
func StringEnd(b []byte) int {
	var s Balance
	if n, done := s.ScanString(b); done {
		return n
	}
	return 0
}

// ScanScalar finds the end of a number, a literal or any other run of bytes that
// mean nothing in JSON's structure.
func ScanScalar(b []byte) (n int, done bool) {
	for n < len(b) && !structural[b[n]] {
		n++
	}
	return n, n < len(b)
}

// structural marks the bytes that end a scalar.
var structural = func() (t [256]bool) {
	for _, c := range " \t\r\n,:\"{}[]" {
		t[c] = true
	}
	return t
}()
