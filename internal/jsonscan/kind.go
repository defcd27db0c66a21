package jsonscan

// Kind is what a value was written as. CSV cells are text.
type Kind uint8

const (
	Absent Kind = iota
	Null        // also "" where it says no more
	Text
	Number
	True
	False
	Composite // an object or an array
)

// Blanks are white space in JSON.
const Blanks = " \t\r\n"

// White reports whether c is white space in JSON.
func White(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
