package quantile

import (
	"iter"
	"slices"
	"unsafe"
)

const (
	// maxPending values are sorted at a time: enough to see where values are
	// dense, few enough to stay in the cache.
	maxPending = 4096
	// maxHeavy bounds the buffer of values added with a large count.
	maxHeavy = 1024
	// repeatUpTo is the largest count that AddN puts into pending value by
	// value.
	repeatUpTo = 4
)

// Sample is an exact, mergeable multiset of non-negative durations in
// nanoseconds. The zero value is empty and ready.
//
// A value is in one of three places: in a page, which counts 512 consecutive
// whole microseconds, where they are dense; in pending, unsorted; or in
// sorted, delta-coded runs. The sum of the counts must stay below 2^63.
type Sample struct {
	n       uint64
	pages   directory
	pending []int64
	heavy   []tally
	runs    []run
}

// tally is a value with its count.
type tally struct {
	value int64
	count uint64
}

// Add counts one duration of ns nanoseconds. Durations are not negative; a
// negative one is counted as 0, so readers reject it before.
func (s *Sample) Add(ns int64) {
	s.n++
	if c := s.pages.counter(ns); c != nil {
		*c++
		return
	}
	s.keep(ns)
}

// AddN counts a duration of ns nanoseconds count times.
func (s *Sample) AddN(ns int64, count uint64) {
	s.n += count
	if c := s.pages.counter(ns); c != nil {
		*c += count
		return
	}
	if count <= repeatUpTo {
		for range count {
			s.keep(ns)
		}
		return
	}
	if len(s.heavy) == maxHeavy {
		s.flush()
	}
	s.heavy = append(s.heavy, tally{max(0, ns), count})
}

// keep puts a value that has no page into pending.
func (s *Sample) keep(ns int64) {
	if len(s.pending) == cap(s.pending) {
		s.makeRoom()
	}
	s.pending = append(s.pending, max(0, ns))
}

// makeRoom doubles pending, from a few values up to maxPending, and empties
// it from there on: most of many thousand samples stay small.
func (s *Sample) makeRoom() {
	if len(s.pending) >= maxPending {
		s.flush()
		return
	}
	grown := make([]int64, len(s.pending), min(maxPending, max(4, 2*len(s.pending))))
	copy(grown, s.pending)
	s.pending = grown
}

// flush moves pending and heavy into pages and one new run.
func (s *Sample) flush() {
	slices.Sort(s.pending)
	s.openPages()
	w := newWalker(s.buffered(nil))
	var e encoder
	for v, c, ok := w.next(); ok; v, c, ok = w.next() {
		s.place(v, c, &e)
	}
	s.pending, s.heavy = s.pending[:0], nil
	s.push(e.run())
}

// place counts a value in its page, or else in the run being written.
func (s *Sample) place(value int64, count uint64, e *encoder) {
	if c := s.pages.counter(value); c != nil {
		*c += count
		return
	}
	e.add(value, count)
}

// openPages makes a page wherever enough whole microseconds of the sorted
// pending values fall together, as far as the number of values pays for it.
func (s *Sample) openPages() {
	for rest := s.pending; len(rest) > 0; {
		page := rest[0] / pageSpan
		whole, i := 0, 0
		for ; i < len(rest) && rest[i]/pageSpan == page; i++ {
			if rest[i]%microsecond == 0 {
				whole++
			}
		}
		if whole >= worthPage && page < maxPages && s.pages.affordable(s.n) {
			s.pages.open(page)
		}
		rest = rest[i:]
	}
}

// Merge moves the values of o into s; o is empty afterwards. A nil o is
// empty, and merging a sample into itself changes nothing.
func (s *Sample) Merge(o *Sample) {
	if o == nil || o == s {
		return
	}
	s.n += o.n
	s.pages.merge(&o.pages)
	counted := s.n
	for _, v := range o.pending {
		s.Add(v)
	}
	for _, t := range o.heavy {
		s.AddN(t.value, t.count)
	}
	s.n = counted // o.n already held what Add and AddN counted again
	for _, r := range o.runs {
		s.push(r)
	}
	*o = Sample{}
}

// N returns the number of values; a nil sample has none.
func (s *Sample) N() uint64 {
	if s == nil {
		return 0
	}
	return s.n
}

// All yields the distinct values in ascending order, each with its count. It
// sorts internal buffers, so it must not run beside any other use of s.
func (s *Sample) All() iter.Seq2[int64, uint64] { return Union{s}.All() }

// Clone returns an independent copy. Sealed blocks are never written again,
// so both copies share them.
func (s *Sample) Clone() *Sample {
	c := &Sample{n: s.n, pages: s.pages.clone()}
	c.pending = slices.Clone(s.pending)
	c.heavy = slices.Clone(s.heavy)
	for _, r := range s.runs {
		c.runs = append(c.runs, run{slices.Clone(r.blocks), r.size})
	}
	return c
}

// Bytes returns the memory that s holds, in bytes, for budgets. Blocks that a
// clone shares are counted in both.
func (s *Sample) Bytes() uint64 {
	total := uint64(unsafe.Sizeof(*s)) + s.pages.bytes()
	total += uint64(cap(s.pending)) * uint64(unsafe.Sizeof(int64(0)))
	total += uint64(cap(s.heavy)) * uint64(unsafe.Sizeof(tally{}))
	total += uint64(cap(s.runs)) * uint64(unsafe.Sizeof(run{}))
	for _, r := range s.runs {
		total += r.size + uint64(cap(r.blocks))*uint64(unsafe.Sizeof([]byte{}))
	}
	return total
}

// buffered appends the sources of pending, which must be sorted, and heavy.
func (s *Sample) buffered(to []source) []source {
	if len(s.pending) > 0 {
		to = append(to, &sorted{s.pending})
	}
	if len(s.heavy) > 0 {
		slices.SortFunc(s.heavy, byValue)
		to = append(to, &tallied{s.heavy})
	}
	return to
}

// sources appends everything that a walk over s has to join.
func (s *Sample) sources(to []source) []source {
	if s == nil {
		return to
	}
	slices.Sort(s.pending)
	to = s.buffered(to)
	if s.pages.count > 0 {
		to = append(to, &paged{dir: s.pages.nodes})
	}
	for _, r := range s.runs {
		to = append(to, &decoder{blocks: r.blocks})
	}
	return to
}
