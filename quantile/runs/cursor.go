package runs

import "slices"

// Cursor is a k-way merge of the sorted sources of samples, cell by cell: value by
// value where that is asked for, passing over whole cells where it is not. It goes
// upwards only, and its samples must not change meanwhile.
type Cursor struct {
	sources []cellSource
	cells   []int64 // the cell that each source stands before, or is in
	inside  []int   // sources that are in their cell
	open    merger  // what is left of that cell
	passed  []int   // sources of the cell that was passed over last; empty once a value was read
	last    int64   // the value read last
}

func newCursor(sources []cellSource) Cursor {
	c := Cursor{sources: sources, cells: make([]int64, len(sources))}
	for i, s := range sources {
		c.cells[i] = s.move()
	}
	return c
}

// Fork returns a cursor at the same place. Each goes on by itself.
func (c *Cursor) Fork() Cursor {
	f := Cursor{
		sources: make([]cellSource, len(c.sources)), cells: slices.Clone(c.cells),
		inside: slices.Clone(c.inside), passed: slices.Clone(c.passed), last: c.last,
	}
	for i, s := range c.sources {
		f.sources[i] = s.fork()
		for _, h := range c.open.heads {
			if h.from == sortedSource(s) {
				f.open.heads = append(f.open.heads, head{h.tally, f.sources[i]})
			}
		}
	}
	f.open.order()
	return f
}

// cell leaves the cell that was read, and returns the next; noCell at the end.
func (c *Cursor) cell() int64 {
	for _, i := range c.inside {
		c.cells[i] = c.sources[i].move()
	}
	c.inside = c.inside[:0]
	next := int64(noCell)
	for _, cell := range c.cells {
		next = min(next, cell)
	}
	return next
}

// into goes into a cell. All of its sources must be read or skimmed.
func (c *Cursor) into(cell int64) {
	for i, at := range c.cells {
		if at == cell {
			c.inside = append(c.inside, i)
		}
	}
}

// Next returns the next distinct value and its count over all sources.
func (c *Cursor) Next() (value int64, count uint64, ok bool) {
	for len(c.open.heads) == 0 {
		cell := c.cell()
		if cell == noCell {
			return 0, 0, false
		}
		c.enter(cell)
	}
	c.passed = c.passed[:0]
	value, count, ok = c.open.next()
	c.last = value
	return value, count, ok
}

func (c *Cursor) enter(cell int64) {
	c.into(cell)
	for _, i := range c.inside {
		c.open.add(c.sources[i])
	}
	c.open.order()
}

// UpTo moves past all values up to limit and returns how many they are.
func (c *Cursor) UpTo(limit int64) (count uint64) {
	for {
		for len(c.open.heads) > 0 {
			if c.open.heads[0].value > limit {
				return count
			}
			_, n, _ := c.Next()
			count += n
		}
		cell := c.cell()
		switch {
		case cell == noCell || cell*pageSpan > limit:
			return count
		case cellEnd(cell) <= uint64(limit)+1:
			count += c.pass(cell)
		default:
			c.enter(cell)
		}
	}
}

// pass moves past a whole cell and returns how many values it holds.
func (c *Cursor) pass(cell int64) (count uint64) {
	c.into(cell)
	for _, i := range c.inside {
		n, _ := c.sources[i].skim()
		count += n
	}
	c.passed = append(c.passed[:0], c.inside...)
	return count
}

// Largest returns the largest value that UpTo moved past.
func (c *Cursor) Largest() int64 {
	for _, i := range c.passed {
		again := c.sources[i].again()
		for v, _, ok := again.next(); ok; v, _, ok = again.next() {
			c.last = max(c.last, v)
		}
	}
	c.passed = c.passed[:0]
	return c.last
}
