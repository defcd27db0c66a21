package runs

import (
	"cmp"
	"slices"
)

// sortedSource gives values in ascending order, each with a count above 0; a value may
// come more than once. It must not be asked again after ok was false.
type sortedSource interface {
	next() (value int64, count uint64, ok bool)
}

// tally is a value with its count.
type tally struct {
	value int64
	count uint64
}

func byValue(a, b tally) int { return cmp.Compare(a.value, b.value) }

// merger is a k-way merge of sorted sources: one ascending walk over distinct values.
// Its heads are a binary heap, the smallest first.
type merger struct{ heads []head }

type head struct {
	tally
	from sortedSource
}

func newMerger[F sortedSource](sources []F) *merger {
	w := &merger{make([]head, 0, len(sources))}
	for _, f := range sources {
		w.add(f)
	}
	w.order()
	return w
}

// add takes one more source; order must come before the walk.
func (w *merger) add(f sortedSource) {
	if v, c, ok := f.next(); ok {
		w.heads = append(w.heads, head{tally{v, c}, f})
	}
}

// order makes a heap of the heads: a sorted slice is one.
func (w *merger) order() {
	slices.SortFunc(w.heads, func(a, b head) int { return byValue(a.tally, b.tally) })
}

// next returns the next distinct value and its count over all sources.
func (w *merger) next() (value int64, count uint64, ok bool) {
	if len(w.heads) == 0 {
		return 0, 0, false
	}
	value, count = w.heads[0].value, w.heads[0].count
	w.advance()
	for len(w.heads) > 0 && w.heads[0].value == value {
		count += w.heads[0].count
		w.advance()
	}
	return value, count, true
}

// advance replaces the smallest head by the next value of its source.
func (w *merger) advance() {
	top := &w.heads[0]
	v, c, ok := top.from.next()
	if ok {
		top.tally = tally{v, c}
	} else {
		last := len(w.heads) - 1
		w.heads[0] = w.heads[last]
		w.heads = w.heads[:last]
	}
	w.siftDown()
}

// siftDown restores the order of the heap after a new top. It moves a hole
// down instead of swapping: most of a merge is spent here.
func (w *merger) siftDown() {
	h := w.heads
	if len(h) == 0 {
		return
	}
	moving, hole := h[0], 0
	for child := 1; child < len(h); child = 2*hole + 1 {
		if right := child + 1; right < len(h) && h[right].value < h[child].value {
			child = right
		}
		if h[child].value >= moving.value {
			break
		}
		h[hole] = h[child]
		hole = child
	}
	h[hole] = moving
}
