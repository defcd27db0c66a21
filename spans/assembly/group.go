package assembly

import (
	"math/bits"
	"math/rand/v2"

	"github.com/tailscope/tailscope/spans"
)

// grouping finds the rows of each trace in a batch. Where traces come whole it
// is one look-up a trace; where they come mixed it makes few fragments of many.
type grouping struct {
	firsts []int32 // first row of each trace
	lasts  []int32
	next   []int32 // the next row of the same trace, -1 after the last
	slots  []int32 // hash table: 1 + index into firsts, 0 for none
	// salt keeps ids that were made to collide from doing so.
	salt spans.TraceID
}

func (g *grouping) group(b *spans.Batch) {
	n := b.Len()
	g.firsts, g.lasts = g.firsts[:0], g.lasts[:0]
	g.next = g.next[:0]
	size := 2
	for size < 2*n {
		size *= 2
	}
	g.slots = append(g.slots[:0], make([]int32, size)...)
	if g.salt.IsZero() {
		g.salt = spans.TraceID{Hi: rand.Uint64(), Lo: rand.Uint64() | 1}
	}
	at := -1
	for i := range int32(n) {
		g.next = append(g.next, -1)
		if at < 0 || b.TraceID(i) != b.TraceID(g.firsts[at]) {
			at = g.find(b, i)
		}
		if at == len(g.firsts) {
			g.firsts, g.lasts = append(g.firsts, i), append(g.lasts, i)
			continue
		}
		g.next[g.lasts[at]] = i
		g.lasts[at] = i
	}
}

// find returns the number of the trace of row i: a new one's is the next.
func (g *grouping) find(b *spans.Batch, i int32) int {
	id := b.TraceID(i)
	mask := uint64(len(g.slots) - 1)
	hi, lo := bits.Mul64(id.Hi^g.salt.Hi, id.Lo^g.salt.Lo)
	for at := (hi ^ lo) & mask; ; at = (at + 1) & mask {
		switch k := g.slots[at]; {
		case k == 0:
			g.slots[at] = int32(len(g.firsts)) + 1
			return len(g.firsts)
		case b.TraceID(g.firsts[k-1]) == id:
			return int(k - 1)
		}
	}
}

// text returns the text of a trace id that is no number, where Texts were asked
// for. Of several that share a hash it is the smallest.
func (g *grouping) text(b *spans.Batch, first int32) (smallest []byte) {
	if b.WithoutTrace() == b.Len() || !b.Lineage.Columns().Has(spans.Texts) {
		return nil
	}
	for i := first; i >= 0; i = g.next[i] {
		if text := b.Trace(int(i)); len(text) > 0 && (smallest == nil || string(text) < string(smallest)) {
			smallest = text
		}
	}
	return smallest
}
