package attribution

import (
	"cmp"
	"slices"
)

// mostExemplars is how many traces are named for a hop.
const mostExemplars = 3

// exemplars are the longest traces in which a hop has the largest part: of all,
// and of those that fail, which may be short and yet belong to the tail.
type exemplars struct{ all, failing []exemplar }

type exemplar struct {
	trace string
	total int64 // ns, end to end
	fails bool
}

// consider keeps a trace that is among the longest. Most are not, so a name is
// only made when it may be.
func (e *exemplars) consider(total int64, fails bool, name func() string) {
	if !among(e.all, total) && !(fails && among(e.failing, total)) {
		return
	}
	e.add(exemplar{name(), total, fails})
}

func among(list []exemplar, total int64) bool {
	return len(list) < mostExemplars || total >= list[len(list)-1].total
}

func (e *exemplars) add(x exemplar) {
	e.all = insert(e.all, x)
	if x.fails {
		e.failing = insert(e.failing, x)
	}
}

// insert keeps the list sorted, the longest first, and short.
func insert(list []exemplar, x exemplar) []exemplar {
	at, _ := slices.BinarySearchFunc(list, x, compareExemplars)
	list = slices.Insert(list, at, x)
	return list[:min(len(list), mostExemplars)]
}

func compareExemplars(a, b exemplar) int {
	return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.trace, b.trace))
}

func (e *exemplars) merge(o *exemplars) {
	for _, x := range o.all {
		e.add(x)
	}
	for _, x := range o.failing {
		if !slices.Contains(e.failing, x) {
			e.failing = insert(e.failing, x)
		}
	}
}

// inTail names those that are at least so long, or fail.
func (e *exemplars) inTail(from int64) []string {
	var both []exemplar
	for _, x := range e.all {
		if x.total >= from {
			both = append(both, x)
		}
	}
	for _, x := range e.failing {
		if !slices.Contains(both, x) {
			both = append(both, x)
		}
	}
	slices.SortFunc(both, compareExemplars)
	var names []string
	for _, x := range both[:min(len(both), mostExemplars)] {
		names = append(names, x.trace)
	}
	return names
}
