package quantile

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// blockSize lets a merge of runs free what it has read.
	blockSize = 64 << 10
	// longestEntry is a delta and a count at their longest.
	longestEntry = 2 * binary.MaxVarintLen64
	// fanIn runs of similar size are merged into one, so that a value is
	// copied as often as sizes step up a level: logarithmically.
	fanIn = 8
)

// run is a sorted list of values. Each is a varint of twice the distance to
// the one before, plus one if the count is above 1, which then follows as a
// varint less 2. No entry crosses blocks.
type run struct {
	blocks [][]byte
	size   uint64 // bytes held by the blocks
}

// level groups runs whose sizes are within a factor of four.
func (r run) level() int { return bits.Len64(r.size) / 2 }

// push adds a run and keeps fewer than fanIn runs on every level.
func (s *Sample) push(r run) {
	if len(r.blocks) == 0 {
		return
	}
	s.runs = append(s.runs, r)
	for level := r.level(); s.crowded(level); {
		level = s.mergeLevel(level)
	}
}

func (s *Sample) crowded(level int) bool {
	n := 0
	for _, r := range s.runs {
		if r.level() == level {
			n++
		}
	}
	return n >= fanIn
}

// mergeLevel joins the runs of a level and returns the level of the result.
// Values whose page was opened in the meantime move there.
func (s *Sample) mergeLevel(level int) int {
	var merging []*decoder
	kept := s.runs[:0]
	for _, r := range s.runs {
		if r.level() == level {
			merging = append(merging, newDecoder(r, true))
		} else {
			kept = append(kept, r)
		}
	}
	clear(s.runs[len(kept):])
	s.runs = kept
	w := newWalker(merging)
	var e encoder
	for v, c, ok := w.next(); ok; v, c, ok = w.next() {
		s.place(v, c, &e)
	}
	merged := e.run()
	if len(merged.blocks) > 0 {
		s.runs = append(s.runs, merged)
	}
	return merged.level()
}

// encoder writes a run; values must come in ascending order.
type encoder struct {
	blocks [][]byte
	block  []byte
	last   int64
	size   uint64
}

func (e *encoder) add(value int64, count uint64) {
	if len(e.block)+longestEntry > blockSize {
		e.seal(e.block)
		e.block = make([]byte, 0, blockSize)
	}
	u := uint64(value-e.last) << 1 // a distance is below 2^63
	e.last = value
	if count == 1 {
		e.block = binary.AppendUvarint(e.block, u)
		return
	}
	e.block = binary.AppendUvarint(e.block, u|1)
	e.block = binary.AppendUvarint(e.block, count-2)
}

func (e *encoder) seal(block []byte) {
	e.blocks = append(e.blocks, block)
	e.size += uint64(cap(block))
}

// run ends the run; the last block is cut to what it holds.
func (e *encoder) run() run {
	if len(e.block) > 0 {
		e.seal(slices.Clone(e.block))
	}
	return run{e.blocks, e.size}
}

// position is a place in a run: the value there, and what follows it.
type position struct {
	tally
	more    bool // the run goes on: there is a value
	blocks  [][]byte
	block   []byte
	consume bool // drop each block once it has been read
}

// read goes on to the next value.
func (p *position) read() {
	if len(p.block) == 0 && !p.nextBlock() {
		p.more = false
		return
	}
	u := p.uvarint()
	p.value += int64(u >> 1)
	p.count, p.more = 1, true
	if u&1 == 1 {
		p.count = p.uvarint() + 2
	}
}

func (p *position) nextBlock() bool {
	if len(p.blocks) == 0 {
		return false
	}
	p.block = p.blocks[0]
	if p.consume {
		p.blocks[0] = nil
	}
	p.blocks = p.blocks[1:]
	return true
}

func (p *position) uvarint() uint64 {
	// Two bytes hold the usual distance; binary.Uvarint reads the others.
	if b := p.block; len(b) > 1 && b[1] < 0x80 && b[0] >= 0x80 {
		p.block = b[2:]
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	u, n := binary.Uvarint(p.block)
	p.block = p.block[n:]
	return u
}
