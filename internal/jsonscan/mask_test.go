package jsonscan

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// bytewiseScan is scan byte by byte, as the brackets are defined.
func bytewiseScan(b []byte) (n int, done bool) {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1, true
			}
		}
	}
	return len(b), false
}

// TestBlocksAreScannedAsBytesAre draws texts of the bytes that matter, so that
// every kind of run comes to lie across the ends of blocks.
func TestBlocksAreScannedAsBytesAre(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{`"\{}[]xyY_`, `"\a`, `"a{[}`, "\"{}\x01\\ \x80\xfb\xfd", `{{{"}]\`} {
		for range 4000 {
			in := append([]byte(`[{[{`), make([]byte, r.IntN(300))...)
			for i := 4; i < len(in); i++ {
				in[i] = alphabet[r.IntN(len(alphabet))]
			}
			wantN, wantDone := bytewiseScan(in)
			for _, step := range []int{len(in), 1 + r.IntN(100)} {
				var s Balance
				at, done := 0, false
				for at < len(in) && !done {
					var n int
					n, done = s.Scan(in[at:min(len(in), at+step)])
					at += n
				}
				if done != wantDone || at != wantN {
					t.Fatalf("%q in pieces of %d: %d %v, want %d %v", in, step, at, done, wantN, wantDone)
				}
			}
		}
	}
}

func BenchmarkBalance(b *testing.B) {
	span := `{"traceID":"1","spanID":"2","operationName":"GET \"/\"","tags":[{"key":"url.full","type":"string","value":"http://127.0.0.1:18083/"}],"logs":[]},`
	in := []byte("[" + strings.Repeat(span, 5000) + "{}]")
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if Balanced(in) != len(in) {
			b.Fatal("no end")
		}
	}
}
