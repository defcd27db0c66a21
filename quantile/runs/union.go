package runs

import (
	"iter"
	"slices"
)

// Union reads several samples as one. Nil samples are empty.
type Union []*Sample

// N returns the number of values in all samples.
func (u Union) N() uint64 {
	var n uint64
	for _, s := range u {
		n += s.N()
	}
	return n
}

// All yields the distinct values of all samples in ascending order, each with
// its count over the samples. Like Sample.All it sorts internal buffers.
func (u Union) All() iter.Seq2[int64, uint64] {
	return func(yield func(int64, uint64) bool) {
		w := u.Cursor()
		for v, c, ok := w.Next(); ok; v, c, ok = w.Next() {
			if !yield(v, c) {
				return
			}
		}
	}
}

// Cursor returns a cursor before the first value. Like All it sorts internal buffers.
func (u Union) Cursor() Cursor {
	sources := make([]cellSource, 0, len(u))
	for _, s := range u {
		sources = s.sources(sources)
	}
	return newCursor(sources)
}

// UpTo returns how many values of all samples are at most limit nanoseconds.
// Like All it sorts internal buffers.
func (u Union) UpTo(limit int64) uint64 {
	w := u.Cursor()
	return w.UpTo(limit)
}

// At returns the values at some ranks, counted from 1; 0 at ranks beyond the union. Like
// All it sorts internal buffers.
func (u Union) At(ranks ...uint64) []int64 {
	q := NewRankQuery(u, ranks)
	Answer(q)
	return q.Values
}

// Share is how often a value comes from one of several cursors.
type Share struct {
	From  int
	Count uint64
}

// Interleave yields the distinct values that cursors have still to give, ascending, each
// with its count by cursor in their order. The list is good until the next value.
func Interleave(cursors ...*Cursor) iter.Seq2[int64, []Share] {
	return func(yield func(int64, []Share) bool) {
		sources := make([]*indexed, len(cursors))
		for i, c := range cursors {
			sources[i] = &indexed{c, i}
		}
		var shares []Share
		for w := newMerger(sources); len(w.heads) > 0; {
			value := w.heads[0].value
			for shares = shares[:0]; len(w.heads) > 0 && w.heads[0].value == value; w.advance() {
				shares = append(shares, Share{w.heads[0].from.(*indexed).index, w.heads[0].count})
			}
			if len(shares) > 1 {
				slices.SortFunc(shares, func(a, b Share) int { return a.From - b.From })
			}
			if !yield(value, shares) {
				return
			}
		}
	}
}

// indexed is a sorted source that knows its place.
type indexed struct {
	*Cursor
	index int
}

func (i *indexed) next() (int64, uint64, bool) { return i.Next() }
