package ingest

import (
	"testing"
)

// Reading evidence costs no allocation.
func TestEvidenceDoesNotAllocate(t *testing.T) {
	words := &value{kind: text, raw: []byte("DEADLINE_EXCEEDED")}
	if n := testing.AllocsPerRun(100, func() {
		words.yes()
		readStatus(words)
		containsFold(words.raw, "timeout")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
