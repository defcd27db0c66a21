package trace

import (
	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// The digest of a span tells exact duplicates: it is of the whole content,
// whatever the order of tags, the spelling of numbers, the white space and the
// names of processes. Log entries are no part of it: exporters write their
// fields in any order, and no two spans differ in them alone. It is the same in
// every run, as spans that start together are ordered by it.

// Salts of the digest's parts.
const (
	saltOperation uint64 = iota + 1
	saltService
	saltHost
	saltProcess
	saltStart
	saltDuration
	saltLinks
)

// add adds one part of the span's content. Parts are added up, so that their
// order does not matter; salt keeps equal values of different fields apart.
func (f *spanFields) add(salt uint64, content []byte) { f.digest += digest.Sum(salt*digest.B, content) }

func (f *spanFields) addNumber(salt uint64, n int64) {
	f.digest += digest.Fold(salt*digest.B^digest.A, uint64(n)^digest.B)
}

// addJSON adds a value as it stands, but for its white space.
func (f *spanFields) addJSON(salt uint64, raw []byte) {
	h := salt * digest.B
	from := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i += max(1, jsonscan.StringEnd(raw[i:])) - 1
		case jsonscan.White(c):
			h = digest.Run(h, raw[from:i])
			from = i + 1
		}
	}
	f.digest += digest.Run(h, raw[from:])
}
