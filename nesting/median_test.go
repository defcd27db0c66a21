package nesting

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNthIsThatOfTheSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.Int64Range(-3, 3)
		list := rapid.SliceOfN(rapid.OneOf(few, rapid.Int64()), 1, 300).Draw(t, "list")
		sorted := slices.Sorted(slices.Values(list))
		k := rapid.IntRange(0, len(list)-1).Draw(t, "k")
		if got := nth(list, k); got != sorted[k] {
			t.Fatalf("%d, want %d", got, sorted[k])
		}
		if slices.Max(list[:k+1]) != sorted[k] || slices.Min(list[k:]) != sorted[k] {
			t.Fatalf("%v is not parted at %d", list, k)
		}
		if slices.Sort(list); !slices.Equal(list, sorted) {
			t.Fatal("other values")
		}
	})
}

func TestTwiceTheMedian(t *testing.T) {
	for _, c := range []struct {
		list []int64
		want int64
	}{{[]int64{7}, 14}, {[]int64{9, 4}, 13}, {[]int64{3, 1, 2}, 4}, {[]int64{4, 1, 3, 2}, 5}, {[]int64{5, 5, 5, 1}, 10}} {
		if got := twiceMedian(slices.Clone(c.list)); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
	}
	// Rising, falling, alternating and peaked lists, as long as make the selection work.
	for n := range 200 {
		for name, of := range map[string]func(i int) int64{
			"rising": func(i int) int64 { return int64(i) }, "falling": func(i int) int64 { return int64(-i) },
			"alternating": func(i int) int64 { return int64(i % 2) }, "peaked": func(i int) int64 { return int64(min(i, n-i)) },
		} {
			var list []int64
			for i := range n + 1 {
				list = append(list, of(i))
			}
			sorted := slices.Sorted(slices.Values(list))
			if got, want := twiceMedian(list), sorted[n/2]+sorted[(n+1)/2]; got != want {
				t.Errorf("%s, %d: %d, want %d", name, n+1, got, want)
			}
		}
	}
}
