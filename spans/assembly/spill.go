package assembly

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/tailscope/tailscope/internal/spill"
)

// writeBytes is how much is written to a spill file at once, where there is as
// much; a larger fragment is written alone.
const writeBytes = 64 << 10

// spillFile holds the fragments of a store that memory does not hold.
type spillFile struct {
	*spill.File
	total  *atomic.Int64 // bytes of all files
	joined []byte        // blocks that are written together
}

// write appends the blocks of a pile, and returns where they lie after those of
// before. A piece holds whole fragments.
func (f *spillFile) write(p *pile, before []spill.Piece) ([]spill.Piece, error) {
	for rest := p.blocks; len(rest) > 0; {
		block, n := f.join(rest)
		piece, err := f.Write(block)
		if err != nil {
			return before, err
		}
		f.total.Add(int64(len(block)))
		before, rest = append(before, piece), rest[n:]
	}
	return before, nil
}

// join returns as many of the first blocks as are written at once, and their
// number.
func (f *spillFile) join(blocks [][]byte) ([]byte, int) {
	n, size := 1, len(blocks[0])
	for n < len(blocks) && size+len(blocks[n]) <= writeBytes {
		size += len(blocks[n])
		n++
	}
	if n == 1 {
		return blocks[0], 1
	}
	f.joined = slices.Grow(f.joined[:0], writeBytes)
	for _, b := range blocks[:n] {
		f.joined = append(f.joined, b...)
	}
	return f.joined, n
}

// read appends the fragments of pieces to others until ctx ends.
func (f *spillFile) read(ctx context.Context, pieces []spill.Piece, to []byte) ([]byte, error) {
	for _, p := range pieces {
		if ctx.Err() != nil {
			return to, context.Cause(ctx)
		}
		from := len(to)
		to = slices.Grow(to, p.Size())[:from+p.Size()]
		if err := f.Read(p, to[from:]); err != nil {
			return to[:from], err
		}
	}
	return to, nil
}

// placeBytes is the size of a place in a spill file.
const placeBytes = int64(unsafe.Sizeof(spill.Piece{}))
