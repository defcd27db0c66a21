package idfold

// shape is what a word looks like.
type shape struct {
	n, digits, uppers int
	groups            int // of digits
	changes           int // between digits, small and capital letters
	hex               bool
}

const (
	longNumber  = 3  // digits, even in a word that stays
	hexFrom     = 8  // digits of a hexadecimal number
	mixedFrom   = 8  // letters of a word that changes at every second one
	longFrom    = 16 // letters of a word with a digit
	lettersFrom = 16 // letters without a digit
)

func shapeOf(word []byte) (s shape) {
	s.n, s.hex = len(word), true
	lowers, before := 0, byte(0)
	for _, c := range word {
		kind := kindOf(c)
		switch kind {
		case '0':
			if s.digits++; before != kind {
				s.groups++
			}
		case 'A':
			s.uppers++
		default:
			lowers++
		}
		if before != 0 && before != kind {
			s.changes++
		}
		s.hex = s.hex && hexDigit(c)
		before = kind
	}
	s.hex = s.hex && (s.uppers == 0 || lowers == 0)
	return s
}

func kindOf(c byte) byte {
	switch {
	case digit(c):
		return '0'
	case upper(c):
		return 'A'
	}
	return 'a'
}

// isID reports whether a word of letters and digits is an id: a hexadecimal number, a
// long word, one that changes between digits, small and capital letters all the time,
// or one with two numbers that is no version.
func (s shape) isID(word []byte) bool {
	switch {
	case s.digits == 0:
		return s.randomLetters()
	case s.hex && s.n >= hexFrom, s.n >= longFrom, s.n >= mixedFrom && 2*s.changes >= s.n:
		return true
	}
	return s.groups >= 2 && !version(word)
}

// randomLetters reports whether a long word without a digit has as many capitals as
// chance would give it: names in camel case have fewer.
func (s shape) randomLetters() bool {
	return s.digits == 0 && s.n >= lettersFrom && 5*s.uppers >= 2*s.n && 5*s.uppers <= 3*s.n && 3*s.changes >= s.n
}

// version reports whether a word is one such as v1beta1 or v2rc10.
func version(word []byte) bool {
	if word[0] != 'v' && word[0] != 'V' {
		return false
	}
	rest := word[1:]
	for _, stop := range [...]func(byte) bool{letter, digit, letter} {
		n := until(rest, stop)
		if n == 0 {
			return false
		}
		rest = rest[n:]
	}
	return len(rest) == 0
}

// uuid returns how long the UUID is with which the text begins, 0 for none. Its parts
// are joined by dashes, or all by underscores.
func uuid(text []byte) int {
	const length = 36
	if len(text) < length || len(text) > length && inWord(text[length]) {
		return 0
	}
	join := text[8]
	for i, c := range text[:length] {
		switch i {
		case 8, 13, 18, 23:
			if c != join || c != '-' && c != '_' {
				return 0
			}
		default:
			if !hexDigit(c) {
				return 0
			}
		}
	}
	return length
}

// address returns how long the e-mail address is with which the text begins, 0 for
// none.
func address(text []byte) int {
	at := until(text, func(c byte) bool { return !inWord(c) && c != '.' && c != '-' && c != '_' && c != '+' })
	if at == len(text) || text[at] != '@' {
		return 0
	}
	domain := text[at+1:]
	n := until(domain, func(c byte) bool { return !inWord(c) && c != '.' && c != '-' })
	for n > 0 && !inWord(domain[n-1]) {
		n--
	}
	if until(domain[:n], func(c byte) bool { return c == '.' }) == n || n == 0 || !inWord(domain[0]) {
		return 0
	}
	return at + 1 + n
}
