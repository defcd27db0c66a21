package runs

import (
	"encoding/binary"
	"iter"
	"unsafe"
)

const (
	microsecond = 1000 // nanoseconds
	pageSlots   = 512
	groupSlots  = 64
	nodePages   = 512
	nodeSlots   = nodePages * pageSlots
	pageSpan    = pageSlots * microsecond // nanoseconds that a page covers

	// maxPages covers one hour: a directory for it takes 110 kB at most, and
	// longer calls are too rare to be dense.
	maxPages = 3600 * 1_000_000 / pageSlots

	// worthPage is the number of whole microseconds among maxPending values
	// that make a page: half a kilobyte that later values of the range need not
	// pay for.
	worthPage = 4

	// A range that drifts could open page after page and leave each nearly
	// empty; beyond freePages bytes a page must be paid for by values.
	freePages    = 1 << 20
	bytesToAPage = 4 // bytes of pages allowed per value
)

// page counts 512 consecutive whole microseconds. Most counts are small and all
// that a run touches should stay in the cache, so a counter is a byte; how often
// it went round stands in high, which few pages have.
type page struct {
	low  [pageSlots]uint8
	high [pageSlots / groupSlots]*[groupSlots]uint64
}

// count returns the count of a slot.
func (p *page) count(slot int) uint64 {
	n := uint64(p.low[slot])
	if g := p.high[slot/groupSlots]; g != nil {
		n += g[slot%groupSlots] << 8
	}
	return n
}

// add counts a slot so many times.
func (p *page) add(slot int, count uint64) {
	n := uint64(p.low[slot]) + count
	p.low[slot] = uint8(n)
	if n >>= 8; n > 0 {
		p.carry(slot, n)
	}
}

// carry counts how often the counter of a slot went round.
func (p *page) carry(slot int, rounds uint64) {
	g := &p.high[slot/groupSlots]
	if *g == nil {
		*g = new([groupSlots]uint64)
	}
	(*g)[slot%groupSlots] += rounds
}

// merge adds the counts of o, which must not be used afterwards.
func (p *page) merge(o *page) {
	for i := 0; i < pageSlots; i += 8 {
		p.mergeEight(o, i)
	}
	for i, g := range o.high {
		switch {
		case g == nil:
		case p.high[i] == nil:
			p.high[i] = g
		default:
			for j, n := range g {
				p.high[i][j] += n
			}
		}
	}
}

// mergeEight adds the low counts of eight slots, all at once unless one of them
// might go round.
func (p *page) mergeEight(o *page, from int) {
	const half = 0x8080808080808080
	mine, others := p.eight(from), o.eight(from)
	if (mine|others)&half == 0 {
		binary.LittleEndian.PutUint64(p.low[from:], mine+others)
		return
	}
	for i := from; i < from+8; i++ {
		p.add(i, uint64(o.low[i]))
	}
}

// eight returns the low counts of eight slots, the first in the lowest byte.
func (p *page) eight(from int) uint64 { return binary.LittleEndian.Uint64(p.low[from:]) }

// total returns how many values the page counts, and the sum of their slots.
func (p *page) total() (count uint64, slots Sum) {
	const bytes, ones = 0x00ff00ff00ff00ff, 0x0001000100010001
	var even, odd, sum uint64 // per column of eight; no column exceeds 64*255
	for i := 0; i < pageSlots; i += 8 {
		x := p.eight(i)
		e, o := x&bytes, x>>8&bytes
		even, odd = even+e, odd+o
		here := (e + o) * ones >> 48
		count += here
		sum += here * uint64(i)
	}
	for column := uint64(0); column < 8; column += 2 {
		sum += even&0xffff*column + odd&0xffff*(column+1)
		even, odd = even>>16, odd>>16
	}
	slots.Lo = sum
	for i, g := range p.high {
		if g == nil {
			continue
		}
		for j, rounds := range g {
			count += rounds << 8
			slots.Add(int64(i*groupSlots+j), rounds<<8)
		}
	}
	return count, slots
}

func (p *page) clone() *page {
	c := *p
	for i, g := range p.high {
		if g != nil {
			copied := *g
			c.high[i] = &copied
		}
	}
	return &c
}

type node [nodePages]*page

// directory finds the page of a value in two steps; it grows with the value.
type directory struct {
	nodes []*node
	count uint64 // pages
}

// find returns the page and the slot of ns if ns is a whole microsecond with a
// page, else nil. A negative ns reads as a huge one and has no page.
func (d *directory) find(ns int64) (*page, int) {
	us := uint64(ns) / microsecond
	i := us / nodeSlots
	if us*microsecond != uint64(ns) || i >= uint64(len(d.nodes)) {
		return nil, 0
	}
	n := d.nodes[i]
	if n == nil {
		return nil, 0
	}
	return n[us/pageSlots%nodePages], int(us % pageSlots)
}

// affordable reports whether a sample of n values may hold one more page.
func (d *directory) affordable(n uint64) bool {
	return (d.count+1)*uint64(unsafe.Sizeof(page{})) <= freePages+bytesToAPage*n
}

// open makes page number i, counted from 0, if it does not exist.
func (d *directory) open(i int64) {
	if slot := d.slot(i); *slot == nil {
		*slot = new(page)
		d.count++
	}
}

// slot returns where page number i is or will be.
func (d *directory) slot(i int64) **page {
	top := int(i / nodePages)
	if missing := top + 1 - len(d.nodes); missing > 0 {
		d.nodes = append(d.nodes, make([]*node, missing)...)
	}
	if d.nodes[top] == nil {
		d.nodes[top] = new(node)
	}
	return &d.nodes[top][i%nodePages]
}

// merge moves the pages of o into d; o must not be used afterwards.
func (d *directory) merge(o *directory) {
	for i, p := range o.all() {
		slot := d.slot(i)
		if *slot == nil {
			*slot = p
			d.count++
			continue
		}
		(*slot).merge(p)
	}
}

func (d *directory) clone() directory {
	var c directory
	for i, p := range d.all() {
		*c.slot(i) = p.clone()
		c.count++
	}
	return c
}

// all yields the pages that exist, with their numbers, ascending.
func (d *directory) all() iter.Seq2[int64, *page] {
	return func(yield func(int64, *page) bool) {
		for i, n := range d.nodes {
			if n == nil {
				continue
			}
			for j, p := range n {
				if p != nil && !yield(int64(i*nodePages+j), p) {
					return
				}
			}
		}
	}
}
