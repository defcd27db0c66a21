package assembly

import (
	"math/bits"

	"github.com/tailscope/tailscope/internal/spill"

	"github.com/tailscope/tailscope/spans"
)

const (
	// partitions is into how many parts traces fall, by bits of their ids.
	partitions = 64
	// levels is how often a part can be parted again before the bits run out.
	levels = 9
	// blockBytes is what memory is handed out in.
	blockBytes = 8192
)

// quota hands out blocks and counts the bytes it may not exceed: blocks in use
// or free, and tables.
type quota struct {
	limit, used int64
	tables      int64 // part of used that cannot be given back
	free        [][]byte
}

// take returns an empty block for n bytes, nil where the limit does not allow
// another.
func (q *quota) take(n int) []byte {
	if k := len(q.free); k > 0 && n <= blockBytes {
		b := q.free[k-1]
		q.free = q.free[:k-1]
		return b
	}
	if q.over(int64(max(n, blockBytes))) {
		return nil
	}
	return q.force(n)
}

// force returns a new block whatever the limit.
func (q *quota) force(n int) []byte {
	n = max(n, blockBytes)
	q.used += int64(n)
	return make([]byte, 0, n)
}

// over reports whether n more bytes exceed the limit. Tables take at most three
// quarters of it: spans keep the rest.
func (q *quota) over(n int64) bool {
	return q.used-q.tables+n > max(q.limit-q.tables, q.limit/4)
}

// give takes blocks back; those made for one large fragment go.
func (q *quota) give(blocks [][]byte) {
	for _, b := range blocks {
		if cap(b) == blockBytes {
			q.free = append(q.free, b[:0])
		} else {
			q.used -= int64(cap(b))
		}
	}
}

// drop lets go of all free blocks.
func (q *quota) drop() {
	q.used -= int64(len(q.free)) * blockBytes
	q.free = nil
}

// charge counts tables that grew.
func (q *quota) charge(n int64) { q.used, q.tables = q.used+n, q.tables+n }

// pile is the fragments of one partition that are in memory, whole in blocks.
type pile struct {
	blocks [][]byte
	bytes  int64 // of all blocks, used or not
}

// room reports whether a fragment of n bytes fits into the last block.
func (p *pile) room(n int) bool {
	k := len(p.blocks)
	return k > 0 && cap(p.blocks[k-1])-len(p.blocks[k-1]) >= n
}

// add copies a fragment for which there is room.
func (p *pile) add(f fragment) {
	last := &p.blocks[len(p.blocks)-1]
	*last = append(*last, f...)
}

// extend adds an empty block.
func (p *pile) extend(b []byte) {
	p.blocks = append(p.blocks, b)
	p.bytes += int64(cap(b))
}

// clear empties the pile; its blocks go back to q.
func (p *pile) clear(q *quota) {
	q.give(p.blocks)
	clear(p.blocks)
	p.blocks, p.bytes = p.blocks[:0], 0
}

// each calls visit with every fragment of a block.
func eachFragment(block []byte, visit func(fragment) error) error {
	for f := fragment(block); len(f) > 0; {
		n := f.length()
		if err := visit(f[:n:n]); err != nil {
			return err
		}
		f = f[n:]
	}
	return nil
}

// shelf is one partition of a store: fragments in memory and fragments spilled.
type shelf struct {
	pile
	onDisk    []spill.Piece
	fragments int
	first     spans.TraceID
	mixed     bool // holds more than one trace
}

// note counts a fragment and keeps whether all are of one trace: such a shelf
// cannot be parted.
func (s *shelf) note(id spans.TraceID) {
	switch {
	case s.fragments == 0:
		s.first = id
	case s.first != id:
		s.mixed = true
	}
	s.fragments++
}

// spilled is how many bytes lie on disk.
func (s *shelf) spilled() (bytes int64) {
	for _, p := range s.onDisk {
		bytes += int64(p.Size())
	}
	return bytes
}

// store keeps fragments by partition, in memory as far as its quota goes.
type store struct {
	shelves [partitions]shelf
	level   int    // which bits of the id part the traces
	parts   uint64 // how many shelves are in use, a power of two
	quota   *quota
	file    spillFile
}

// put copies a fragment.
func (s *store) put(f fragment) error {
	id := f.trace()
	sh := &s.shelves[partitionOf(id, s.parts, s.level)]
	if !sh.room(len(f)) {
		if err := s.extend(sh, len(f)); err != nil {
			return err
		}
	}
	sh.note(id)
	sh.add(f)
	return nil
}

// extend gives the shelf another block, spilling where the quota is used up.
func (s *store) extend(sh *shelf, n int) error {
	b := s.quota.take(n)
	for b == nil {
		spilled, err := s.spillLargest()
		if err != nil {
			return err
		}
		if n > blockBytes {
			s.quota.drop() // a free block is no use then
		}
		if b = s.quota.take(n); b == nil && !spilled {
			b = s.quota.force(n)
		}
	}
	sh.extend(b)
	return nil
}

// spillLargest spills the partition that holds the most memory and reports
// whether there was one.
func (s *store) spillLargest() (bool, error) {
	var largest *shelf
	for i := range s.shelves {
		if sh := &s.shelves[i]; sh.bytes > 0 && (largest == nil || sh.bytes > largest.bytes) {
			largest = sh
		}
	}
	if largest == nil {
		return false, nil
	}
	return true, s.spill(largest)
}

func (s *store) spill(sh *shelf) (err error) {
	before := cap(sh.onDisk)
	if sh.onDisk, err = s.file.write(&sh.pile, sh.onDisk); err != nil {
		return err
	}
	s.quota.charge(int64(cap(sh.onDisk)-before) * placeBytes)
	sh.clear(s.quota)
	return nil
}

// spillAll leaves nothing in memory.
func (s *store) spillAll() error {
	for i := range s.shelves {
		if s.shelves[i].bytes == 0 {
			continue
		}
		if err := s.spill(&s.shelves[i]); err != nil {
			return err
		}
	}
	s.quota.drop()
	return nil
}

// partitionOf is which of n = 2^k parts a trace falls into; level selects other
// bits of the id, so that a part can be parted again.
func partitionOf(id spans.TraceID, n uint64, level int) int {
	h := (id.Hi ^ bits.RotateLeft64(id.Lo, 31)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return int(bits.RotateLeft64(h, 7*level) >> 40 & (n - 1))
}
