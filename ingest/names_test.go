package ingest

import (
	"testing"
)

// Names with different bad bytes stay apart, and are shown with U+FFFD (B40).
func TestNamesWithBadBytesStayApart(t *testing.T) {
	in := "{\"hop\":\"caf\xe9\",\"duration_ms\":1}\n{\"hop\":\"caf\xe8\",\"duration_ms\":1}\n{\"hop\":\"caf\xe9\",\"duration_ms\":1}"
	d := decodeAnyhow(t, how{}, in)
	same(t, "shown", pick(d.rows, hopOf), []string{"caf\uFFFD", "caf\uFFFD", "caf\uFFFD"})
	same(t, "index", d.hops, []int32{0, 1, 0})
}

func TestEscapedKeysAndValuesAreRead(t *testing.T) {
	got := one(t, how{}, `{"h\u006fp":"a\tb\"c","duration\u005fms":"\u0035","service":{"\u006eame":"no"}}`)
	same(t, "hop", got.Hop, "a\tb\"c")
	same(t, "duration", got.Duration, 5e6)
}
