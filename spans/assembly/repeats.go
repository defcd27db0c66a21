package assembly

import (
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// A log that repeats one span a million times is no large trace: what repeats is left
// out as it comes, so that room is made for what is kept. It is only looked for among
// what came lately; Link finds the rest.

// atOnce is how many spans are unpacked without looking for repeats.
const atOnce = 64 << 10

// lately is where spans stand by a hash of what makes them the same.
type lately [4096]int32

// unpackLarge unpacks the spans of a trace of very many rows, and returns how many were
// left out.
func (v *visitor) unpackLarge(first int32, rows int) (repeats int) {
	t, left := &v.trace, rows
	near := new(lately)
	for e := range v.fragmentsOf(first) {
		if t.Stop.Told() {
			return repeats
		}
		if cap(t.Spans)-len(t.Spans) < e.rows {
			t.Spans = slices.Grow(t.Spans, roomFor(len(t.Spans), rows-left, left, e.rows))
		}
		from := len(t.Spans)
		v.unpack(e.fragment, e.rows)
		repeats += near.thin(t, from)
		left -= e.rows
	}
	return repeats
}

// roomFor is room for more spans: for all that are left, unless most of those that came
// were left out.
func roomFor(kept, came, left, least int) int {
	switch {
	case came == 0:
		return max(least, min(left, atOnce))
	case kept < came/2:
		return max(least, kept)
	}
	return left
}

// thin leaves out the spans from one on that repeat another. Of two that are the same
// the one stays that Link would keep.
func (n *lately) thin(t *spans.Trace, from int) (repeats int) {
	kept := from
	for i := from; i < len(t.Spans); i++ {
		s := &t.Spans[i]
		at := &n[(uint64(s.ID)^s.Digest)*0x9e3779b97f4a7c15>>52]
		if old := int(*at); old < kept && spans.SameSpan(&t.Spans[old], s) {
			if spans.Before(s, &t.Spans[old]) {
				t.Spans[old] = *s
			}
			repeats++
			continue
		}
		*at = int32(kept)
		t.Spans[kept] = *s
		kept++
	}
	t.Spans = t.Spans[:kept]
	return repeats
}
