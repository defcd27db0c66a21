package jsonscan

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

// CompactRest is tight after an item.
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
