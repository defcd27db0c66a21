package spans

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
	"testing"
)

func TestTextsAreHashedAsTheStandardLibraryDoes(t *testing.T) {
	for _, text := range []string{"", "x", "trace-123", "c-00000000", strings.Repeat("ü", 100)} {
		h := fnv.New128a()
		h.Write([]byte(text))
		sum := h.Sum(nil)
		if got, want := textHash([]byte(text)), (TraceID{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:])}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
