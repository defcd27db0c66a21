package nesting

import (
	"math/bits"
	"slices"
)

// twiceMedian is the sum of the two in the middle of a list, whose order it changes.
func twiceMedian(list []int64) int64 {
	n := len(list)
	low := nth(list, (n-1)/2)
	if n%2 == 1 {
		return 2 * low
	}
	return low + slices.Min(list[n/2:])
}

// nth returns the k-th smallest of a list, from 0 on, and puts none that is smaller behind
// it and none that is larger before it: Hoare's selection, by the median of three. A list
// made to defeat that is sorted.
func nth(list []int64, k int) int64 {
	from, to := 0, len(list) // where it is
	for rounds := 2 * bits.Len(uint(len(list))); to-from > 16 && rounds > 0; rounds-- {
		pivot := middleOf(list[from], list[(from+to)/2], list[to-1])
		i, j := from, to-1
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			to = j + 1
		case k >= i:
			from = i
		default:
			return list[k]
		}
	}
	slices.Sort(list[from:to])
	return list[k]
}

func middleOf(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }
