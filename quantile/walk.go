package quantile

import (
	"cmp"
	"slices"
)

// source gives values in ascending order, each with a count above 0; a value
// may come more than once. It must not be asked again after ok was false.
type source interface {
	next() (value int64, count uint64, ok bool)
}

// sorted is the source of a sorted slice.
type sorted struct{ values []int64 }

func (s *sorted) next() (int64, uint64, bool) {
	if len(s.values) == 0 {
		return 0, 0, false
	}
	v, n := s.values[0], 1
	for n < len(s.values) && s.values[n] == v {
		n++
	}
	s.values = s.values[n:]
	return v, uint64(n), true
}

// tallied is the source of a sorted slice of tallies.
type tallied struct{ tallies []tally }

func (t *tallied) next() (int64, uint64, bool) {
	if len(t.tallies) == 0 {
		return 0, 0, false
	}
	first := t.tallies[0]
	t.tallies = t.tallies[1:]
	return first.value, first.count, true
}

func byValue(a, b tally) int { return cmp.Compare(a.value, b.value) }

// walker joins sources into one ascending walk over distinct values. Its
// heads are a binary heap, the smallest first.
type walker struct{ heads []head }

type head struct {
	tally
	from source
}

func newWalker(sources []source) *walker {
	w := &walker{make([]head, 0, len(sources))}
	for _, s := range sources {
		if v, c, ok := s.next(); ok {
			w.heads = append(w.heads, head{tally{v, c}, s})
		}
	}
	// A sorted slice is a heap.
	slices.SortFunc(w.heads, func(a, b head) int { return byValue(a.tally, b.tally) })
	return w
}

// next returns the next distinct value and its count over all sources.
func (w *walker) next() (value int64, count uint64, ok bool) {
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
func (w *walker) advance() {
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
func (w *walker) siftDown() {
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
