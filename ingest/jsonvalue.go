package ingest

// The scanner as a pull parser, for formats whose records are trees.

// at starts the scanner at the first value of b.
func (s *jsonScanner) at(b []byte) {
	s.b, s.i, s.depth = b, 0, 0
	s.space()
}

// members calls each with the name of every member of the object that starts
// here; each must read the value. The name is valid only until then.
func (s *jsonScanner) members(each func(name []byte) error) error {
	if s.peek() != '{' {
		return s.fault("expected an object")
	}
	if s.depth++; s.depth > maxDepth {
		return s.fault("nested too deep")
	}
	s.i++
	s.space()
	if s.peek() == '}' {
		return s.close()
	}
	for {
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := each(name); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.i++
			s.space()
		case '}':
			return s.close()
		default:
			return s.fault("expected , or }")
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
// read it. null is an empty array.
func (s *jsonScanner) elements(each func() error) error {
	if s.peek() == 'n' {
		return s.literal("null")
	}
	if s.peek() != '[' {
		return s.fault("expected an array")
	}
	if s.depth++; s.depth > maxDepth {
		return s.fault("nested too deep")
	}
	s.i++
	s.space()
	if s.peek() == ']' {
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
		case ']':
			return s.close()
		default:
			return s.fault("expected , or ]")
		}
	}
}

// raw skips the value that starts here and returns its bytes.
func (s *jsonScanner) raw() ([]byte, error) {
	from := s.i
	err := s.skip()
	return s.b[from:s.i], err
}

// block passes an object or array by its brackets alone and returns its bytes:
// what is wrong inside is then the fault of a part, not of the whole.
func (s *jsonScanner) block() ([]byte, error) {
	if c := s.peek(); c != '{' && c != '[' {
		return s.raw()
	}
	n := balanced(s.b[s.i:])
	if n == 0 {
		return nil, s.fault("a value without an end")
	}
	s.i += n
	return s.b[s.i-n : s.i], nil
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
