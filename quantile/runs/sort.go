package runs

import "slices"

// fewToSort values are sorted faster by comparing them.
const fewToSort = 256

// SortDurations sorts values that are not negative. Most of what a value in
// nanoseconds costs is to be sorted, so it is done byte by byte, the lowest
// first, as many of them as the largest value has.
func SortDurations(values []int64) {
	if n := len(values); n < fewToSort || n > maxPending {
		slices.Sort(values)
		return
	}
	var room [maxPending]int64
	from, to := values, room[:len(values)]
	bits := int64(0)
	for _, v := range values {
		bits |= v
	}
	passes := 0
	for ; bits>>(8*passes) != 0; passes++ {
		sortByByte(to, from, 8*passes)
		from, to = to, from
	}
	if passes%2 == 1 {
		copy(values, from)
	}
}

// sortByByte puts the values into to in the order of one byte of theirs; equal
// ones keep theirs.
func sortByByte(to, from []int64, shift int) {
	var next [256]int
	for _, v := range from {
		next[uint8(v>>shift)]++
	}
	at := 0
	for i, n := range next {
		next[i] = at
		at += n
	}
	for _, v := range from {
		i := &next[uint8(v>>shift)]
		to[*i] = v
		*i++
	}
}
