package runs

import "math"

// A cell is what one page covers, 512 microseconds, of pages and everything
// else: the step in which walks pass over what they need not look at. Cells are
// numbered from 0; noCell comes after all of them.
const noCell = math.MaxInt64

// cellEnd is where a cell ends. The last one ends beyond the range of int64.
func cellEnd(cell int64) uint64 { return uint64(cell+1) * pageSpan }

// cellSource is a part of a sample: a sorted source that knows cells. Once move was called,
// next and skim stay within the cell, and it must be left before the next move:
// next said no, or skim was called.
type cellSource interface {
	sortedSource
	// move goes on to the next cell with values and returns its number.
	move() int64
	// skim passes over what is left of the cell and returns how many values that
	// is and their sum.
	skim() (count uint64, sum Sum)
	// again is the part that the last skim passed over. It stays good across moves.
	again() sortedSource
	// fork is a source at the same place, which goes on by itself.
	fork() cellSource
}

// total reads the rest of a source, and returns how many values that is and their sum.
func total(s sortedSource) (count uint64, sum Sum) {
	for v, c, ok := s.next(); ok; v, c, ok = s.next() {
		count += c
		sum.Add(v, c)
	}
	return count, sum
}

// tallied is the source of a sorted slice.
type tallied struct {
	rest    []tally
	end     uint64
	skimmed []tally
	oneCell bool // all of it, numbered 0
}

// asOneCell lets sources that hold few values, as most of many thousand samples
// do, stand in one cell: to go from cell to cell would take longer than to read
// them.
func asOneCell(sources []cellSource) {
	for _, s := range sources {
		if _, few := s.(*tallied); !few {
			return
		}
	}
	for _, s := range sources {
		s.(*tallied).oneCell = true
	}
}

func (t *tallied) move() int64 {
	if len(t.rest) == 0 {
		return noCell
	}
	if t.oneCell {
		t.end = math.MaxUint64
		return 0
	}
	cell := t.rest[0].value / pageSpan
	t.end = cellEnd(cell)
	return cell
}

func (t *tallied) next() (int64, uint64, bool) {
	if len(t.rest) == 0 || uint64(t.rest[0].value) >= t.end {
		return 0, 0, false
	}
	first := t.rest[0]
	t.rest = t.rest[1:]
	return first.value, first.count, true
}

func (t *tallied) skim() (count uint64, sum Sum) {
	all := t.rest
	count, sum = total(t)
	t.skimmed = all[:len(all)-len(t.rest)]
	return count, sum
}

func (t *tallied) again() sortedSource { return &tallied{rest: t.skimmed, end: t.end} }

func (t *tallied) fork() cellSource {
	f := *t
	return &f
}

// pageWalk is the sorted source of one page.
type pageWalk struct {
	page  *page
	start int64 // nanoseconds
	slot  int   // the next one
}

func (p *pageWalk) next() (int64, uint64, bool) {
	for i := p.slot; i < pageSlots; i++ {
		if i%8 == 0 && p.page.eight(i) == 0 && p.page.high[i/groupSlots] == nil {
			i += 7
			continue
		}
		if n := p.page.count(i); n > 0 {
			p.slot = i + 1
			return p.start + int64(i)*microsecond, n, true
		}
	}
	p.slot = pageSlots
	return 0, 0, false
}

// paged is the source of a directory's values.
type paged struct {
	dir    []*node
	number int64 // of the next page
	pageWalk
	skimmed pageWalk
}

func (p *paged) move() int64 {
	for top := p.number / nodePages; top < int64(len(p.dir)); top = p.number / nodePages {
		n := p.dir[top]
		if n == nil {
			p.number = (top + 1) * nodePages
			continue
		}
		p.pageWalk = pageWalk{page: n[p.number%nodePages], start: p.number * pageSpan}
		p.number++
		if p.page != nil {
			return p.number - 1
		}
	}
	return noCell
}

func (p *paged) skim() (count uint64, sum Sum) {
	if p.skimmed = p.pageWalk; p.slot > 0 {
		return total(&p.pageWalk)
	}
	p.slot = pageSlots
	count, slots := p.page.total()
	sum.Add(p.start, count)
	return count, sum.Plus(slots.times(microsecond))
}

func (p *paged) again() sortedSource {
	walk := p.skimmed
	return &walk
}

func (p *paged) fork() cellSource {
	f := *p
	return &f
}

// decoder is the source of a run. Without a move it goes through all of it.
type decoder struct {
	runWalk
	skimmed runWalk
}

// runWalk is the sorted source of a part of a run.
type runWalk struct {
	position
	end uint64 // the part's
}

func newDecoder(r run, consume bool) *decoder {
	d := &decoder{runWalk: runWalk{position{blocks: r.blocks, consume: consume}, math.MaxUint64}}
	d.read()
	return d
}

func (d *decoder) move() int64 {
	if !d.more {
		return noCell
	}
	cell := d.value / pageSpan
	d.end = cellEnd(cell)
	return cell
}

func (r *runWalk) next() (value int64, count uint64, ok bool) {
	if !r.more || uint64(r.value) >= r.end {
		return 0, 0, false
	}
	value, count = r.value, r.count
	r.read()
	return value, count, true
}

func (d *decoder) skim() (count uint64, sum Sum) {
	d.skimmed = d.runWalk
	return d.pass(d.end)
}

func (d *decoder) again() sortedSource {
	walk := d.skimmed
	return &walk
}

func (d *decoder) fork() cellSource {
	f := *d
	return &f
}
