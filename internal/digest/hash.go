// Package digest is a fast hash that is the same in every run.
package digest

import (
	"encoding/binary"
	"math/bits"
)

const (
	A = 0x9e3779b97f4a7c15
	B = 0xd6e8feb86659fd93
)

// Sum reads b eight bytes at a time.
func Sum(seed uint64, b []byte) uint64 {
	h := seed ^ uint64(len(b))*A
	for ; len(b) >= 8; b = b[8:] {
		h = Fold(h^A, binary.LittleEndian.Uint64(b)^B)
	}
	var tail [8]byte
	copy(tail[:], b)
	return Fold(h^B, binary.LittleEndian.Uint64(tail[:])^A)
}

func Fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Run goes on with a hash of runs of bytes as if they were one.
func Run(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3 // FNV-1a: the runs may be cut anywhere
	}
	return h
}
