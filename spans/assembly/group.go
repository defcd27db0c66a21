package assembly

import (
	"math/bits"
	"math/rand/v2"

	"github.com/tailscope/tailscope/spans"
)

// grouping finds what belongs to the same trace or chain. Where that comes one behind
// the other it is one look-up for each.
type grouping struct {
	firsts []int32 // the first of each trace
	lasts  []int32
	ids    []spans.TraceID
	next   []int32 // the next of the same trace, -1 after the last
	slots  []int32 // hash table: 1 + index into firsts, 0 for none
	// salt keeps ids that were made to collide from doing so.
	salt spans.TraceID
}

// group groups what has the ids 0 to n-1.
func (g *grouping) group(n int, idOf func(i int32) spans.TraceID) {
	g.firsts, g.lasts, g.ids, g.next = g.firsts[:0], g.lasts[:0], g.ids[:0], g.next[:0]
	g.slots = append(g.slots[:0], make([]int32, 1<<bits.Len(uint(2*n)))...)
	if g.salt.IsZero() {
		g.salt = spans.TraceID{Hi: rand.Uint64(), Lo: rand.Uint64() | 1}
	}
	at := -1
	for i := range int32(n) {
		g.next = append(g.next, -1)
		if id := idOf(i); at < 0 || id != g.ids[at] {
			if at = g.find(id); at == len(g.firsts) {
				g.firsts, g.lasts, g.ids = append(g.firsts, i), append(g.lasts, i), append(g.ids, id)
				continue
			}
		}
		g.next[g.lasts[at]] = i
		g.lasts[at] = i
	}
}

// find returns the number of a trace: a new one's is the next.
func (g *grouping) find(id spans.TraceID) int {
	mask := uint64(len(g.slots) - 1)
	hi, lo := bits.Mul64(id.Hi^g.salt.Hi, id.Lo^g.salt.Lo)
	for at := (hi ^ lo) & mask; ; at = (at + 1) & mask {
		switch k := g.slots[at]; {
		case k == 0:
			g.slots[at] = int32(len(g.firsts)) + 1
			return len(g.firsts)
		case g.ids[k-1] == id:
			return int(k - 1)
		}
	}
}
