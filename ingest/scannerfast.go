package ingest

// What is mostly next can be compared rather than read: each of these reads only
// what is as expected, and else stays where it is.

// pass moves past text, if that is what comes next.
func (s *jsonScanner) pass(text string) bool {
	if len(s.b)-s.i < len(text) || string(s.b[s.i:s.i+len(text)]) != text {
		return false
	}
	s.i += len(text)
	return true
}

// tight calls each at every item up to closing, with nothing but commas between
// them; false where each says so or anything else stands there.
func (s *jsonScanner) tight(closing string, each func() bool) bool {
	return s.pass(closing) || each() && s.further(closing, each)
}

// further is tight after an item.
func (s *jsonScanner) further(closing string, each func() bool) bool {
	for !s.pass(closing) {
		if !s.pass(`,`) || !each() {
			return false
		}
	}
	return true
}

// plain reads a string without escapes; else it stays where it is.
func (s *jsonScanner) plain() (raw []byte, ok bool) {
	if s.peek() != '"' {
		return nil, false
	}
	from := s.i + 1
	end := from + plainRun(s.b[from:])
	if end >= len(s.b) || s.b[end] != '"' {
		return nil, false
	}
	s.i = end + 1
	return s.b[from:end], true
}

// whole reads an integer without a sign that stands before a comma or a bracket;
// else it stays where it is.
func (s *jsonScanner) whole() (raw []byte, ok bool) {
	from, i := s.i, s.i
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	if i == from || i == len(s.b) || s.b[i] != ',' && s.b[i] != '}' || s.b[from] == '0' && i > from+1 {
		return nil, false
	}
	s.i = i
	return s.b[from:i], true
}

// plainAfter reads a string without escapes after a key.
func (s *jsonScanner) plainAfter(key string, to *[]byte) (ok bool) {
	if s.pass(key) {
		*to, ok = s.plain()
	}
	return ok
}
