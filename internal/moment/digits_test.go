package moment

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestPlainDigitsAreThoseOfStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		b := make([]byte, r.IntN(21))
		for i := range b {
			b[i] = byte('0' + r.IntN(10))
		}
		if len(b) > 0 && r.IntN(3) == 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		want, err := strconv.ParseUint(string(b), 10, 64)
		got, ok := Digits(b)
		if digits := err == nil && len(b) <= 19; ok != digits || ok && got != want {
			t.Fatalf("%q: %d %v, want %d %v", b, got, ok, want, err)
		}
	}
}
