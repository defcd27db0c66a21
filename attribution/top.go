package attribution

// top keeps the largest of some times, as a heap with the smallest of them first:
// its first is their p99 once the times are in that the hop has in any trace, for
// in all others it has none.
type top struct {
	most int
	heap []int64
}

// newTops returns a top for each hop, of n traces.
func newTops(hops int, n uint64) []top {
	tops := make([]top, hops)
	for i := range tops {
		tops[i].most = int(n - ninetyNinth.Rank(n) + 1)
	}
	return tops
}

func (t *top) add(ns int64) {
	switch {
	case len(t.heap) < t.most:
		t.heap = append(t.heap, ns)
		t.up(len(t.heap) - 1)
	case ns > t.heap[0]:
		t.heap[0] = ns
		t.down(0)
	}
}

func (t *top) up(i int) {
	for up := (i - 1) / 2; i > 0 && t.heap[i] < t.heap[up]; i, up = up, (up-1)/2 {
		t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
	}
}

func (t *top) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(t.heap) {
			return
		}
		if c+1 < len(t.heap) && t.heap[c+1] < t.heap[c] {
			c++
		}
		if t.heap[i] <= t.heap[c] {
			return
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
}

// p99 is 0 where fewer than one in a hundred traces have any time of the hop.
func (t *top) p99() int64 {
	if len(t.heap) < t.most {
		return 0
	}
	return t.heap[0]
}

func sumOfP99(tops []top) int64 {
	total := int64(0)
	for i := range tops {
		total = plus(total, tops[i].p99())
	}
	return total
}
