package runs

import "iter"

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

// Interleave calls visit with the values of several unions in ascending order, each
// with its count in one of them and that one's index, until it returns false. Equal
// values come once for each union, in no order.
func Interleave(unions []Union, visit func(value int64, count uint64, from int) bool) {
	sources := make([]*indexed, len(unions))
	for i, u := range unions {
		sources[i] = &indexed{u.Cursor(), i}
	}
	for w := newMerger(sources); len(w.heads) > 0; w.advance() {
		if top := &w.heads[0]; !visit(top.value, top.count, top.from.(*indexed).index) {
			return
		}
	}
}

// indexed is a sorted source that knows its place.
type indexed struct {
	Cursor
	index int
}

func (i *indexed) next() (int64, uint64, bool) { return i.Next() }
