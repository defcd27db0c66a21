package assembly

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/spans"
)

const (
	// tracePartitions is into how many partitions traces fall, by bits of their ids.
	tracePartitions = 64
	// chainPartitions is that for chains. Each worker unpacks one at a time.
	chainPartitions = 256
	// levels is how often a partition can be split again before the bits run out.
	levels = 9
	// blockBytes is what memory is handed out in.
	blockBytes = 8192
	// writtenBlocks are written to a file at once, where there are as many.
	writtenBlocks = 16
)

// partitionOf is which of n = 2^k partitions an id falls into; level selects other bits
// of it, so that a partition can be split again.
func partitionOf(id spans.TraceID, n uint64, level int) int {
	h := (id.Hi ^ bits.RotateLeft64(id.Lo, 31)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return int(bits.RotateLeft64(h, 7*level) >> 40 & (n - 1))
}

// eachPartition lets workers visit n partitions. It stops at the first error, and with
// ctx between two partitions. visitor returns what one worker calls for each.
func eachPartition(ctx context.Context, workers, n int, visitor func(ctx context.Context, worker int) func(partition int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range max(workers, 1) {
		visit := visitor(ctx, w)
		group.Go(func() {
			for p := int(next.Add(1)) - 1; p < n && ctx.Err() == nil; p = int(next.Add(1)) - 1 {
				if err := visit(p); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

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

// give takes blocks back; those made for one large record go.
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

// partition is one of a store's: records in memory, whole in blocks, and those that
// were spilled before.
type partition struct {
	*store
	blocks  [][]byte
	bytes   int64 // of all blocks, used or not
	onDisk  []spill.Piece
	records int
	first   spans.TraceID
	mixed   bool // holds more than one trace: else it cannot be split
}

// add copies a record, for which the last block may have room.
func (p *partition) add(id spans.TraceID, record []byte) error {
	if k := len(p.blocks); k == 0 || cap(p.blocks[k-1])-len(p.blocks[k-1]) < len(record) {
		block, err := p.block(len(record))
		if err != nil {
			return err
		}
		p.blocks = append(p.blocks, block)
		p.bytes += int64(cap(block))
	}
	if p.records == 0 {
		p.first = id
	}
	p.records++
	p.mixed = p.mixed || p.first != id
	last := &p.blocks[len(p.blocks)-1]
	*last = append(*last, record...)
	return nil
}

// spill moves the records to the file.
func (p *partition) spill() error {
	before := cap(p.onDisk)
	for together := range slices.Chunk(p.blocks, writtenBlocks) {
		piece, err := p.file.Write(together...)
		if err != nil {
			return err
		}
		p.onDisk = append(p.onDisk, piece)
	}
	p.quota.charge(int64(cap(p.onDisk)-before) * int64(unsafe.Sizeof(spill.Piece{})))
	p.quota.give(p.blocks)
	clear(p.blocks)
	p.blocks, p.bytes = p.blocks[:0], 0
	return nil
}

// spilled is how many bytes lie on disk.
func (p *partition) spilled() (bytes int64) {
	for _, piece := range p.onDisk {
		bytes += int64(piece.Size())
	}
	return bytes
}

// read appends pieces of the file to others until ctx ends.
func (p *partition) read(ctx context.Context, pieces []spill.Piece, to []byte) ([]byte, error) {
	for _, piece := range pieces {
		if ctx.Err() != nil {
			return to, context.Cause(ctx)
		}
		from := len(to)
		to = slices.Grow(to, piece.Size())[:from+piece.Size()]
		if err := p.file.Read(piece, to[from:]); err != nil {
			return to[:from], err
		}
	}
	return to, nil
}

// forget lets go of the records in memory.
func (p *partition) forget() { p.blocks, p.bytes = nil, 0 }

// store keeps records by partition, in memory as far as its quota goes.
type store struct {
	partitions []partition // a power of two
	level      int         // which bits of the id are the partition
	quota      *quota
	file       *spill.File
}

func newStore(partitions, level int, q *quota, file *spill.File) *store {
	s := &store{make([]partition, partitions), level, q, file}
	for i := range s.partitions {
		s.partitions[i].store = s
	}
	return s
}

// put copies a record.
func (s *store) put(id spans.TraceID, record []byte) error {
	return s.partitions[partitionOf(id, uint64(len(s.partitions)), s.level)].add(id, record)
}

// block returns another block for n bytes, spilling where the quota is used up.
func (s *store) block(n int) ([]byte, error) {
	for {
		if b := s.quota.take(n); b != nil {
			return b, nil
		}
		largest := s.largest()
		if largest.bytes == 0 {
			return s.quota.force(n), nil
		}
		if err := largest.spill(); err != nil {
			return nil, err
		}
		if n > blockBytes {
			s.quota.drop() // a free block is no use then
		}
	}
}

// largest returns the partition that holds the most memory.
func (s *store) largest() *partition {
	largest := &s.partitions[0]
	for i := range s.partitions {
		if p := &s.partitions[i]; p.bytes > largest.bytes {
			largest = p
		}
	}
	return largest
}

// spillAll leaves nothing in memory.
func (s *store) spillAll() error {
	for i := range s.partitions {
		if err := s.partitions[i].spill(); err != nil {
			return err
		}
	}
	s.quota.drop()
	return nil
}
