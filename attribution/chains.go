package attribution

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/spans"
)

// Chains puts the chains of all watches together and looks at each of them, with
// a goroutine for each watch. It comes after all AddLines, once, before Merge. An
// error is one of reading the files, or the end of ctx.
func Chains(ctx context.Context, watches []*Watch) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hops := translations(watches)
	var next atomic.Int64
	var group sync.WaitGroup
	for i, w := range watches {
		group.Go(func() {
			if err := w.takeShelves(ctx, watches, hops[i], &next); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// translations returns, for each watch, the numbers that the hops of all others
// have in it. All is known before they are read side by side.
func translations(watches []*Watch) [][][]int32 {
	var tables [][]spans.Hop
	for _, w := range watches {
		tables = append(tables, slices.Clone(w.table.hops))
	}
	all := make([][][]int32, len(watches))
	for i, w := range watches {
		for _, hops := range tables {
			all[i] = append(all[i], w.table.hopsOf(hops))
		}
	}
	return all
}

// takeShelves looks at one shelf after the other until none is left.
func (w *Watch) takeShelves(ctx context.Context, watches []*Watch, hops [][]int32, next *atomic.Int64) error {
	var shelf loaded
	for {
		s := int(next.Add(1)) - 1
		if s >= shelves {
			return nil
		}
		shelf.forget()
		for i, o := range watches {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := o.lines.load(&shelf, s, hops[i]); err != nil {
				return err
			}
		}
		if err := w.addChains(ctx, &shelf); err != nil {
			return err
		}
	}
}

// load adds the lines of a shelf to those of other stores and forgets them.
func (s *lineStore) load(to *loaded, at int, hops []int32) error {
	shelf, start := &s.shelves[at], int64(0)
	for _, p := range shelf.spilled {
		block := to.take(p.Size())
		if err := s.spill.Read(p, block); err != nil {
			return err
		}
		start = to.read(block, hops, start)
	}
	for _, block := range shelf.blocks {
		start = to.read(block, hops, start)
	}
	shelf.blocks, shelf.spilled = nil, nil
	return nil
}
