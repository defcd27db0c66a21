package ingest

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/format"
)

// foreignText names a text that no format can be, whatever stands in it: one in two
// or four bytes a character, or with line ends of its own. It returns nil for others.
func foreignText(head []byte) *format.RefusedError {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return refusedText("UTF-32", "convert it with iconv -f UTF-32 -t UTF-8")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return refusedText("UTF-16", "convert it with iconv -f UTF-16 -t UTF-8")
	case everyOther(head, 1):
		return refusedText("UTF-16 without a byte order mark", "convert it with iconv -f UTF-16LE -t UTF-8")
	case everyOther(head, 0):
		return refusedText("UTF-16 without a byte order mark", "convert it with iconv -f UTF-16BE -t UTF-8")
	case bytes.IndexByte(head, '\n') < 0 && bytes.Contains(bytes.TrimSpace(head), []byte("\r")):
		return refusedText("text whose lines end in CR alone", `convert it with tr '\r' '\n'`)
	}
	return nil
}

func refusedText(what, remedy string) *format.RefusedError {
	return &format.RefusedError{What: what, Why: remedy}
}

// everyOther reports whether text begins with characters of ASCII in two bytes each,
// of which the one at that place is zero.
func everyOther(head []byte, zero int) bool {
	const enough = 16
	if len(head) < enough {
		return false
	}
	for i, c := range head[:enough] {
		if (c == 0) != (i%2 == zero) {
			return false
		}
	}
	return true
}
