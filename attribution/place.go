package attribution

import "github.com/tailscope/tailscope/spans"

// place is where an attempt ran, as numbers of names, 0 where the source does not
// say. One place often has two names: the host of a server's process is the address
// that its callers name.
type place struct {
	process int32 // the host of the process: of a call, of the server that took it
	named   int32 // what the attempt itself names: its peer, or a log's instance
	caller  bool  // process is that of the caller, as nothing else is known of a call
}

// theirNames translates the names of a trace or a batch.
type theirNames struct {
	first *string
	list  []int32
}

// follow translates a list, of which the names are known that it had when it was
// last seen.
func (n *theirNames) follow(t *table, names []string) {
	if len(names) == 0 || n.first != &names[0] {
		n.first, n.list = nil, n.list[:0]
	}
	if len(names) == 0 {
		return
	}
	n.first = &names[0]
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
		return place{process: own, caller: own != 0}
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
