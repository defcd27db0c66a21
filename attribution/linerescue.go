package attribution

import "github.com/tailscope/tailscope/spans"

// twins links the attempts of one hop under one caller in a chain of a hop log, in
// the order of their starts.
type twins struct {
	next   []int32 // -1 for the last
	latest map[twin]int32
}

type twin struct{ parent, hop int32 }

// link looks at the lines of a chain, which are sorted.
func (x *twins) link(c []line, parents []int32) {
	if x.latest == nil {
		x.latest = map[twin]int32{}
	}
	clear(x.latest)
	x.next = x.next[:0]
	for i := range c {
		x.next = append(x.next, -1)
		of := twin{parents[i], c[i].hop}
		if before, again := x.latest[of]; again {
			x.next[before] = int32(i)
		}
		x.latest[of] = int32(i)
	}
}

// rescued reports whether the call of an attempt that gave up was answered after
// all, up to a moment: by the attempt that came next, or the one after that.
func (x *twins) rescued(c []line, i int32, until int64) bool {
	if !c[i].gaveUp() {
		return false
	}
	for k := x.next[i]; k >= 0; k = x.next[k] {
		if !c[i].before(&c[k]) {
			continue
		}
		if i = k; c[i].outcome == spans.Completed {
			return c[i].end() <= until
		}
	}
	return false
}

// before reports whether another attempt may retry this one: it starts when this
// one had ended, as far as clocks tell, and not beside it.
func (l *line) before(next *line) bool {
	return !far(next.start, l.end()) && uint64(next.start)-uint64(l.start) > uint64(l.duration/2)
}
