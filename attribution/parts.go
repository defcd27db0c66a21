package attribution

import "github.com/tailscope/tailscope/spans"

// gapName stands for the time between attempts that belongs to no hop.
const gapName = "(gap)"

// gap is the part of such time, and the hop: the first of each table.
const gap = int32(0)

// part is a hop on a host: what a moment is given to. The host is "" where the
// source names none.
type part struct {
	hop  int32
	host string
}

// table numbers hops and parts. Hops of traces are translated by their index, so
// that a span costs no look-up by name.
type table struct {
	hops      []spans.Hop
	parts     []part
	hopIndex  map[spans.Hop]int32
	partIndex map[part]int32
	ownParts  []int32 // of hops on the host "", one more than the index

	theirs     *spans.Hop // first of the hops that the translation is of
	theirHosts *string    // and of the hosts
	known      []recent
}

// recent is the translation of a hop, and the part it was last seen as.
type recent struct {
	hop, host, part int32 // each one more than the index
}

func newTable() table {
	return table{
		hops: []spans.Hop{{Name: gapName}}, parts: []part{{gap, ""}},
		hopIndex: map[spans.Hop]int32{}, partIndex: map[part]int32{},
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

// part returns the number of a hop on a host.
func (t *table) part(hop int32, host string) int32 {
	p := part{hop, host}
	i, ok := t.partIndex[p]
	if !ok {
		i = int32(len(t.parts))
		t.partIndex[p] = i
		t.parts = append(t.parts, p)
	}
	return i
}

// ownPart is part for a hop of a log, which names no host.
func (t *table) ownPart(hop int32) int32 {
	for len(t.ownParts) <= int(hop) {
		t.ownParts = append(t.ownParts, 0)
	}
	p := &t.ownParts[hop]
	if *p == 0 {
		*p = t.part(hop, "") + 1
	}
	return *p - 1
}

// use makes hopAt and partAt translate the hops and hosts of a trace, or the hops
// of a batch. A list only grows while it is the same one.
func (t *table) use(hops []spans.Hop, hosts []string) {
	if len(hops) > 0 && t.theirs != &hops[0] || len(hosts) > 0 && t.theirHosts != &hosts[0] {
		t.known = t.known[:0]
	}
	if len(hops) > 0 {
		t.theirs = &hops[0]
	}
	if len(hosts) > 0 {
		t.theirHosts = &hosts[0]
	}
	for len(t.known) < len(hops) {
		t.known = append(t.known, recent{})
	}
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

// partAt returns the part of a hop on one of the hosts.
func (t *table) partAt(hops []spans.Hop, hosts []string, hop, host int32) int32 {
	k := &t.known[hop]
	if k.part > 0 && k.host == host+1 {
		return k.part - 1
	}
	name := ""
	if int(host) < len(hosts) {
		name = hosts[host]
	}
	k.host, k.part = host+1, t.part(t.hopAt(hops, hop), name)+1
	return k.part - 1
}

// learn returns where the hops and the parts of another table stand in this one.
func (t *table) learn(o *table) (hops, parts []int32) {
	hops, parts = t.hopsOf(o.hops), make([]int32, len(o.parts))
	for i := 1; i < len(o.parts); i++ {
		parts[i] = t.part(hops[o.parts[i].hop], o.parts[i].host)
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
