package jsonscan

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The eight-byte steps find what a byte-wise walk finds, at every place and for
// every byte.
func TestPlainRunEndsWhereABytewiseWalkDoes(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, fill := range []byte{'a', ' ', '!', '#', '[', ']', 0x7f, 0x80, 0xff} {
				b := bytes.Repeat([]byte{fill}, 20)
				b[at] = byte(c)
				want := 20
				if c < ' ' || c == '"' || c == '\\' {
					want = at
				}
				for from := range at + 1 {
					if got := from + UnescapedRun(b[from:]); got != want {
						t.Fatalf("byte %#x at %d of %q, from %d: %d, want %d", c, at, fill, from, got, want)
					}
				}
			}
		}
	}
}

// FuzzBalanceAgreesWithJSON: the end found by brackets is that of the value, in
// however many pieces it comes.
func FuzzBalanceAgreesWithJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,"]",{"a":"\\"}] x`, `{"a":"\"}"}`, `"x\\"`, `[{"a":[]}],`} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		if len(in) == 0 || in[0] != '{' && in[0] != '[' {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(in))
		var raw json.RawMessage
		if dec.Decode(&raw) == nil {
			if end := int(dec.InputOffset()); Balanced(in) != end {
				t.Errorf("%q: end %d, want %d", in, Balanced(in), end)
			}
		}
		n := Balanced(in)
		var s Balance
		at, done := 0, false
		for step := 1 + int(piece); at < len(in) && !done; {
			var k int
			k, done = s.Scan(in[at:min(len(in), at+step)])
			at += k
		}
		if done != (n > 0) || done && at != n {
			t.Errorf("%q: %d in one piece, %d %v in pieces of %d", in, n, at, done, piece)
		}
	})
}
