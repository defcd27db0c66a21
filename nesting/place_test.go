package nesting

import (
	"cmp"
	"fmt"
	"slices"
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

// Whatever calls what, and however attempts overlap, an attempt lies in the innermost that
// holds it, else in the innermost that gave up, as a search through all of them finds it.
func TestPlacesAreThoseThatASearchFinds(t *testing.T) {
	hops := make([]spans.Hop, 4)
	for i := range hops {
		hops[i].Name = fmt.Sprint(i)
	}
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Int64Range(0, 3).Draw(t, "step")
		var calls [][2]spans.Hop
		called := map[[2]int32]bool{}
		for callee := range hops { // none goes round
			for caller := range callee {
				if rapid.Bool().Draw(t, "calls") {
					calls = append(calls, [2]spans.Hop{hops[caller], hops[callee]})
					called[[2]int32{int32(caller), int32(callee)}] = true
				}
			}
		}
		placer := Known(step, calls...).Sure().NewPlacer()
		for range 2 { // what the chain before left is gone
			c := &spans.Chain{Hops: hops, Timed: true}
			for range rapid.IntRange(2, 40).Draw(t, "attempts") {
				c.Attempts = append(c.Attempts, spans.Attempt{Hop: rapid.Int32Range(0, 3).Draw(t, "hop"),
					Start: rapid.Int64Range(0, 30).Draw(t, "start"), Duration: rapid.Int64Range(0, 30).Draw(t, "lasts"),
					Outcome: spans.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))})
			}
			slices.SortStableFunc(c.Attempts, func(a, b spans.Attempt) int { return cmp.Compare(a.Start, b.Start) })
			placer.Place(c)
			for i := range c.Attempts {
				if got, want := c.Attempts[i].Parent, placeOf(c.Attempts, i, step, called); got != want {
					t.Fatalf("attempt %d lies in %d, want %d: %v", i, got, want, c.Attempts)
				}
			}
		}
	})
}

func placeOf(as []spans.Attempt, i int, step int64, called map[[2]int32]bool) int32 {
	y, left := &as[i], int32(-1)
	for k := len(as) - 1; k >= 0; k-- {
		x := &as[k]
		if k == i || !called[[2]int32{x.Hop, y.Hop}] || x.Start > y.Start+step || y.Start >= x.End() {
			continue
		}
		if y.End() <= x.End()+step {
			return int32(k)
		}
		if left < 0 && x.Outcome != spans.Completed {
			left = int32(k)
		}
	}
	return left
}
