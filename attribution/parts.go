package attribution

import "github.com/tailscope/tailscope/spans"

// gapName stands for the time between attempts that belongs to no hop.
const gapName = "(gap)"

// gap is the part of such time, and the hop: the first of each table.
const gap = int32(0)

// part is a hop at a place: what a moment is given to.
type part struct {
	hop int32
	place
}

// key is the part as one number, which takes less to look up: names and hops are
// few enough for that.
func (p part) key() uint64 {
	key := (uint64(p.hop)<<nameBits|uint64(p.process))<<nameBits | uint64(p.told)
	if p.caller {
		return key<<1 | 1
	}
	return key << 1
}

// nameBits hold the number of a name; the next line fails to compile if they do not.
const nameBits = 17

const _ = uint(1<<nameBits - 1 - (spans.MostInstances + 1))

// table numbers hops, parts and the names of places. Hops of traces are translated
// by their index, so that a span costs no look-up by name.
type table struct {
	hops      []spans.Hop
	parts     []part
	names     []string // of hosts and instances; the first is none
	hopIndex  map[spans.Hop]int32
	partIndex map[uint64]int32 // by part.key
	nameIndex map[string]int32

	theirs           *spans.Hop // first of the hops that the translation is of
	known            []recent
	hosts, instances theirNames
}

// recent is the translation of a hop, and the part it was last seen as.
type recent struct {
	hop, part int32 // each one more than the index
	place     place // of part
}

func newTable() table {
	return table{
		hops: []spans.Hop{{Name: gapName}}, parts: []part{{gap, place{}}}, names: []string{""},
		hopIndex: map[spans.Hop]int32{}, partIndex: map[uint64]int32{}, nameIndex: map[string]int32{"": 0},
	}
}

// hop returns the number of a hop.
func (t *table) hop(h spans.Hop) int32 {
	i, ok := t.hopIndex[h]
	if !ok {
		i = int32(len(t.hops))
		t.hopIndex[h] = i
		t.hops = append(t.hops, h)
	}
	return i
}

// part returns the number of a hop at a place.
func (t *table) part(hop int32, at place) int32 {
	p := part{hop, at}
	key := p.key()
	i, ok := t.partIndex[key]
	if !ok {
		i = int32(len(t.parts))
		t.partIndex[key] = i
		t.parts = append(t.parts, p)
	}
	return i
}

// use makes hopAt and partAt translate the hops of a trace or of a batch, and its
// hosts and instances. A list only grows while it is the same one.
func (t *table) use(hops []spans.Hop, hosts, instances []string) {
	if len(hops) > 0 && t.theirs != &hops[0] {
		t.theirs, t.known = &hops[0], t.known[:0]
	}
	for len(t.known) < len(hops) {
		t.known = append(t.known, recent{})
	}
	t.hosts.follow(t, hosts)
	t.instances.follow(t, instances)
}

// meet enters the hops of a trace, so that those are known too that have no time
// on a path.
func (t *table) meet(trace *spans.Trace) {
	for i := range trace.Spans {
		t.hopAt(trace.Hops, trace.Spans[i].Hop)
	}
}

func (t *table) hopAt(hops []spans.Hop, i int32) int32 {
	k := &t.known[i]
	if k.hop == 0 {
		k.hop = t.hop(hops[i]) + 1
	}
	return k.hop - 1
}

// partAt returns the part of a hop at a place.
func (t *table) partAt(hops []spans.Hop, hop int32, at place) int32 {
	k := &t.known[hop]
	if k.part == 0 || k.place != at {
		k.place, k.part = at, t.part(t.hopAt(hops, hop), at)+1
	}
	return k.part - 1
}

// learn returns where the hops and the parts of another table stand in this one.
func (t *table) learn(o *table) (hops, parts []int32) {
	hops, parts = t.hopsOf(o.hops), make([]int32, len(o.parts))
	names := make([]int32, len(o.names))
	for i, name := range o.names {
		names[i] = t.name(name)
	}
	for i := 1; i < len(o.parts); i++ {
		p := o.parts[i]
		parts[i] = t.part(hops[p.hop], place{names[p.process], names[p.told], p.caller})
	}
	return hops, parts
}

// hopsOf returns the numbers of the hops of another table; its first is the gap.
func (t *table) hopsOf(hops []spans.Hop) []int32 {
	list := make([]int32, len(hops))
	for i := 1; i < len(hops); i++ {
		list[i] = t.hop(hops[i])
	}
	return list
}
