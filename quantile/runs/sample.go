package runs

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

	store     *Store // nil where nothing bounds what s holds
	accounted uint64 // bytes that the store knows of
	listed    bool   // by the store
}

// Add counts one duration of ns nanoseconds. Durations are not negative; a
// negative one is counted as 0, so readers reject it before.
func (s *Sample) Add(ns int64) {
	s.n++
	p, slot := s.pages.find(ns)
	if p == nil {
		s.keep(ns)
		return
	}
	p.low[slot]++
	if p.low[slot] == 0 {
		p.carry(slot, 1)
	}
}

// AddAll counts each of the durations, as Add does. Many at once cost less: what
// one waits for from memory, the next need not wait for.
func (s *Sample) AddAll(list []int64) {
	s.n += uint64(len(list))
	for _, ns := range list {
		p, slot := s.pages.find(ns)
		if p == nil {
			s.keep(ns)
			continue
		}
		p.low[slot]++
		if p.low[slot] == 0 {
			p.carry(slot, 1)
		}
	}
}

// AddN counts a duration of ns nanoseconds count times.
func (s *Sample) AddN(ns int64, count uint64) {
	s.n += count
	if p, slot := s.pages.find(ns); p != nil {
		p.add(slot, count)
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
	if n := len(s.pending); n >= maxPending || n >= fewPending && s.store.overLimit() {
		s.flush()
		return
	}
	grown := make([]int64, len(s.pending), min(maxPending, max(4, 2*len(s.pending))))
	copy(grown, s.pending)
	s.pending = grown
	s.store.account(s)
}

// flush moves pending and heavy into pages and one new run.
func (s *Sample) flush() {
	buffered := s.buffered()
	s.openPages()
	var e encoder
	for _, t := range buffered {
		s.place(t.value, t.count, &e)
	}
	s.pending, s.heavy = s.pending[:0], nil
	s.push(e.end())
	s.store.account(s)
}

// place counts a value in its page, or else in the run being written.
func (s *Sample) place(value int64, count uint64, e *encoder) {
	if p, slot := s.pages.find(value); p != nil {
		p.add(slot, count)
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
		if whole >= worthPage && page < maxPages && s.pages.affordable(s.n) && s.store.allowsPage() {
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
	s.mergeRuns(o.runs)
	o.store.forget(o)
	*o = Sample{store: o.store}
	s.store.account(s)
}

// mergeRuns takes runs over as they are while they are few: a walk passes over
// cells of many runs as fast as of one.
func (s *Sample) mergeRuns(runs []run) {
	if len(s.runs)+len(runs) <= fewRuns {
		s.runs = append(s.runs, runs...)
		return
	}
	for _, r := range runs {
		s.push(r)
	}
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
	c := &Sample{n: s.n, pages: s.pages.clone(), store: s.store}
	c.pending = slices.Clone(s.pending)
	c.heavy = slices.Clone(s.heavy)
	for _, r := range s.runs {
		c.runs = append(c.runs, run{slices.Clone(r.blocks), r.size, r.held})
	}
	s.store.account(c)
	return c
}

// countedBytes is the memory that s holds, as far as it is known without looking at
// each page.
func (s *Sample) countedBytes() uint64 {
	return s.pages.count*uint64(unsafe.Sizeof(page{})) + uint64(cap(s.pending))*uint64(unsafe.Sizeof(int64(0))) + s.heldByRuns()
}

func (s *Sample) heldByRuns() (bytes uint64) {
	for _, r := range s.runs {
		bytes += r.held
	}
	return bytes
}

// buffered sorts pending and heavy, and returns their values together.
func (s *Sample) buffered() []tally {
	SortDurations(s.pending)
	slices.SortFunc(s.heavy, byValue)
	list := make([]tally, 0, len(s.pending)+len(s.heavy))
	heavy := s.heavy
	for _, v := range s.pending {
		for ; len(heavy) > 0 && heavy[0].value <= v; heavy = heavy[1:] {
			list = append(list, heavy[0])
		}
		if last := len(list) - 1; last >= 0 && list[last].value == v {
			list[last].count++
			continue
		}
		list = append(list, tally{v, 1})
	}
	return append(list, heavy...)
}

// sources appends everything that a walk over s has to join.
func (s *Sample) sources(to []cellSource) []cellSource {
	if s == nil {
		return to
	}
	if list := s.buffered(); len(list) > 0 {
		to = append(to, &tallied{rest: list})
	}
	if s.pages.count > 0 {
		to = append(to, &paged{dir: s.pages.nodes})
	}
	for _, r := range s.runs {
		to = append(to, newDecoder(r, false))
	}
	return to
}
