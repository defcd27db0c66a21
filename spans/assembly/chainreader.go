package assembly

import (
	"context"

	"github.com/tailscope/tailscope/internal/records"

	"github.com/tailscope/tailscope/spans"
)

// chainReader puts the chains of one partition after the other together.
type chainReader struct {
	*collected
	ctx      context.Context
	config   ChainConfig
	again    bool // the records are wanted once more
	visit    func(c *spans.Chain) error
	runs     []chainRun
	attempts []spans.Attempt
	loaded   []byte // from files

	groups  grouping // of runs
	chain   spans.Chain
	several []spans.Attempt // of a chain that came in several runs
}

// partition visits the chains of a partition. It stops with ctx between two of them.
func (r *chainReader) partition(number int) error {
	clear(r.runs) // the texts of their ids
	r.runs, r.attempts, r.loaded = r.runs[:0], r.attempts[:0], r.loaded[:0]
	for i, c := range r.collectors {
		if err := r.load(&c.store.partitions[number], r.sites[i]); err != nil {
			return err
		}
	}
	r.groups.group(len(r.runs), func(i int32) spans.TraceID { return r.runs[i].id })
	for _, first := range r.groups.firsts {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if err := r.visit(r.chainOf(first)); err != nil {
			return err
		}
	}
	return nil
}

// load adds the lines of a collector's partition, which forgets them.
func (r *chainReader) load(p *partition, sites []site) (err error) {
	from := len(r.loaded)
	if r.loaded, err = p.read(r.ctx, p.onDisk, r.loaded); err != nil {
		return err
	}
	start := r.read(r.loaded[from:], sites, 0)
	for _, block := range p.blocks {
		start = r.read(block, sites, start)
	}
	if !r.again {
		p.forget()
	}
	return nil
}

// read adds the runs of a block. start is that of the last run of the block before,
// and then of this one.
func (r *chainReader) read(block []byte, sites []site, start int64) int64 {
	for len(block) > 0 {
		run, lines := unpackRun(block)
		run.from = int32(len(r.attempts))
		block, start = r.readLines(lines, sites, start)
		run.to = int32(len(r.attempts))
		r.runs = append(r.runs, run)
	}
	return start
}

// readLines adds the lines of a run and returns the start of its first.
func (r *chainReader) readLines(b []byte, sites []site, start int64) (rest []byte, first int64) {
	before, begun := start, false
	for {
		r.attempts = append(r.attempts, spans.Attempt{})
		one, flags := &r.attempts[len(r.attempts)-1], b[0]
		b = unpackLine(one, b, sites)
		if one.MayBeCut = one.MayBeCut && !r.marked[one.Hop]; one.MayBeCut {
			one.Outcome, one.CutBy = spans.Truncated, spans.Own
		}
		if flags&flagTimed != 0 {
			var distance uint64
			distance, b = records.Take(b)
			before += records.Unzigzag(distance)
			one.Start, one.Timed = before, true
			if !begun {
				start, begun = before, true
			}
		}
		if flags&flagLast != 0 {
			return b, start
		}
	}
}

// chainOf returns the chain of which a run is the first.
func (r *chainReader) chainOf(first int32) *spans.Chain {
	c, run := &r.chain, &r.runs[first]
	c.Named, c.ID, c.Group, c.PlacedBy, c.Attempts = run, run.id, run.id.Group(), nil, r.attempts[run.from:run.to:run.to]
	if r.groups.next[first] >= 0 {
		r.several = r.several[:0]
		for i := first; i >= 0; i = r.groups.next[i] {
			run.join(&r.runs[i])
			r.several = append(r.several, r.attempts[r.runs[i].from:r.runs[i].to]...)
		}
		c.Attempts = r.several
	}
	if r.config.PassUpCuts {
		c.PassUpCuts()
	}
	c.Link()
	return c
}
