package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
)

// top keeps the largest of some times: the smallest of those is their p99 once
// the times are in that the hop has in any trace, for in all others it has none.
type top struct {
	most  int
	floor int64 // only a longer time can be among the largest
	list  []int64
}

// newTops returns a top for each hop, of n traces.
func newTops(hops int, n uint64) []top {
	tops := make([]top, hops)
	for i := range tops {
		tops[i] = top{most: int(n - ninetyNinth.Rank(n) + 1), floor: math.MinInt64}
	}
	return tops
}

// add keeps up to twice as many as are needed, so that it seldom has to look for
// the largest.
func (t *top) add(ns int64) {
	if ns <= t.floor {
		return
	}
	t.list = append(t.list, ns)
	if len(t.list) >= 2*t.most {
		t.floor = largest(t.list, t.most)
		t.list = t.list[:t.most]
	}
}

func (t *top) merge(o *top) {
	for _, ns := range o.list {
		t.add(ns)
	}
}

// p99 is 0 where fewer than one in a hundred traces have any time of the hop.
func (t *top) p99() int64 {
	if len(t.list) < t.most {
		return 0
	}
	return largest(t.list, t.most)
}

// mostRounds is after how many rounds the rest of a list is sorted: by chance no
// list takes so many.
const mostRounds = 64

// largest moves the k largest of a list to its front and returns the smallest of
// them.
func largest(list []int64, k int) int64 {
	lo, hi := 0, len(list)-1
	for range mostRounds {
		if lo >= hi {
			break
		}
		a, b := partition(list, lo, hi)
		switch {
		case k-1 <= b:
			hi = b
		case k-1 >= a:
			lo = a
		default:
			return list[k-1]
		}
	}
	slices.SortFunc(list[lo:hi+1], func(a, b int64) int { return cmp.Compare(b, a) })
	return list[k-1]
}

// partition moves the long times of a part of a list before the short ones:
// those up to b are no shorter than those from a on, and all between them equal.
func partition(list []int64, lo, hi int) (a, b int) {
	pivot := median(list[lo], list[(lo+hi)/2], list[hi])
	a, b = lo, hi
	for a <= b {
		for list[a] > pivot {
			a++
		}
		for list[b] < pivot {
			b--
		}
		if a <= b {
			list[a], list[b] = list[b], list[a]
			a, b = a+1, b-1
		}
	}
	return a, b
}

func median(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

func sumOfP99(tops []top) int64 {
	total := int64(0)
	for i := range tops {
		total = durations.Sum(total, tops[i].p99())
	}
	return total
}
