package attribution

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Chains puts the chains of all watches together and looks at each of them, with
// a goroutine for each watch. It comes after all AddLines, once, before Merge. An
// error is one of reading the files, or the end of ctx.
func Chains(ctx context.Context, watches []*Watch) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := translations(watches)
	var next atomic.Int64
	var group sync.WaitGroup
	for i, w := range watches {
		group.Go(func() {
			if err := w.takeShelves(ctx, watches, parts[i], &next); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// translations returns, for each watch, what the parts of all others are in it. All is known before they are read side by side.
func translations(watches []*Watch) [][][]member {
	var tables []table
	for _, w := range watches {
		tables = append(tables, w.table.lists())
	}
	all := make([][][]member, len(watches))
	for i, w := range watches {
		for k := range tables {
			all[i] = append(all[i], w.table.members(&tables[k]))
		}
	}
	return all
}

// takeShelves looks at one shelf after the other until none is left.
func (w *Watch) takeShelves(ctx context.Context, watches []*Watch, parts [][]member, next *atomic.Int64) error {
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
			if err := o.lines.load(&shelf, s, parts[i]); err != nil {
				return err
			}
		}
		if err := w.addChains(ctx, &shelf); err != nil {
			return err
		}
	}
}

// load adds the lines of a shelf to those of other stores and forgets them.
func (s *lineStore) load(to *loaded, at int, parts []member) error {
	shelf, start := &s.shelves[at], int64(0)
	for _, p := range shelf.spilled {
		block := to.take(p.Size())
		if err := s.spill.Read(p, block); err != nil {
			return err
		}
		start = to.read(block, parts, start)
	}
	for _, block := range shelf.blocks {
		start = to.read(block, parts, start)
	}
	shelf.blocks, shelf.spilled = nil, nil
	return nil
}

// member is a part and its hop.
type member struct{ part, hop int32 }

// members returns what the parts of another table are in this one.
func (t *table) members(o *table) []member {
	_, parts := t.learn(o)
	list := make([]member, len(parts))
	for i, p := range parts {
		list[i] = member{p, t.parts[p].hop}
	}
	return list
}

// lists copies what a table holds, without what finds it.
func (t *table) lists() table {
	return table{index: t.index.Clone(), parts: slices.Clone(t.parts), names: slices.Clone(t.names)}
}
