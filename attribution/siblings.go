package attribution

import "github.com/tailscope/tailscope/spans"

// siblings links the attempts of one hop under one caller in a chain of a hop log, in
// the order of their starts.
type siblings struct {
	next   []int32 // -1 for the last
	latest map[sibling]int32
}

type sibling struct{ parent, hop int32 }

// link looks at the attempts of a chain, which are sorted.
func (x *siblings) link(c []spans.Attempt, parents []int32) {
	if x.latest == nil {
		x.latest = map[sibling]int32{}
	}
	clear(x.latest)
	x.next = x.next[:0]
	for i := range c {
		x.next = append(x.next, -1)
		of := sibling{parents[i], c[i].Hop}
		if before, again := x.latest[of]; again {
			x.next[before] = int32(i)
		}
		x.latest[of] = int32(i)
	}
}

// rescued reports whether the call of an attempt that gave up was answered after
// all, up to a moment: by the attempt that came next, or the one after that.
func (x *siblings) rescued(c []spans.Attempt, i int32, until int64) bool {
	if !c[i].GaveUp() {
		return false
	}
	for k := x.next[i]; k >= 0; k = x.next[k] {
		if !before(&c[i], &c[k]) {
			continue
		}
		if i = k; c[i].Outcome == spans.Completed {
			return c[i].End() <= until
		}
	}
	return false
}

// before reports whether an attempt may be retried by another one: that starts when
// this one had ended, as far as clocks tell, and not beside it.
func before(a, next *spans.Attempt) bool {
	return !wellBefore(next.Start, a.End()) && uint64(next.Start)-uint64(a.Start) > uint64(a.Duration/2)
}
