package runs

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tailscope/tailscope/internal/spill"
)

const (
	// blockSize lets a merge of runs free what it has read.
	blockSize = 64 << 10
	// longestEntry is a delta and a count at their longest.
	longestEntry = 2 * binary.MaxVarintLen64
	// fanIn runs of similar size are merged into one, so that a value is
	// copied as often as sizes step up a level: logarithmically.
	fanIn = 8
	// fewRuns need not be merged when samples are.
	fewRuns = 64
)

// run is a sorted list of values. Each is a varint of twice the distance to
// the one before, plus one if the count is above 1, which then follows as a
// varint less 2. No entry crosses blocks.
type run struct {
	blocks []block
	size   uint64 // bytes of the blocks
	held   uint64 // bytes of those that lie in memory
}

// block is a piece of a run. Once sealed it is never written again.
type block struct {
	data    []byte
	count   uint64   // values in it
	written *written // nil while it lies in memory
}

// written is where a block lies in the file of a store.
type written struct {
	piece spill.Piece
	store *Store
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
	var e encoder
	kept := s.runs[:0]
	for _, r := range s.runs {
		if r.level() == level {
			merging = append(merging, newDecoder(r, true))
			e.out = e.out || r.held == 0
		} else {
			kept = append(kept, r)
		}
	}
	clear(s.runs[len(kept):])
	s.runs = kept
	w := newMerger(merging)
	e.store = s.store
	for v, c, ok := w.next(); ok; v, c, ok = w.next() {
		s.place(v, c, &e)
	}
	merged := e.end()
	if len(merged.blocks) > 0 {
		s.runs = append(s.runs, merged)
	}
	return merged.level()
}

// encoder writes a run; values must come in ascending order.
type encoder struct {
	run
	block []byte
	count uint64 // values in the block
	last  int64
	room  int    // bytes that a block begins with; 0 means all
	out   bool   // to the store's file
	store *Store // nil where there is none
}

func (e *encoder) add(value int64, count uint64) {
	if len(e.block)+longestEntry > blockSize {
		e.seal()
	}
	if e.block == nil {
		e.block = make([]byte, 0, cmp.Or(e.room, blockSize))
	}
	u := uint64(value-e.last) << 1 // a distance is below 2^63
	e.last = value
	e.count += count
	if count == 1 {
		e.block = binary.AppendUvarint(e.block, u)
		return
	}
	e.block = binary.AppendUvarint(e.block, u|1)
	e.block = binary.AppendUvarint(e.block, count-2)
}

// seal ends a block, which is cut to what it holds.
func (e *encoder) seal() {
	if len(e.block) == 0 {
		return
	}
	if cap(e.block)-len(e.block) > longestEntry {
		e.block = slices.Clone(e.block)
	}
	b, bytes := block{data: e.block, count: e.count}, uint64(cap(e.block))
	e.block, e.count, e.size = nil, 0, e.size+bytes
	if !e.out || !e.store.take(&b) {
		e.held += bytes
	}
	e.blocks = append(e.blocks, b)
}

// end ends the run.
func (e *encoder) end() run {
	e.seal()
	return e.run
}

// position is a place in a run: the value there, and what follows it.
type position struct {
	tally
	more    bool // the run goes on: there is a value
	blocks  []block
	block   []byte
	at      int  // in block, of what follows
	consume bool // drop each block once it has been read
}

// read goes on to the next value.
func (p *position) read() {
	if p.at == len(p.block) && !p.nextBlock() {
		return
	}
	u := p.uvarint()
	p.value += int64(u >> 1)
	p.count, p.more = 1, true
	if u&1 == 1 {
		p.count = p.uvarint() + 2
	}
}

// pass goes on to the first value at end or beyond. It returns how many values come
// before, and their sum.
func (p *position) pass(end uint64) (count uint64, sum Sum) {
	first := p.value
	var single, beyond uint64 // values that occur once, and their distance from first
	for p.more && uint64(p.value) < end {
		if p.count == 1 {
			n, distance := p.passSingles(end, p.value-first)
			single, beyond = single+n, beyond+distance
		} else {
			count += p.count
			sum.Add(p.value, p.count)
		}
		p.read()
	}
	sum.Add(first, single)
	return count + single, sum.Plus(Sum{Lo: beyond})
}

// passSingles goes on to the last of the values from here on that lie below end, occur once
// and are two bytes beyond the one before, as most are. It returns how many they are, and
// the sum of their distances, of which that of the first is given.
func (p *position) passSingles(end uint64, distance int64) (n, distances uint64) {
	b, at, start := p.block, p.at, p.value-distance
	n, distances = 1, uint64(distance)
	for at+1 < len(b) && b[at] >= 0x80 && b[at]&1 == 0 && b[at+1] < 0x80 {
		next := distance + int64(b[at]&0x7f)>>1 + int64(b[at+1])<<6
		if uint64(start+next) >= end {
			break
		}
		n, distances, distance, at = n+1, distances+uint64(next), next, at+2
	}
	p.value, p.at = start+distance, at
	return n, distances
}

// nextBlock goes on to the next block if there is one that can be read. The
// values of one that cannot be read are taken to be what came before them: counts
// stay right, so nobody has to expect a sample that ends early, and the store
// knows the error.
func (p *position) nextBlock() (ok bool) {
	if len(p.blocks) == 0 {
		p.more = false
		return false
	}
	next := &p.blocks[0]
	p.at = 0
	if p.block, ok = next.load(); !ok {
		p.count, p.more = next.count, true
	}
	if p.consume {
		*next = block{}
	}
	p.blocks = p.blocks[1:]
	return ok
}

func (p *position) uvarint() uint64 {
	// Two bytes hold the usual distance; binary.Uvarint reads the others.
	if b, at := p.block, p.at; at+1 < len(b) && b[at+1] < 0x80 && b[at] >= 0x80 {
		p.at += 2
		return uint64(b[at]&0x7f) | uint64(b[at+1])<<7
	}
	u, n := binary.Uvarint(p.block[p.at:])
	p.at += n
	return u
}
