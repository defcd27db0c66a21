package moment

import (
	"encoding/binary"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Eight returns the eight bytes at the start of b, the first one lowest.
func Eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Digits is the value of up to 19 digits.
func Digits(b []byte) (v uint64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for ; len(b) >= 8; b = b[8:] {
		part, ok := eightDigits(Eight(b))
		if !ok {
			return 0, false
		}
		v = v*1e8 + part
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, true
}

// eightDigits is the value of eight digits, the first one lowest in w: pairs are
// joined to twos, fours and eights.
func eightDigits(w uint64) (v uint64, ok bool) {
	const high = jsonscan.LowBits * 0xf0
	if w&high != jsonscan.LowBits*'0' || (w+jsonscan.LowBits*6)&high != jsonscan.LowBits*'0' {
		return 0, false
	}
	w -= jsonscan.LowBits * '0'
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return ((w&pairs)*(100+1e6<<32) + (w>>16&pairs)*(1+1e4<<32)) >> 32, true
}
