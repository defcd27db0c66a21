package assembly

import (
	"strings"

	"github.com/tailscope/tailscope/spans"
)

// spelling is how the id of a chain was written, so that it is printed the same:
// the number of its hexadecimal digits, and whether the letters are capitals; 0
// where it is no plain run of them.
type spelling byte

const capitals = 1 << 7

func spellingOf(text []byte) spelling {
	lower, upper := false, false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'f':
			lower = true
		case c >= 'A' && c <= 'F':
			upper = true
		default:
			return 0
		}
	}
	switch {
	case len(text) > 32 || lower && upper:
		return 0
	case upper:
		return spelling(len(text)) | capitals
	}
	return spelling(len(text))
}

// of spells a number.
func (s spelling) of(id spans.TraceID) string {
	text := id.String()
	if n := int(s &^ capitals); n > 0 {
		text = text[len(text)-n:]
	}
	if s&capitals != 0 {
		return strings.ToUpper(text)
	}
	return text
}
