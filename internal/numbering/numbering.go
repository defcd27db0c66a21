// Package numbering gives values dense numbers in little memory.
package numbering

import "hash/maphash"

// List numbers distinct values from 0 on, in the order in which they are added. It takes
// some eight bytes a value besides the value itself, where a map takes more than twice
// the value. The zero value is empty. Not safe for concurrent use.
type List[K comparable] struct {
	values []K
	slots  []int32 // numbers + 1 by hash, 0 for none; a power of two
	used   int
	seed   maphash.Seed
}

// Values returns the values by their numbers. The list is the List's own.
func (l *List[K]) Values() []K { return l.values }

// Find returns the number of a value, and whether it has one.
func (l *List[K]) Find(k K) (int32, bool) {
	if len(l.slots) == 0 {
		return 0, false
	}
	at := l.slots[l.slot(k)]
	return at - 1, at > 0
}

// Add gives a value that has none the next number.
func (l *List[K]) Add(k K) int32 {
	if 4*(l.used+1) > 3*len(l.slots) {
		l.grow()
	}
	n := l.Append(k)
	l.slots[l.slot(k)] = n + 1
	l.used++
	return n
}

// Append gives a value the next number, by which Find does not find it.
func (l *List[K]) Append(k K) int32 {
	l.values = append(l.values, k)
	return int32(len(l.values) - 1)
}

// slot returns where the number of a value stands, or would.
func (l *List[K]) slot(k K) int {
	i := int(maphash.Comparable(l.seed, k)) & (len(l.slots) - 1)
	for l.slots[i] > 0 && l.values[l.slots[i]-1] != k {
		i = (i + 1) & (len(l.slots) - 1)
	}
	return i
}

func (l *List[K]) grow() {
	if l.slots == nil {
		l.seed = maphash.MakeSeed()
	}
	old := l.slots
	l.slots = make([]int32, max(8, 2*len(old)))
	for _, n := range old {
		if n > 0 {
			l.slots[l.slot(l.values[n-1])] = n
		}
	}
}
