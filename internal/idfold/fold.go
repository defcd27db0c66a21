package idfold

import "bytes"

// Placeholder stands where an id was, Query where the query of a path was.
const (
	Placeholder = "{id}"
	Query       = "?{query}"
)

// Name returns the name with its ids folded.
func Name(name string) string {
	if folded := Append(nil, []byte(name)); string(folded) != name {
		return string(folded)
	}
	return name
}

// Append appends the name with its ids folded. Folding what is folded changes nothing.
//
// A name is words, runs of letters and digits, and what stands between them. Bytes
// beyond ASCII count as letters. In this order these become a placeholder: the query of
// a path, an e-mail address, a UUID, a number, a word that is an id, and three digits
// or more in any other word. An escape such as %2F stands between words.
func Append(to, name []byte) []byte {
	f := folding{out: to, start: len(to), mail: bytes.IndexByte(name, '@') >= 0}
	for len(name) > 0 {
		name = f.next(name)
	}
	return f.out
}

type folding struct {
	out   []byte
	start int  // where the name begins in out
	mail  bool // there may be an e-mail address
	path  bool // a slash was seen since the last space
}

// next takes what comes next off the name.
func (f *folding) next(name []byte) []byte {
	c := name[0]
	switch {
	case inWord(c):
		return f.word(name)
	case c == '?' && f.path:
		f.out = append(f.out, Query...)
		return name[until(name, func(c byte) bool { return c == ' ' }):]
	case c == '%' && len(name) > 2 && hexDigit(name[1]) && hexDigit(name[2]):
		f.out = append(f.out, name[:3]...)
		return name[3:]
	}
	f.path = c == '/' || f.path && c != ' '
	f.out = append(f.out, c)
	return name[1:]
}

// word takes a word off the name, and what belongs together with it.
func (f *folding) word(name []byte) []byte {
	if f.mail {
		if n := address(name); n > 0 {
			f.out = append(f.out, Placeholder...)
			return name[n:]
		}
	}
	if n := uuid(name); n > 0 {
		f.out = append(f.out, Placeholder...)
		return name[n:]
	}
	n := until(name, func(c byte) bool { return !inWord(c) })
	word := name[:n]
	switch s := shapeOf(word); {
	case s.digits == 0 && !s.randomLetters():
		f.out = append(f.out, word...)
	case s.digits == s.n && f.versionOfHTTP():
		n = until(name, func(c byte) bool { return !digit(c) && c != '.' })
		f.out = append(f.out, name[:n]...)
	case s.digits == s.n && !(s.n == 1 && f.joined()) || s.digits < s.n && s.isID(word):
		f.out = append(f.out, Placeholder...)
	default:
		f.longNumbers(word)
	}
	return name[n:]
}

// longNumbers appends a word that stays, but for three digits or more in a row.
func (f *folding) longNumbers(word []byte) {
	for len(word) > 0 {
		if !digit(word[0]) {
			n := until(word, digit)
			f.out, word = append(f.out, word[:n]...), word[n:]
			continue
		}
		n := until(word, func(c byte) bool { return !digit(c) })
		if n < longNumber {
			f.out = append(f.out, word[:n]...)
		} else {
			f.out = append(f.out, Placeholder...)
		}
		word = word[n:]
	}
}

// joined reports whether a dash or an underscore joins what comes to a word that
// stayed, as in us-east-1 and utf-8.
func (f *folding) joined() bool {
	out := f.out[f.start:]
	n := len(out)
	return n >= 2 && (out[n-1] == '-' || out[n-1] == '_') && letter(out[n-2])
}

// versionOfHTTP reports whether what comes is the version in HTTP/1.1.
func (f *folding) versionOfHTTP() bool {
	const protocol = "http/"
	out := f.out[f.start:]
	if len(out) < len(protocol) || len(out) > len(protocol) && inWord(out[len(out)-len(protocol)-1]) {
		return false
	}
	return bytes.EqualFold(out[len(out)-len(protocol):], []byte(protocol))
}

// until returns how many bytes come before the first that stop says of.
func until(b []byte, stop func(byte) bool) int {
	for i, c := range b {
		if stop(c) {
			return i
		}
	}
	return len(b)
}

func digit(c byte) bool    { return c-'0' < 10 }
func lower(c byte) bool    { return c-'a' < 26 }
func upper(c byte) bool    { return c-'A' < 26 }
func letter(c byte) bool   { return lower(c) || upper(c) || c >= 0x80 }
func inWord(c byte) bool   { return digit(c) || letter(c) }
func hexDigit(c byte) bool { return digit(c) || c-'a' < 6 || c-'A' < 6 }
