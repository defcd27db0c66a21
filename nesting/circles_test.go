package nesting

import (
	"testing"

	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// Of whatever parents attempts have, the first of each circle loses its own and no other
// does: each attempt is followed until it comes back to itself or cannot any more.
func TestFirstOfEveryCircleIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "attempts")
		got, want := make([]spans.Attempt, n), make([]spans.Attempt, n)
		for i := range got {
			parent := int32(rapid.IntRange(-1, n-1).Draw(t, "parent"))
			got[i].Parent, want[i].Parent = parent, parent
		}
		for i := range want {
			at := want[i].Parent
			for steps := 0; at >= 0 && at != int32(i) && steps < n; steps++ {
				at = want[at].Parent
			}
			if at == int32(i) {
				want[i].Parent = -1
			}
		}
		(&Placer{}).cutRound(got)
		for i := range got {
			if got[i].Parent != want[i].Parent {
				t.Fatalf("attempt %d: parent %d, want %d", i, got[i].Parent, want[i].Parent)
			}
		}
	})
}
