package jsonscan

import "bytes"

// The scanner as a pull parser, for formats whose records are trees.

// At starts the scanner at the first value of b.
func (s *Scanner) At(b []byte) {
	s.B, s.I, s.Depth = b, 0, 0
	s.Space()
}

// End is the place reached, 0 after a fault.
func (s *Scanner) End(err error) int {
	if err != nil {
		return 0
	}
	return s.I
}

// Members calls each with the name of every member of the object that starts
// here; each must read the value. The name is valid only until then.
func (s *Scanner) Members(each func(name []byte) error) error {
	if s.Peek() != '{' {
		return s.Fault("expected an object")
	}
	return s.List('}', "expected , or }", func() error {
		name, err := s.Name()
		if err != nil {
			return err
		}
		return each(name)
	})
}

// EachMember is Members for which any other value is an empty object.
func (s *Scanner) EachMember(each func(name []byte) error) error {
	if s.Peek() != '{' {
		return s.Skip()
	}
	return s.Members(each)
}

// List calls each at every item of the object or array that starts here.
func (s *Scanner) List(closing byte, otherwise string, each func() error) error {
	if s.Depth++; s.Depth > MaxDepth {
		return s.Fault("nested too deep")
	}
	s.I++
	s.Space()
	if s.Peek() == closing {
		return s.close()
	}
	for {
		if err := each(); err != nil {
			return err
		}
		s.Space()
		switch s.Peek() {
		case ',':
			s.I++
			s.Space()
		case closing:
			return s.close()
		default:
			return s.Fault(otherwise)
		}
	}
}

// Name reads a member's name and its colon.
func (s *Scanner) Name() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.Fault("expected a key")
	}
	name, err := s.text()
	if err != nil {
		return nil, err
	}
	s.Space()
	if s.Peek() != ':' {
		return nil, s.Fault("expected :")
	}
	s.I++
	s.Space()
	return name, nil
}

// Elements calls each at every element of the array that starts here; each must
// read it. Any other value is an empty array.
func (s *Scanner) Elements(each func() error) error {
	if s.Peek() != '[' {
		return s.Skip()
	}
	return s.List(']', "expected , or ]", each)
}

// EachObject calls each with the members of every object in the array that
// starts here.
func (s *Scanner) EachObject(each func(name []byte) error) error {
	return s.Elements(func() error { return s.EachMember(each) })
}

// Block passes an object or array by its brackets alone and returns its bytes:
// what is wrong inside is then the fault of a part, not of the whole.
func (s *Scanner) Block() ([]byte, error) {
	from := s.I
	if c := s.Peek(); c != '{' && c != '[' {
		err := s.Skip()
		return s.B[from:s.I], err
	}
	n := Balanced(s.B[from:])
	if n == 0 {
		return nil, s.Fault("a value without an end")
	}
	s.I += n
	return s.B[from:s.I], nil
}

// Scalar reads a value of any kind; an object or an array is passed over and
// absent.
func (s *Scanner) Scalar() (Kind, []byte, error) {
	kind, raw, err := s.Any()
	if kind == Composite {
		return Absent, nil, err
	}
	return kind, raw, err
}

// Unquoted takes quotes and escapes off a string that was found by brackets.
func Unquoted(quoted []byte) []byte {
	return unquote(quoted, bytes.IndexByte(quoted, '\\') >= 0)
}

// What is mostly next can be compared rather than read: each of these reads only
// what is as expected, and else stays where it is.

// Pass moves past text, if that is what comes next.
func (s *Scanner) Pass(text string) bool {
	if len(s.B)-s.I < len(text) || string(s.B[s.I:s.I+len(text)]) != text {
		return false
	}
	s.I += len(text)
	return true
}

// CompactList calls each at every item up to closing, with nothing but commas between
// them; false where each says so or anything else stands there.
func (s *Scanner) CompactList(closing string, each func() bool) bool {
	return s.Pass(closing) || each() && s.CompactRest(closing, each)
}

// CompactRest is CompactList after an item.
func (s *Scanner) CompactRest(closing string, each func() bool) bool {
	for !s.Pass(closing) {
		if !s.Pass(`,`) || !each() {
			return false
		}
	}
	return true
}

// Unescaped reads a string without escapes; else it stays where it is.
func (s *Scanner) Unescaped() (raw []byte, ok bool) {
	if s.Peek() != '"' {
		return nil, false
	}
	from := s.I + 1
	end := from + UnescapedRun(s.B[from:])
	if end >= len(s.B) || s.B[end] != '"' {
		return nil, false
	}
	s.I = end + 1
	return s.B[from:end], true
}

// Whole reads an integer without a sign that stands before a comma or a bracket;
// else it stays where it is.
func (s *Scanner) Whole() (raw []byte, ok bool) {
	from, i := s.I, s.I
	for i < len(s.B) && s.B[i]-'0' <= 9 {
		i++
	}
	if i == from || i == len(s.B) || s.B[i] != ',' && s.B[i] != '}' || s.B[from] == '0' && i > from+1 {
		return nil, false
	}
	s.I = i
	return s.B[from:i], true
}

// UnescapedAfter reads a string without escapes after a key.
func (s *Scanner) UnescapedAfter(key string, to *[]byte) (ok bool) {
	if s.Pass(key) {
		*to, ok = s.Unescaped()
	}
	return ok
}
