package ingest

import "bytes"

// The scanner as a pull parser, for formats whose records are trees.

// at starts the scanner at the first value of b.
func (s *jsonScanner) at(b []byte) {
	s.b, s.i, s.depth = b, 0, 0
	s.space()
}

// end is the place reached, 0 after a fault.
func (s *jsonScanner) end(err error) int {
	if err != nil {
		return 0
	}
	return s.i
}

// members calls each with the name of every member of the object that starts
// here; each must read the value. The name is valid only until then.
func (s *jsonScanner) members(each func(name []byte) error) error {
	if s.peek() != '{' {
		return s.fault("expected an object")
	}
	return s.list('}', "expected , or }", func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		return each(name)
	})
}

// list calls each at every item of the object or array that starts here.
func (s *jsonScanner) list(closing byte, otherwise string, each func() error) error {
	if s.depth++; s.depth > maxDepth {
		return s.fault("nested too deep")
	}
	s.i++
	s.space()
	if s.peek() == closing {
		return s.close()
	}
	for {
		if err := each(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.i++
			s.space()
		case closing:
			return s.close()
		default:
			return s.fault(otherwise)
		}
	}
}

// name reads a member's name and its colon.
func (s *jsonScanner) name() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fault("expected a key")
	}
	name, err := s.text()
	if err != nil {
		return nil, err
	}
	s.space()
	if s.peek() != ':' {
		return nil, s.fault("expected :")
	}
	s.i++
	s.space()
	return name, nil
}

// elements calls each at every element of the array that starts here; each must
// read it. Any other value is an empty array.
func (s *jsonScanner) elements(each func() error) error {
	if s.peek() != '[' {
		return s.skip()
	}
	return s.list(']', "expected , or ]", each)
}

// eachObject calls each with the members of every object in the array that
// starts here.
func (s *jsonScanner) eachObject(each func(name []byte) error) error {
	return s.elements(func() error {
		if s.peek() != '{' {
			return s.skip()
		}
		return s.members(each)
	})
}

// block passes an object or array by its brackets alone and returns its bytes:
// what is wrong inside is then the fault of a part, not of the whole.
func (s *jsonScanner) block() ([]byte, error) {
	from := s.i
	if c := s.peek(); c != '{' && c != '[' {
		err := s.skip()
		return s.b[from:s.i], err
	}
	n := balanced(s.b[from:])
	if n == 0 {
		return nil, s.fault("a value without an end")
	}
	s.i += n
	return s.b[from:s.i], nil
}

// scalar reads a value of any kind; an object or an array is passed over and
// absent.
func (s *jsonScanner) scalar() (valueKind, []byte, error) {
	kind, raw, err := s.any()
	if kind == composite {
		return absent, nil, err
	}
	return kind, raw, err
}

// unquoted takes quotes and escapes off a string that was found by brackets.
func unquoted(quoted []byte) []byte {
	return unquote(quoted, bytes.IndexByte(quoted, '\\') >= 0)
}
