package attribution

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// timesFor are lists on which choosing the largest may go wrong.
func timesFor(r *rand.Rand, n int) map[string][]int64 {
	lists := map[string][]int64{"any": nil, "few values": nil, "all one": nil, "rising": nil, "falling": nil, "hills": nil}
	for i := range int64(n) {
		lists["any"] = append(lists["any"], r.Int64())
		lists["few values"] = append(lists["few values"], r.Int64N(4))
		lists["all one"] = append(lists["all one"], 7)
		lists["rising"] = append(lists["rising"], i)
		lists["falling"] = append(lists["falling"], -i)
		lists["hills"] = append(lists["hills"], i%17*(i%5))
	}
	return lists
}

func TestTheLargestAreThoseThatSortingPutsLast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 10, 257, 1000} {
		for name, list := range timesFor(r, n) {
			sorted := slices.Sorted(slices.Values(list))
			for _, k := range []int{1, 1 + n/100, 1 + n/2, n} {
				got := largest(list, k)
				front := slices.Sorted(slices.Values(list[:k]))
				if got != sorted[n-k] || !slices.Equal(front, sorted[n-k:]) {
					t.Errorf("%s: the %d largest of %d end at %d, want %d", name, k, n, got, sorted[n-k])
				}
			}
		}
	}
}

func TestThePNinetyNineOfAHopCountsTracesWithoutIt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, list := range timesFor(r, 3000) {
		tops := newTops(2, 20_000) // the 201st largest
		for i, ns := range list {
			tops[i%2].add(ns)
		}
		tops[0].merge(&tops[1])
		if want := slices.Sorted(slices.Values(list))[3000-201]; tops[0].p99() != want {
			t.Errorf("%s: %d, want %d", name, tops[0].p99(), want)
		}
	}
	few := newTops(1, 20_000)
	for range 200 {
		few[0].add(5)
	}
	if got := few[0].p99(); got != 0 {
		t.Errorf("of 200 times: %d", got)
	}
}
