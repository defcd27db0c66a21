package depend

import (
	"math"
	"slices"
	"time"
)

// Blocks counts attempts by blocks of time, and within each by log buckets.
// A Window makes it.
type Blocks struct {
	window  *Window
	cells   []blockCell // by key, each once
	pending []int64     // keys not in cells yet
	copied  *Blocks     // that count the same; nil for none

	// The block of the last attempt.
	from, to int64 // ns
	base     int64 // its key
	// The least and the largest such key of pending.
	low, high int64
}

// blockCell is how many attempts of a block lie in a bucket. A key is the number of
// the block, then the bucket.
type blockCell struct {
	key int64
	n   uint64
}

const (
	minute = int64(time.Minute)
	// firstMinute is the number of minutes before 1970 that are told apart: more
	// than 64 bits of nanoseconds have. As a power of two it is where a block
	// begins, however wide.
	firstMinute = 1 << 28
	flushedFrom = 1024 // pending keys
)

// Empty reports whether nothing is counted.
func (b *Blocks) Empty() bool { return len(b.cells)+len(b.pending) == 0 }

// Add counts an attempt that began at start, in ns since 1970.
func (b *Blocks) Add(start int64, s LogBucket) {
	if b.copied != nil {
		b.copied.Add(start, s)
	}
	b.add(start, s)
}

func (b *Blocks) add(start int64, s LogBucket) {
	if len(b.pending) == cap(b.pending) {
		b.makeRoom() // which may make blocks wider
	}
	if start < b.from || start >= b.to {
		b.turn(start)
	}
	b.pending = append(b.pending, b.base|int64(s))
}

// AddAt counts attempts that began in the minute of a time, and completed after so
// many ns each.
func (b *Blocks) AddAt(start int64, durations []int64) {
	if b.copied != nil {
		b.copied.AddAt(start, durations)
	}
	for _, ns := range durations {
		if len(b.pending) == cap(b.pending) || start < b.from || start >= b.to {
			b.add(start, LogBucketOf(ns))
		} else {
			b.pending = append(b.pending, b.base|int64(LogBucketOf(ns)))
		}
	}
}

// SameMinute reports whether all of some times lie in one minute since 1970.
func SameMinute(starts []int64) bool {
	if len(starts) == 0 {
		return false
	}
	low, high := starts[0], starts[0]
	for _, ns := range starts {
		low, high = min(low, ns), max(high, ns)
	}
	if low == math.MinInt64 {
		return false // not known
	}
	return high < minuteNS(minuteOf(low)+1)
}

// AddAll counts attempts that completed after so many ns each. A start of
// math.MinInt64 is not known, and its attempt is left out.
func (b *Blocks) AddAll(starts, durations []int64) {
	durations = durations[:len(starts)]
	if len(starts) > 0 && b.copied != nil {
		b.copied.AddAll(starts, durations)
	}
	for i, start := range starts {
		// What is not known lies in no block.
		if start >= b.from && start < b.to && len(b.pending) < cap(b.pending) {
			b.pending = append(b.pending, b.base|int64(LogBucketOf(durations[i])))
		} else if start != math.MinInt64 {
			b.add(start, LogBucketOf(durations[i]))
		}
	}
}

// turn goes to the block of a time.
func (b *Blocks) turn(start int64) {
	at := (minuteOf(start) + firstMinute) >> b.window.shift
	b.base = at << bucketBits
	if len(b.pending) == 0 {
		b.low, b.high = b.base, b.base
	}
	b.low, b.high = min(b.low, b.base), max(b.high, b.base)
	first := at<<b.window.shift - firstMinute
	b.from, b.to = minuteNS(first), minuteNS(first+1<<b.window.shift)
}

// minuteOf returns the number of the minute in which a time lies.
func minuteOf(ns int64) int64 {
	if ns%minute < 0 {
		return ns/minute - 1
	}
	return ns / minute
}

// minuteNS returns when a minute begins, the nearest that 64 bits of ns can say.
func minuteNS(number int64) int64 {
	return min(max(number, math.MinInt64/minute), math.MaxInt64/minute) * minute
}

// makeRoom lets pending grow while little waits, or while much of cells would have
// to move for little; else it empties it.
func (b *Blocks) makeRoom() {
	n := len(b.pending)
	if n >= flushedFrom {
		moved := len(b.cells) - b.search(b.low)
		if moved < 8*n || n > len(b.cells)/2 {
			b.flush()
			return
		}
	}
	grown := make([]int64, n, max(4, 2*n))
	copy(grown, b.pending)
	b.pending = grown
}

// CopyTo enters into o, which others may be copied to, what b counts and whatever it
// comes to count. The window of o is a Fork of b's that did not count anything but
// copies.
func (b *Blocks) CopyTo(o *Blocks) {
	o.enter(b.cells)
	if len(b.pending) > 0 {
		o.enter(o.window.tallied(slices.Clone(b.pending), b.low, b.high))
	}
	b.copied = o
}

func (b *Blocks) search(key int64) int {
	at, _ := slices.BinarySearchFunc(b.cells, key, func(c blockCell, key int64) int { return int(c.key - key) })
	return at
}

// flush moves pending into cells.
func (b *Blocks) flush() {
	if len(b.pending) == 0 {
		return
	}
	if b.window.gaveUp {
		b.pending = b.pending[:0]
		return
	}
	more := b.window.tallied(b.pending, b.low, b.high)
	b.pending, b.low, b.high = b.pending[:0], b.base, b.base
	b.enter(more)
	b.window.Check()
}

// enter adds cells, which are sorted and each once.
func (b *Blocks) enter(more []blockCell) {
	if len(more) == 0 {
		return
	}
	at := b.search(more[0].key)
	fresh := newKeys(b.cells[at:], more)
	old := len(b.cells)
	b.cells = slices.Grow(b.cells, fresh)[:old+fresh]
	// From the end on, so that each is moved once.
	for to := old + fresh - 1; len(more) > 0; to-- {
		last := more[len(more)-1]
		switch {
		case old == at || b.cells[old-1].key < last.key:
			b.cells[to] = last
			more = more[:len(more)-1]
		case b.cells[old-1].key == last.key:
			old--
			b.cells[to] = blockCell{last.key, b.cells[old].n + last.n}
			more = more[:len(more)-1]
		default:
			old--
			b.cells[to] = b.cells[old]
		}
	}
	b.window.cells += fresh
}

// newKeys counts those of more that are not in cells.
func newKeys(cells, more []blockCell) (fresh int) {
	for _, m := range more {
		for len(cells) > 0 && cells[0].key < m.key {
			cells = cells[1:]
		}
		if len(cells) == 0 || cells[0].key != m.key {
			fresh++
		}
	}
	return fresh
}

// each calls see with the size of every block, and how many of its attempts lie in
// bucket s or above, by time. Everything must be flushed.
func (b *Blocks) each(s LogBucket, see func(m, a uint64)) {
	for cells := b.cells; len(cells) > 0; {
		var block []blockCell
		block, cells = firstBlock(cells)
		var m, a uint64
		for _, c := range block {
			m += c.n
			if LogBucket(c.key&int64(CutBucket)) >= s {
				a += c.n
			}
		}
		see(m, a)
	}
}

// firstBlock splits off the cells of the first block.
func firstBlock(cells []blockCell) (block, rest []blockCell) {
	n := 0
	for n < len(cells) && cells[n].key>>bucketBits == cells[0].key>>bucketBits {
		n++
	}
	return cells[:n], cells[n:]
}
