package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// The brackets of JSON, 64 bytes at a time: a bit for each byte, bit 0 for the
// first. There is no branch on the bytes, which are hard to foresee: a record
// has a string every dozen bytes.

const (
	LowBits  = 0x0101010101010101
	HighBits = 0x8080808080808080
	restBits = ^uint64(HighBits)
)

// masks are the bytes of a block that structure JSON, as bits. backslashes only
// says whether there are any.
type masks struct {
	quotes, opening, closing uint64
	backslashes              bool
}

// masksOf looks at the bytes of b.
func masksOf(b *[64]byte) (m masks) {
	none := uint64(0)
	for i := 0; i < 64; i += 8 {
		word := binary.LittleEndian.Uint64(b[i : i+8])
		lower := word | LowBits*0x20 // which makes [ a { and ] a }
		m.quotes = m.quotes>>8 | zeros(word^LowBits*'"')
		m.opening = m.opening>>8 | zeros(lower^LowBits*'{')
		m.closing = m.closing>>8 | zeros(lower^LowBits*'}')
		slash := word ^ LowBits*'\\'
		none |= (slash - LowBits) &^ slash
	}
	m.backslashes = none&HighBits != 0
	return m
}

// zeros returns, in the highest byte, a bit for each byte of x that is 0.
func zeros(x uint64) uint64 {
	zero := ^(x&restBits + restBits | x | restBits)
	return zero >> 7 * 0x0102040810204080 & (0xff << 56)
}

// slashesOf are the backslashes of a block.
func slashesOf(b *[64]byte) (slashes uint64) {
	for i := 0; i < 64; i += 8 {
		slashes = slashes>>8 | zeros(binary.LittleEndian.Uint64(b[i:i+8])^LowBits*'\\')
	}
	return slashes
}

// escaped returns which bytes are escaped by an odd run of slashes before them;
// carry is 1 where the first one is, and then where that of the next block is.
func escaped(slashes, carry uint64) (which, next uint64) {
	const odd = 0xaaaaaaaaaaaaaaaa
	starts := slashes &^ carry
	codes := (starts<<1 | odd) - starts ^ odd
	return codes ^ (slashes | carry), codes & slashes >> 63
}

// filled returns, for each bit, the parity of the bits up to it: from a string's
// first quote on, up to its last.
func filled(quotes uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		quotes ^= quotes << shift
	}
	return quotes
}

// block scans the 64 bytes of b. It returns false, and changes nothing, where
// the value may end in them or a backslash stands outside of a string, which
// only the grammar forbids.
func (s *Balance) block(b *[64]byte) bool {
	m := masksOf(b)
	var slashes, escape uint64
	if m.backslashes || s.escape {
		var which uint64
		slashes = slashesOf(b)
		which, escape = escaped(slashes, bit(s.escape))
		m.quotes &^= which
	}
	inside := filled(m.quotes) ^ -bit(s.quoted)
	if slashes&^inside != 0 {
		return false
	}
	down := bits.OnesCount64(m.closing &^ inside)
	if s.Depth <= down {
		return false
	}
	s.Depth += bits.OnesCount64(m.opening&^inside) - down
	s.quoted, s.escape = inside>>63 != 0, escape != 0
	return true
}

func bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}
