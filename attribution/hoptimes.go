package attribution

// hopTimes adds up the times of one trace by hop, in the same room for each.
type hopTimes struct {
	table  *table
	perHop []int64
	on     []bool  // it is in hops
	hops   []int32 // that have been added to
}

// of adds the entries of a trip.
func (x *hopTimes) of(t *trip) {
	for len(x.perHop) < len(x.table.hops()) {
		x.perHop, x.on = append(x.perHop, 0), append(x.on, false)
	}
	for _, e := range t.entries {
		x.add(x.table.parts[e.part].hop, e.ns)
	}
}

func (x *hopTimes) add(hop int32, ns int64) {
	if !x.on[hop] {
		x.on[hop] = true
		x.hops = append(x.hops, hop)
	}
	x.perHop[hop] += ns
}

func (x *hopTimes) clear() {
	for _, hop := range x.hops {
		x.perHop[hop], x.on[hop] = 0, false
	}
	x.hops = x.hops[:0]
}

// largest returns the hop that has most, of equal ones the first by name; -1
// where none has any.
func (x *hopTimes) largest() int32 {
	best := int32(-1)
	for _, hop := range x.hops {
		if x.perHop[hop] > 0 && (best < 0 || x.larger(hop, best)) {
			best = hop
		}
	}
	return best
}

func (x *hopTimes) larger(a, b int32) bool {
	if x.perHop[a] != x.perHop[b] {
		return x.perHop[a] > x.perHop[b]
	}
	return x.table.hops()[a].Compare(x.table.hops()[b]) < 0
}
