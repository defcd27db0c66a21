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

// table numbers hops, parts and the names of places. Hops of traces are translated
// by their index, so that a span costs no look-up by name.
type table struct {
	index     spans.HopIndex
	parts     []part
	names     []string // of hosts and instances; the first is none
	partIndex map[part]int32
	nameIndex map[string]int32

	recent           []int32 // by hop: the part as which it was last seen, + 1
	hosts, instances theirNames
}

func newTable() *table {
	t := &table{parts: []part{{gap, place{}}}, names: []string{""}, partIndex: map[part]int32{}, nameIndex: map[string]int32{"": 0}}
	t.index.Reserve(spans.Hop{Name: gapName})
	return t
}

// hops returns all hops by their numbers.
func (t *table) hops() []spans.Hop { return t.index.Hops() }

// part returns the number of a hop at a place.
func (t *table) part(hop int32, at place) int32 {
	p := part{hop, at}
	i, ok := t.partIndex[p]
	if !ok {
		i = int32(len(t.parts))
		t.partIndex[p] = i
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

func (t *table) compareHops(a, b int32) int { return t.hops()[a].Compare(t.hops()[b]) }

func (t *table) hopAt(hops []spans.Hop, i int32) int32 { return t.index.Translate(hops, i) }

// partAt returns the part of a hop at a place.
func (t *table) partAt(hop int32, at place) int32 {
	for int(hop) >= len(t.recent) {
		t.recent = append(t.recent, 0)
	}
	k := &t.recent[hop]
	if *k == 0 || t.parts[*k-1].place != at {
		*k = t.part(hop, at) + 1
	}
	return *k - 1
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
		parts[i] = t.part(hops[p.hop], p.renumbered(names))
	}
	return hops, parts
}

// place is where an attempt ran, as numbers of names, 0 where the source does not
// say. One place often has two names: the host of a server's process is the address
// that its callers name.
type place struct {
	process int32 // the host of the process: of a call, of the server that took it; less than 0: of its caller, as nothing else is known
	named   int32 // what the attempt itself names: its peer, or a log's instance
}

// renumbered is the same place where names have other numbers.
func (p place) renumbered(names []int32) place {
	if p.process < 0 {
		return place{-names[-p.process], names[p.named]}
	}
	return place{names[p.process], names[p.named]}
}

// theirNames translates the names of a trace or a batch.
type theirNames struct {
	first *string
	list  []int32
}

// follow translates a list, of which the names are known that it had when it was
// last seen.
func (n *theirNames) follow(t *table, names []string) {
	var first *string
	if len(names) > 0 {
		first = &names[0]
	}
	if n.first != first {
		n.first, n.list = first, n.list[:0]
	}
	for len(n.list) < len(names) {
		n.list = append(n.list, t.name(names[len(n.list)]))
	}
}

// at returns the number of a name, none where the source has no names.
func (n *theirNames) at(i int32) int32 {
	if len(n.list) == 0 {
		return 0
	}
	return n.list[i]
}

// name returns the number of a name; see crowded.
func (t *table) name(name string) int32 {
	i, ok := t.nameIndex[name]
	if !ok && !t.crowded() {
		i = int32(len(t.names))
		t.nameIndex[name] = i
		t.names = append(t.names, name)
	}
	return i
}

// crowded reports whether there are more names than instances can have. All of a
// source are entered, used or not, so that it does not depend on who saw which.
func (t *table) crowded() bool { return len(t.names)-1 > spans.MostInstances }

// placeOf says where a span ran. A call is taken for an attempt at its server's.
func (t *table) placeOf(trace *spans.Trace, i int32) place {
	s := &trace.Spans[i]
	own, named := t.hosts.at(s.Host), t.instances.at(s.Instance)
	if k := trace.Hops[s.Hop].Kind; k != spans.Client && k != spans.Producer {
		return place{process: own, named: named}
	}
	server := t.serverOf(trace, i)
	if server == 0 && named == 0 {
		return place{process: -own}
	}
	return place{process: server, named: named}
}

// serverOf returns the host of the first server that took a call, 0 if none is
// known.
func (t *table) serverOf(trace *spans.Trace, call int32) int32 {
	for _, c := range trace.Children(call) {
		s := &trace.Spans[c]
		if trace.Hops[s.Hop].Kind == spans.Server {
			if host := t.hosts.at(s.Host); host != 0 {
				return host
			}
		}
	}
	return 0
}
