package attribution

// times adds up times in ns by the numbers of hops, parts or instances, in the same
// room for each trace.
type times struct {
	ns   []int64
	on   []bool  // it is in used
	used []int32 // the numbers that have been added to
}

func (t *times) add(i int32, ns int64) {
	for int(i) >= len(t.ns) {
		t.ns, t.on = append(t.ns, 0), append(t.on, false)
	}
	if !t.on[i] {
		t.on[i] = true
		t.used = append(t.used, i)
	}
	t.ns[i] += ns
}

func (t *times) clear() {
	for _, i := range t.used {
		t.ns[i], t.on[i] = 0, false
	}
	t.used = t.used[:0]
}

// largest returns the number that has most, of equal ones the first; -1 where none
// has any.
func (t *times) largest(compare func(a, b int32) int) int32 {
	best := int32(-1)
	for _, i := range t.used {
		if t.ns[i] > 0 && (best < 0 || t.ns[i] > t.ns[best] || t.ns[i] == t.ns[best] && compare(i, best) < 0) {
			best = i
		}
	}
	return best
}
