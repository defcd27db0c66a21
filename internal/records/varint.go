// Package records packs numbers into records of bytes, and keeps such records.
package records

import "encoding/binary"

// Numbers are written as encoding/binary writes them. Nearly all take one to
// three bytes, so those have a fast path.

// Append appends a number.
func Append(b []byte, v uint64) []byte {
	switch {
	case v < 1<<7:
		return append(b, byte(v))
	case v < 1<<14:
		return append(b, byte(v)|0x80, byte(v>>7))
	case v < 1<<21:
		return append(b, byte(v)|0x80, byte(v>>7)|0x80, byte(v>>14))
	}
	return binary.AppendUvarint(b, v)
}

// Take takes a number that Append wrote off the front.
func Take(b []byte) (v uint64, rest []byte) {
	if b[0] < 0x80 {
		return uint64(b[0]), b[1:]
	}
	return takeLong(b)
}

func takeLong(b []byte) (uint64, []byte) {
	v := uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7
	if b[1] < 0x80 {
		return v, b[2:]
	}
	if b[2] < 0x80 {
		return v | uint64(b[2])<<14, b[3:]
	}
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

// Zigzag makes small numbers of those near 0.
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
