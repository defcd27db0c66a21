package outcome

import (
	"testing"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Reading evidence costs no allocation.
func TestEvidenceDoesNotAllocate(t *testing.T) {
	words := &field.Value{Kind: jsonscan.Text, Raw: []byte("DEADLINE_EXCEEDED")}
	if n := testing.AllocsPerRun(100, func() {
		words.Yes()
		readStatus(words)
		ContainsFold(words.Raw, "timeout")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
