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
	var lines []line
	for {
		s := int(next.Add(1)) - 1
		if s >= shelves {
			return nil
		}
		lines = lines[:0]
		for i, o := range watches {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			var err error
			if lines, err = o.lines.load(lines, s, hops[i]); err != nil {
				return err
			}
		}
		w.addChains(lines)
	}
}

// load adds the lines of a shelf to a list and forgets them.
func (s *lineStore) load(to []line, at int, hops []int32) ([]line, error) {
	shelf := &s.shelves[at]
	for _, p := range shelf.spilled {
		block, err := s.spill.read(p)
		if err != nil {
			return nil, err
		}
		to = readLines(to, block, hops)
	}
	for _, block := range shelf.blocks {
		to = readLines(to, block, hops)
	}
	shelf.blocks, shelf.spilled = nil, nil
	return to, nil
}
