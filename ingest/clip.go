package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/tailscope/tailscope/ingest/format"
)

// longestName is how many bytes of a name or an id are kept. What is longer is junk,
// or a whole message in place of a name: it would follow its hop into every table.
const longestName = 4 << 10

// hashed is how many bytes of the SHA-256 of a name end what is kept of it: two names
// that differ stay two.
const hashed = 8

const ellipsis = "…"

// bounded returns a name as it is kept, and counts one that is clipped. It is good as
// long as the name is.
func (o *output) bounded(name []byte) []byte {
	if len(name) <= longestName {
		return name
	}
	o.tally.Odd[format.LongNames]++
	return clip(name)
}

// clip cuts a name at the start of a character, and appends a hash of the whole.
func clip(name []byte) []byte {
	end := longestName - len(ellipsis) - hex.EncodedLen(hashed)
	for last := end - utf8.UTFMax; end > last && !utf8.RuneStart(name[end]); {
		end--
	}
	sum := sha256.Sum256(name)
	kept := append(make([]byte, 0, longestName), name[:end]...)
	return hex.AppendEncode(append(kept, ellipsis...), sum[:hashed])
}
