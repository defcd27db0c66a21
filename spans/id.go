package spans

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
)

// TraceID identifies a trace by value: hexadecimal ids of any case and padding
// and the base64 forms of the same bytes are one id. Ids that are no number
// ("trace-123") are kept by a 128-bit hash and their text.
type TraceID struct{ Hi, Lo uint64 }

// SpanID identifies a span within its trace, in the same way with 64 bits. 0 is
// no span.
type SpanID uint64

// String gives the 32 digits under which a numeric trace id is printed.
func (t TraceID) String() string { return fmt.Sprintf("%016x%016x", t.Hi, t.Lo) }

// String gives the 16 digits under which a numeric span id is printed.
func (s SpanID) String() string { return fmt.Sprintf("%016x", uint64(s)) }

// IsZero reports whether the id is all zeros, which is no id.
func (t TraceID) IsZero() bool { return t == TraceID{} }

// Hash mixes all bits of an id.
func (t TraceID) Hash() uint64 {
	h := (t.Hi ^ bits.RotateLeft64(t.Lo, 27)) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>29
}

// Group puts traces and chains into groups by their ids, so that which of them are
// drawn together, where they are resampled, depends on nothing else.
func (t TraceID) Group() uint16 { return uint16(t.Hash() >> 48) }

// ParseTraceID reads a trace id as written in JSON. opaque tells that it is no
// number, so that its text must be kept to print it.
func ParseTraceID(text []byte) (id TraceID, opaque bool) {
	if hi, lo, ok := number(text); ok {
		return TraceID{hi, lo}, false
	}
	return textHash(text), true
}

// textHash is the 128-bit FNV-1a hash; the one of the standard library allocates.
func textHash(text []byte) TraceID {
	const low, shift = 0x13b, 24 // its prime is 2^88 + low
	h := TraceID{0x6c62272e07bb0142, 0x62b821756295c58d}
	for _, c := range text {
		h.Lo ^= uint64(c)
		hi, lo := bits.Mul64(low, h.Lo)
		h = TraceID{hi + h.Lo<<shift + low*h.Hi, lo}
	}
	return h
}

// ParseSpanID reads a span id as written in JSON.
func ParseSpanID(text []byte) (id SpanID, opaque bool) {
	if hi, lo, ok := number(text); ok && hi == 0 {
		return SpanID(lo), false
	}
	h := fnv.New64a()
	h.Write(text)
	return SpanID(h.Sum64() | 1), true
}

// number reads an id's value from hexadecimal digits, with or without 0x, or
// from base64 of 8 or 16 bytes, or of the digits themselves.
func number(text []byte) (hi, lo uint64, ok bool) {
	if hi, lo, ok = hexadecimal(text); ok {
		return hi, lo, true
	}
	n := len(text)
	if (n != 12 && n != 24 && n != 44) || text[n-1] != '=' {
		return 0, 0, false
	}
	var raw [33]byte
	size, err := base64.StdEncoding.Decode(raw[:], text)
	if err != nil {
		return 0, 0, false
	}
	if size == 16 || size == 32 { // ids that were encoded twice: base64 of hexadecimal text
		if hi, lo, ok = hexadecimal(raw[:size]); ok {
			return hi, lo, true
		}
	}
	return bytesValue(raw[:size])
}

func bytesValue(raw []byte) (hi, lo uint64, ok bool) {
	switch len(raw) {
	case 8:
		return 0, binary.BigEndian.Uint64(raw), true
	case 16:
		return binary.BigEndian.Uint64(raw), binary.BigEndian.Uint64(raw[8:]), true
	}
	return 0, 0, false
}

// hexadecimal reads up to 32 digits.
func hexadecimal(text []byte) (hi, lo uint64, ok bool) {
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
	}
	if len(text) == 0 || len(text) > 32 {
		return 0, 0, false
	}
	for _, c := range text {
		d := hexDigit[c]
		if d > 15 {
			return 0, 0, false
		}
		hi, lo = hi<<4|lo>>60, lo<<4|uint64(d)
	}
	return hi, lo, true
}

// hexDigit is the value of a digit, 255 for other bytes.
var hexDigit = func() (t [256]uint8) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range "0123456789abcdef" {
		t[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		t[c] = uint8(10 + i)
	}
	return t
}()
