package depend

import (
	"time"

	"github.com/tailscope/tailscope/quantile/runs"
)

const (
	// maxCells is how many cells the blocks of all hops have together, 16 bytes
	// each.
	maxCells = 1 << 18
	// widest is the width, over a minute, with which all times are one block.
	widest = 30
)

// Window is the blocks of time of several hops. All are of one width: a minute, or
// the smallest power of two of minutes with which there are no more than maxCells
// cells. That is decided by the whole input: a part of it has no more cells, so a
// worker never makes blocks wider than they end up. Wider blocks have, in the mean,
// the same effect for spells that are shorter than they, and see longer ones. Where
// no width is enough, there are too many hops, and all blocks stay empty.
//
// Not safe for concurrent use.
type Window struct {
	shift  uint8 // of the width, over a minute
	limit  int
	cells  int
	gaveUp bool
	blocks []*Blocks
	// beforeWider is called once, before blocks become wider for the first time.
	beforeWider func()

	counts [CutBucket + 1]uint64
	room   []blockCell
}

// NewWindow returns a window without blocks.
func NewWindow() *Window { return &Window{limit: maxCells} }

// BeforeWider calls f once, before the blocks become wider than a minute.
func (w *Window) BeforeWider(f func()) { w.beforeWider = f }

// Wider reports whether the blocks became wider than a minute.
func (w *Window) Wider() bool { return w.shift > 0 }

// Fork returns a window without blocks that are as wide as those of w, for a copy of
// what w counts under other hops. Once all is copied, Check makes it as wide as need be.
func (w *Window) Fork() *Window {
	return &Window{limit: w.limit, shift: w.shift, gaveUp: w.gaveUp}
}

// New returns empty blocks of the window.
func (w *Window) New() *Blocks {
	b := &Blocks{window: w}
	w.blocks = append(w.blocks, b)
	return b
}

// Width returns the width of a block.
func (w *Window) Width() time.Duration { return time.Minute << w.shift }

// Width returns the width of a block.
func (b *Blocks) Width() time.Duration { return b.window.Width() }

// Flush counts all that waits. Until more is added, all blocks may then be read at
// the same time.
func (w *Window) Flush() {
	for _, b := range w.blocks {
		b.flush()
	}
}

// Join makes both windows equally wide; then the blocks of o can be moved into
// those of w.
func (w *Window) Join(o *Window) {
	w.Flush()
	o.Flush()
	for w.shift < o.shift {
		w.widen()
	}
	w.follow(o)
	if o.gaveUp {
		w.giveUp()
	}
}

// Merge moves the attempts of o into b; their windows were joined.
func (b *Blocks) Merge(o *Blocks) {
	if b.window.gaveUp {
		return
	}
	b.window.follow(o.window)
	b.enter(o.cells)
	o.window.cells -= len(o.cells)
	o.cells = nil
	b.window.Check()
}

// follow widens a window that is being moved, where the other had to be.
func (w *Window) follow(o *Window) {
	for o.shift < w.shift {
		o.widen()
	}
}

// Check widens blocks until there are few enough cells.
func (w *Window) Check() {
	if w.cells > w.limit && w.shift == 0 && w.beforeWider != nil {
		w.beforeWider()
	}
	for w.cells > w.limit && w.shift < widest {
		w.widen()
	}
	if w.cells > w.limit {
		w.giveUp()
	}
}

// giveUp forgets all blocks and whatever comes.
func (w *Window) giveUp() {
	w.shift, w.cells, w.gaveUp = widest, 0, true
	for _, b := range w.blocks {
		b.cells, b.pending = nil, nil
	}
}

// widen makes one block of two. It keeps what waits.
func (w *Window) widen() {
	w.shift++
	w.cells = 0
	for _, b := range w.blocks {
		b.from, b.to = 0, 0
		b.low, b.high = wider(b.low), wider(b.high)
		for i, key := range b.pending {
			b.pending[i] = wider(key)
		}
		b.widen()
	}
}

// wider is the key with half the block's number.
func wider(key int64) int64 { return key>>(bucketBits+1)<<bucketBits | key&int64(CutBucket) }

// widen enters the cells again, by the new keys.
func (b *Blocks) widen() {
	cells := b.cells
	b.cells = make([]blockCell, 0, len(cells))
	for len(cells) > 0 {
		var block []blockCell
		block, cells = firstBlock(cells)
		for i := range block {
			block[i].key = wider(block[i].key)
		}
		b.enter(block)
	}
}

// tallied returns the distinct keys with their counts, sorted; least and most are
// the keys of the first block and of the last. The list is good until the next call;
// the keys are not kept.
func (w *Window) tallied(keys []int64, least, most int64) []blockCell {
	w.room = w.room[:0]
	if least == most {
		w.ofOneBlock(keys)
		return w.room
	}
	for i := range keys {
		keys[i] -= least // few bytes to sort by
	}
	runs.SortDurations(keys)
	for _, k := range keys {
		if n := len(w.room); n > 0 && w.room[n-1].key == least+k {
			w.room[n-1].n++
			continue
		}
		w.room = append(w.room, blockCell{least + k, 1})
	}
	return w.room
}

// ofOneBlock counts without sorting: most attempts that come together are of one
// minute.
func (w *Window) ofOneBlock(keys []int64) {
	low, high := CutBucket, LogBucket(0)
	for _, k := range keys {
		s := LogBucket(k & int64(CutBucket))
		w.counts[s]++
		low, high = min(low, s), max(high, s)
	}
	base := keys[0] &^ int64(CutBucket)
	for s := low; s <= high; s++ {
		if n := w.counts[s]; n > 0 {
			w.room = append(w.room, blockCell{base | int64(s), n})
			w.counts[s] = 0
		}
	}
}
