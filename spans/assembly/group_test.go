package assembly

import (
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// Every id is grouped with itself only, however often a table is used again.
func TestGroupsShareTheirIDs(t *testing.T) {
	var g grouping
	for _, n := range []int{0, 1, 7, 300, 5} {
		idOf := func(i int32) spans.TraceID { return spans.TraceID{Hi: uint64(i*i) % 150, Lo: uint64(i % 2)} }
		want := map[spans.TraceID]int{}
		for i := range int32(n) {
			want[idOf(i)]++
		}
		g.group(n, idOf)
		if len(g.firsts) != len(want) {
			t.Errorf("%d groups of %d, want %d", len(g.firsts), n, len(want))
		}
		for k, first := range g.firsts {
			before, members := int32(-1), 0
			for i := first; i >= 0; i = g.next[i] {
				if idOf(i) != g.ids[k] || i <= before {
					t.Fatalf("%d of %d is in the group of %d, after %d", i, n, first, before)
				}
				before = i
				members++
			}
			if members != want[g.ids[k]] {
				t.Errorf("group of %d has %d members, want %d", first, members, want[g.ids[k]])
			}
		}
	}
}
