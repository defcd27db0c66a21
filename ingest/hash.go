package ingest

import (
	"encoding/binary"
	"math/bits"
)

const (
	hashA = 0x9e3779b97f4a7c15
	hashB = 0xd6e8feb86659fd93
)

// hash64 reads b eight bytes at a time.
func hash64(seed uint64, b []byte) uint64 {
	h := seed ^ uint64(len(b))*hashA
	for ; len(b) >= 8; b = b[8:] {
		h = fold64(h^hashA, binary.LittleEndian.Uint64(b)^hashB)
	}
	var tail [8]byte
	copy(tail[:], b)
	return fold64(h^hashB, binary.LittleEndian.Uint64(tail[:])^hashA)
}

func fold64(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hashRun goes on with a hash of runs of bytes as if they were one.
func hashRun(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3 // FNV-1a: the runs may be cut anywhere
	}
	return h
}
