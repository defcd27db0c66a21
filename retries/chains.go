package retries

import (
	"context"
	"sync"
	"sync/atomic"
)

// Chains puts the lines of all watches together by their chains and looks at the
// calls in them, with a goroutine for each watch. It comes after all AddLines,
// once, before Merge. An error is one of reading the files, or the end of ctx.
func Chains(ctx context.Context, watches []*Watch) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hops := translations(watches)
	shareMarks(watches)
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
	var tables []table
	for _, w := range watches {
		tables = append(tables, table{index: w.table.index.Clone()})
	}
	all := make([][][]int32, len(watches))
	for i, w := range watches {
		for k := range tables {
			all[i] = append(all[i], w.table.merge(&tables[k]))
		}
	}
	return all
}

// takeShelves looks at one shelf after the other until none is left.
func (w *Watch) takeShelves(ctx context.Context, watches []*Watch, hops [][]int32, next *atomic.Int64) (err error) {
	var lines []line
	for ctx.Err() == nil {
		s := int(next.Add(1)) - 1
		if s >= shelves {
			return nil
		}
		lines = lines[:0]
		for i, o := range watches {
			if lines, err = o.lines.take(lines, s, hops[i]); err != nil {
				return err
			}
		}
		w.addChains(lines)
	}
	return nil
}

// addChains brings the lines of each chain together and looks at it.
func (w *Watch) addChains(lines []line) {
	sortLines(lines)
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].id == lines[0].id {
			n++
		}
		w.addChain(lines[:n])
		lines = lines[n:]
	}
}

// addChain looks at the lines of one chain, which are sorted.
func (w *Watch) addChain(lines []line) {
	w.judge(lines)
	w.tries = w.tries[:0]
	for i := range lines {
		if t := &lines[i].try; t.gaveUp() || t.retry {
			w.tries = append(w.tries, *t)
		}
	}
	w.linkByHop()
	w.addCalls()
}
