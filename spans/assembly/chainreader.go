package assembly

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/records"

	"github.com/tailscope/tailscope/spans"
)

// chainReader puts the chains of one part after the other together.
type chainReader struct {
	*collected
	config   ChainConfig
	worker   int
	visit    func(worker int, c *spans.Chain) error
	runs     []chainRun
	attempts []spans.Attempt
	room     []byte // for blocks from files

	slots, firsts []int32 // see link
	chain         spans.Chain
	several       []spans.Attempt // of a chain that came in several runs
}

// run visits the chains of one part after the other until none is left.
func (r *chainReader) run(ctx context.Context, next *atomic.Int64) error {
	for {
		part := int(next.Add(1)) - 1
		if part >= chainParts {
			return nil
		}
		r.forget()
		for i, c := range r.collectors {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.load(c, part, r.sites[i]); err != nil {
				return err
			}
		}
		if err := r.visitAll(ctx); err != nil {
			return err
		}
	}
}

// forget makes room for another part.
func (r *chainReader) forget() {
	clear(r.runs) // the blocks of their ids
	r.runs, r.attempts, r.room = r.runs[:0], r.attempts[:0], r.room[:0]
}

// load adds the lines of a collector's part, which forgets them.
func (r *chainReader) load(c *ChainCollector, at int, sites []site) error {
	part, start := &c.parts[at], int64(0)
	for _, p := range part.spilled {
		block := r.take(p.Size())
		if err := c.file.Read(p, block); err != nil {
			return err
		}
		start = r.read(block, sites, start)
	}
	for _, block := range part.blocks {
		start = r.read(block, sites, start)
	}
	part.blocks, part.spilled = nil, nil
	return nil
}

// take returns room of n bytes. What was taken before stays where it is.
func (r *chainReader) take(n int) []byte {
	if cap(r.room)-len(r.room) < n {
		r.room = make([]byte, 0, max(n, 2*cap(r.room)))
	}
	at := len(r.room)
	r.room = r.room[:at+n]
	return r.room[at:]
}

// read adds the runs of a block. start is that of the last run of the block before,
// and then of this one.
func (r *chainReader) read(block []byte, sites []site, start int64) int64 {
	for len(block) > 0 {
		run := chainRun{hash: binary.LittleEndian.Uint32(block), from: int32(len(r.attempts)), next: -1}
		run.id, block = cutID(block[4:])
		run.spelling, block = spelling(block[0]), block[1:]
		block, start = r.readLines(&run, block, sites, start)
		run.to = int32(len(r.attempts))
		r.runs = append(r.runs, run)
	}
	return start
}

// readLines adds the lines of a run and returns the start of its first.
func (r *chainReader) readLines(run *chainRun, b []byte, sites []site, start int64) (rest []byte, first int64) {
	before, begun := start, false
	for {
		r.attempts = append(r.attempts, spans.Attempt{})
		one, flags := &r.attempts[len(r.attempts)-1], b[0]
		b = unpackLine(one, b, sites)
		if flags&flagTimed == 0 {
			run.untimed = true
		} else {
			var distance uint64
			distance, b = records.Take(b)
			before += records.Unzigzag(distance)
			one.Start, one.Timed = before, true
			if !begun {
				start, begun = before, true
			}
		}
		if flags&flagEnded != 0 {
			one.MayBeCut = one.MayBeCut && !r.marked[one.Hop]
			run.anyCut = run.anyCut || one.Outcome == spans.Truncated
		}
		if flags&flagLast != 0 {
			return b, start
		}
	}
}

// visitAll brings the runs of each chain together and hands it on. It stops with
// ctx between two of them.
func (r *chainReader) visitAll(ctx context.Context) error {
	r.link()
	for _, first := range r.firsts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.visit(r.worker, r.chainOf(first)); err != nil {
			return err
		}
	}
	return nil
}

func (r *chainReader) chainOf(first int32) *spans.Chain {
	c, run := &r.chain, &r.runs[first]
	c.Named, c.Group, c.Attempts = run, run.group(), r.attempts[run.from:run.to:run.to]
	if run.next >= 0 {
		r.several = r.collect(r.several[:0], first)
		c.Attempts = r.several
	}
	if r.config.PassUpCuts && run.anyCut {
		c.PassUpCuts()
	}
	c.Timed = !run.untimed
	c.Sort()
	if r.config.Keep == KeepAll {
		c.Nest()
	}
	return c
}

// collect adds the attempts of a chain from all its runs.
func (r *chainReader) collect(list []spans.Attempt, first int32) []spans.Attempt {
	for i := first; i >= 0; i = r.runs[i].next {
		list = append(list, r.attempts[r.runs[i].from:r.runs[i].to]...)
	}
	return list
}

// link links the runs of each chain, in a table by the hash of their ids: firsts
// holds one run of each, next the one after it.
func (r *chainReader) link() {
	slots := 1 << bits.Len(uint(2*len(r.runs)))
	r.slots = append(r.slots[:0], make([]int32, slots)...) // one more than the first run
	r.firsts = r.firsts[:0]
	for i := range r.runs {
		slot := r.slotOf(&r.runs[i])
		if *slot == 0 {
			*slot = int32(i) + 1
			r.firsts = append(r.firsts, int32(i))
			continue
		}
		first := &r.runs[*slot-1]
		r.runs[i].next, first.next = first.next, int32(i)
		first.join(&r.runs[i])
	}
}

// slotOf returns the slot of a run's chain, or the free one where it belongs.
func (r *chainReader) slotOf(run *chainRun) *int32 {
	mask := uint32(len(r.slots) - 1)
	for at := run.hash & mask; ; at = (at + 1) & mask {
		if r.slots[at] == 0 {
			return &r.slots[at]
		}
		if o := &r.runs[r.slots[at]-1]; o.hash == run.hash && bytes.Equal(o.id, run.id) {
			return &r.slots[at]
		}
	}
}
