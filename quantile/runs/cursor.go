package runs

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
	j := Cursor{sources: sources, cells: make([]int64, len(sources))}
	for i, s := range sources {
		j.cells[i] = s.move()
	}
	return j
}

// cell leaves the cell that was read, and returns the next; noCell at the end.
func (j *Cursor) cell() int64 {
	for _, i := range j.inside {
		j.cells[i] = j.sources[i].move()
	}
	j.inside = j.inside[:0]
	next := int64(noCell)
	for _, c := range j.cells {
		next = min(next, c)
	}
	return next
}

// into goes into a cell. All of its sources must be read or skimmed.
func (j *Cursor) into(cell int64) {
	for i, c := range j.cells {
		if c == cell {
			j.inside = append(j.inside, i)
		}
	}
}

// Next returns the next distinct value and its count over all sources.
func (j *Cursor) Next() (value int64, count uint64, ok bool) {
	for len(j.open.heads) == 0 {
		cell := j.cell()
		if cell == noCell {
			return 0, 0, false
		}
		j.enter(cell)
	}
	j.passed = j.passed[:0]
	value, count, ok = j.open.next()
	j.last = value
	return value, count, ok
}

func (j *Cursor) enter(cell int64) {
	j.into(cell)
	for _, i := range j.inside {
		j.open.add(j.sources[i])
	}
	j.open.order()
}

// UpTo moves past all values up to limit and returns how many they are.
func (j *Cursor) UpTo(limit int64) (count uint64) {
	for {
		for len(j.open.heads) > 0 {
			if j.open.heads[0].value > limit {
				return count
			}
			_, c, _ := j.Next()
			count += c
		}
		cell := j.cell()
		switch {
		case cell == noCell || cell*pageSpan > limit:
			return count
		case cellEnd(cell) <= uint64(limit)+1:
			count += j.pass(cell)
		default:
			j.enter(cell)
		}
	}
}

// pass moves past a whole cell and returns how many values it holds.
func (j *Cursor) pass(cell int64) (count uint64) {
	j.into(cell)
	for _, i := range j.inside {
		c, _ := j.sources[i].skim()
		count += c
	}
	j.passed = append(j.passed[:0], j.inside...)
	return count
}

// Largest returns the largest value that UpTo moved past.
func (j *Cursor) Largest() int64 {
	for _, i := range j.passed {
		again := j.sources[i].again()
		for v, _, ok := again.next(); ok; v, _, ok = again.next() {
			j.last = max(j.last, v)
		}
	}
	j.passed = j.passed[:0]
	return j.last
}
