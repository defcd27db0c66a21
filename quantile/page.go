package quantile

import (
	"iter"
	"unsafe"
)

const (
	microsecond = 1000 // nanoseconds
	pageSlots   = 512
	nodePages   = 512
	pageSpan    = pageSlots * microsecond // nanoseconds that a page covers

	// maxPages covers one hour: a directory for it takes 110 kB at most, and
	// longer calls are too rare to be dense.
	maxPages = 3600 * 1_000_000 / pageSlots

	// worthPage is the number of whole microseconds among maxPending values
	// that make a page: 4 kB that later values of the range need not pay for.
	worthPage = 32

	// A range that drifts could open page after page and leave each nearly
	// empty; beyond freePages bytes a page must be paid for by values.
	freePages    = 1 << 20
	bytesToAPage = 4 // bytes of pages allowed per value
)

// page counts 512 consecutive whole microseconds.
type page [pageSlots]uint64

type node [nodePages]*page

// directory finds the page of a value in two steps; it grows with the value.
type directory struct {
	nodes []*node
	count uint64 // pages
}

// counter returns the count of ns if ns is a whole microsecond with a page,
// else nil. A negative ns reads as a huge one and has no page.
func (d *directory) counter(ns int64) *uint64 {
	us := uint64(ns) / microsecond
	if us*microsecond != uint64(ns) {
		return nil
	}
	i := us / (pageSlots * nodePages)
	if i >= uint64(len(d.nodes)) {
		return nil
	}
	n := d.nodes[i]
	if n == nil {
		return nil
	}
	p := n[us/pageSlots%nodePages]
	if p == nil {
		return nil
	}
	return &p[us%pageSlots]
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
		for j, c := range p {
			(*slot)[j] += c
		}
	}
}

func (d *directory) clone() directory {
	var c directory
	for i, p := range d.all() {
		copied := *p
		*c.slot(i) = &copied
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

func (d *directory) bytes() uint64 {
	held := uint64(cap(d.nodes))*uint64(unsafe.Sizeof(&node{})) + d.count*uint64(unsafe.Sizeof(page{}))
	for _, n := range d.nodes {
		if n != nil {
			held += uint64(unsafe.Sizeof(node{}))
		}
	}
	return held
}

// paged is the source of a directory's values.
type paged struct {
	dir  []*node
	slot int // next microsecond, within the whole directory
}

func (p *paged) next() (int64, uint64, bool) {
	for top := p.slot / (nodePages * pageSlots); top < len(p.dir); top = p.slot / (nodePages * pageSlots) {
		n := p.dir[top]
		if n == nil {
			p.slot = (top + 1) * nodePages * pageSlots
			continue
		}
		number := p.slot / pageSlots
		counts := n[number%nodePages]
		if counts == nil {
			p.slot = (number + 1) * pageSlots
			continue
		}
		for i := p.slot % pageSlots; i < pageSlots; i++ {
			if counts[i] > 0 {
				us := number*pageSlots + i
				p.slot = us + 1
				return int64(us) * microsecond, counts[i], true
			}
		}
		p.slot = (number + 1) * pageSlots
	}
	return 0, 0, false
}
