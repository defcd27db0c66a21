package ingest

// valueKind is what a value was written as. CSV cells are text.
type valueKind uint8

const (
	absent valueKind = iota
	null             // also "" where it says no more
	text
	number
	boolTrue
	boolFalse
	composite // an object or an array
)

// blanks are white space in JSON.
const blanks = " \t\r\n"

// white reports whether c is white space in JSON.
func white(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
