package spans

import (
	"slices"

	"github.com/tailscope/tailscope/internal/numbering"
)

// HopIndex numbers hops from 0 on, in the order in which it comes to know them. It
// also translates the hops of a source, such as those of a Trace, a Batch or a
// Chain, so that a span costs no look-up by name. The zero value is empty. Not safe
// for concurrent use.
type HopIndex struct {
	list     numbering.List[Hop]
	reserved int
	naming   *Naming // nil where hops are called as they come

	source     *Hop    // first of the list that is being translated
	translated []int32 // one more than the number, 0 for not known yet
}

// Reserve numbers a hop that stands for no hop of an input, whatever its name. It
// comes before all others; indices that are merged reserve the same.
func (x *HopIndex) Reserve(h Hop) int32 {
	x.reserved++
	return x.list.Append(h)
}

// Use sets what new hops are called.
func (x *HopIndex) Use(n *Naming) { x.naming = n }

// Number returns the number of a hop, the next one for a new hop.
func (x *HopIndex) Number(h Hop) int32 {
	i, known := x.list.Find(h)
	if !known && x.naming.Folds() {
		h = x.naming.Fold(h)
		i, known = x.list.Find(h)
	}
	if !known {
		i = x.list.Add(h)
	}
	return i
}

// Find returns the number of a hop, and whether it has one.
func (x *HopIndex) Find(h Hop) (int32, bool) { return x.list.Find(h) }

// Len returns how many hops have a number.
func (x *HopIndex) Len() int { return len(x.Hops()) }

// Hop returns the hop with a number.
func (x *HopIndex) Hop(i int32) Hop { return x.Hops()[i] }

// Hops returns the hops by their numbers. The list is the index's own.
func (x *HopIndex) Hops() []Hop { return x.list.Values() }

// Translate returns the number of hop i of a source's list, which may only grow
// while it is the same list.
func (x *HopIndex) Translate(hops []Hop, i int32) int32 {
	if x.source == &hops[0] && int(i) < len(x.translated) && x.translated[i] > 0 {
		return x.translated[i] - 1
	}
	return x.translateNew(hops, i)
}

func (x *HopIndex) translateNew(hops []Hop, i int32) int32 {
	if x.source != &hops[0] {
		x.source, x.translated = &hops[0], x.translated[:0]
	}
	for len(x.translated) < len(hops) {
		x.translated = append(x.translated, 0)
	}
	n := x.Number(hops[i])
	x.translated[i] = n + 1
	return n
}

// Merge numbers the hops of another index, and returns for each of its numbers the
// one here.
func (x *HopIndex) Merge(o *HopIndex) []int32 {
	list := make([]int32, o.Len())
	for i, h := range o.Hops() {
		if list[i] = int32(i); i >= o.reserved {
			list[i] = x.Number(h)
		}
	}
	return list
}

// Sorted returns all numbers but the reserved ones, sorted by their hops.
func (x *HopIndex) Sorted() []int32 {
	var list []int32
	hops := x.Hops()
	for i := x.reserved; i < len(hops); i++ {
		list = append(list, int32(i))
	}
	slices.SortFunc(list, func(a, b int32) int { return hops[a].Compare(hops[b]) })
	return list
}

// Clone copies the numbers for another goroutine to merge.
func (x *HopIndex) Clone() HopIndex {
	c := HopIndex{reserved: x.reserved}
	for _, h := range x.Hops() {
		c.list.Append(h)
	}
	return c
}
