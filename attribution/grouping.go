package attribution

import (
	"bytes"
	"context"
	"math/bits"
)

// addChains brings the runs of each chain together and looks at it. It stops with
// ctx between two of them.
func (w *Watch) addChains(ctx context.Context, shelf *loaded) error {
	shelf.link()
	for _, first := range shelf.firsts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := &shelf.runs[first]
		c := shelf.lines[r.from:r.to:r.to]
		if r.next >= 0 {
			c = shelf.collect(w.chain.lines[:0], first)
			w.chain.lines = c
		}
		if w.lines.config.PassUpCuts {
			w.passUpCuts(c)
		}
		w.addChain(c, r.group(), r.name)
	}
	w.flush()
	return nil
}

// collect adds the lines of a chain from all its runs.
func (l *loaded) collect(c []line, first int32) []line {
	for i := first; i >= 0; i = l.runs[i].next {
		c = append(c, l.lines[l.runs[i].from:l.runs[i].to]...)
	}
	return c
}

// link links the runs of each chain, in a table by the hash of their ids: firsts
// holds one run of each, next the one after it.
func (l *loaded) link() {
	slots := 1 << bits.Len(uint(2*len(l.runs)))
	l.slots = append(l.slots[:0], make([]int32, slots)...) // one more than the first run
	l.firsts = l.firsts[:0]
	for i := range l.runs {
		slot := l.slotOf(&l.runs[i])
		if *slot == 0 {
			*slot = int32(i) + 1
			l.firsts = append(l.firsts, int32(i))
			continue
		}
		first := &l.runs[*slot-1]
		l.runs[i].next, first.next = first.next, int32(i)
		first.spelling = max(first.spelling, l.runs[i].spelling) // whichever came first
	}
}

// slotOf returns the slot of a run's chain, or the free one where it belongs.
func (l *loaded) slotOf(r *lineRun) *int32 {
	mask := uint32(len(l.slots) - 1)
	for at := r.hash & mask; ; at = (at + 1) & mask {
		if l.slots[at] == 0 {
			return &l.slots[at]
		}
		if o := &l.runs[l.slots[at]-1]; o.hash == r.hash && bytes.Equal(o.id, r.id) {
			return &l.slots[at]
		}
	}
}
