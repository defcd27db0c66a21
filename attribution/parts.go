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
	key := (uint64(p.hop)<<nameBits|uint64(p.process))<<nameBits | uint64(p.named)
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
	index     spans.HopIndex
	parts     []part
	names     []string         // of hosts and instances; the first is none
	partIndex map[uint64]int32 // by part.key
	nameIndex map[string]int32

	recent           []recent // by hop
	hosts, instances theirNames
}

// recent is the part as which a hop was last seen.
type recent struct {
	part  int32 // one more than the index
	place place // of part
}

func newTable() table {
	t := table{parts: []part{{gap, place{}}}, names: []string{""}, partIndex: map[uint64]int32{}, nameIndex: map[string]int32{"": 0}}
	t.index.Reserve(spans.Hop{Name: gapName})
	return t
}

// hops returns all hops by their numbers.
func (t *table) hops() []spans.Hop { return t.index.Hops() }

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

// use makes partAt know the hosts and instances of a trace or of a batch. A list
// only grows while it is the same one.
func (t *table) use(hosts, instances []string) {
	t.hosts.follow(t, hosts)
	t.instances.follow(t, instances)
}

// registerHops enters the hops of a trace, so that those are known too that have no time
// on a path.
func (t *table) registerHops(trace *spans.Trace) {
	for i := range trace.Spans {
		t.hopAt(trace.Hops, trace.Spans[i].Hop)
	}
}

func (t *table) hopAt(hops []spans.Hop, i int32) int32 { return t.index.Translate(hops, i) }

// partAt returns the part of a hop at a place.
func (t *table) partAt(hop int32, at place) int32 {
	for int(hop) >= len(t.recent) {
		t.recent = append(t.recent, recent{})
	}
	k := &t.recent[hop]
	if k.part == 0 || k.place != at {
		k.place, k.part = at, t.part(hop, at)+1
	}
	return k.part - 1
}

// merge returns where the hops and the parts of another table stand in this one.
func (t *table) merge(o *table) (hops, parts []int32) {
	hops, parts = t.index.Merge(&o.index), make([]int32, len(o.parts))
	names := make([]int32, len(o.names))
	for i, name := range o.names {
		names[i] = t.name(name)
	}
	for i := 1; i < len(o.parts); i++ {
		p := o.parts[i]
		parts[i] = t.part(hops[p.hop], place{names[p.process], names[p.named], p.caller})
	}
	return hops, parts
}
