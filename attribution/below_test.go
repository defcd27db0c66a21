package attribution

import (
	"testing"

	"github.com/tailscope/tailscope/spans/assembly"
)

func TestCutsArePassedUpInAChain(t *testing.T) {
	lines := linesOf("c", "web 0-100 failed", "api 5-95 cut")
	for off, want := range map[bool]string{false: "1 cut, fails by api 1, cut api 1", true: "1 failed, fails by api 1, cut api 1"} {
		l := newLog(t, assembly.ChainConfig{PassUpCuts: !off}, NewAccumulator())
		l.add(0, lines...)
		if got := fate(l.merged()); got != want {
			t.Errorf("off %v: %s, want %s", off, got, want)
		}
	}
}
