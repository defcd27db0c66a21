package timeouts

import "github.com/tailscope/tailscope/callgraph"

// allocate hands the entry budget down the calls of the entry with most requests:
// each may take what its caller has left when all others take what they need.
func (a *adviser) allocate() {
	main := a.mainEntry()
	if a.EntryBudget == 0 || main == nil {
		return
	}
	d := handDown{adviser: a, grants: map[key]int{}, on: map[key]bool{}}
	d.out.Budget = a.EntryBudget
	n := a.nodes[key{main.Entry, main.Kind}]
	d.node(n, a.EntryBudget)
	d.out.Infeasible = a.shortage(n, a.EntryBudget)
	a.result.Allocation = &d.out
}

// handDown is an allocation under way.
type handDown struct {
	*adviser
	out    Allocation
	grants map[key]int // places in out.Grants
	on     map[key]bool
}

// node shares a time out over the calls of a node.
func (d *handDown) node(n *callgraph.Node, has int64) {
	k := keyOf(n.Hop)
	if d.on[k] {
		return
	}
	d.on[k] = true
	defer delete(d.on, k)
	left := has - d.entryOwn(k, n).ns
	all := d.below(n).need.ns
	for _, group := range n.Groups {
		others := all - d.groupNeed(n, group)
		for _, i := range group {
			if c := &n.Calls[i]; !d.without[pair{k, keyOf(c.Hop)}] {
				d.call(c, max(0, left-others))
			}
		}
	}
}

func (d *handDown) groupNeed(n *callgraph.Node, group []int) int64 {
	return d.below(&callgraph.Node{Hop: n.Hop, Calls: n.Calls, Groups: [][]int{group}}).need.ns
}

// call grants a time to the calls of one hop: a single attempt may take what is
// left of its share when all retries and the waits between them are taken off.
func (d *handDown) call(c *callgraph.Call, limit int64) {
	k := keyOf(c.Hop)
	g, inRow := d.grantOf(k), uint64(c.InRow(d.Target))
	one := limit / int64(inRow)
	perTry := max(0, one-d.backoffs(k, g.tries)) / int64(g.tries+1)
	out := Grant{Hop: k.name, Kind: k.kind, Limit: limit, PerTry: perTry, Tries: g.tries, InRow: inRow}
	if need := d.inRow(c, g.need); need.known() != nil {
		out.Needs = need.known()
	}
	if n := d.nodes[k]; d.keep(k, out) && d.inner(k) {
		d.node(n, max(perTry, min(one, g.need.ns)))
	}
}

// keep enters a grant; of several for one hop the smallest counts. It reports
// whether this one does.
func (d *handDown) keep(k key, g Grant) bool {
	at, known := d.grants[k]
	switch {
	case !known:
		d.grants[k] = len(d.out.Grants)
		d.out.Grants = append(d.out.Grants, g)
	case g.PerTry < d.out.Grants[at].PerTry:
		d.out.Grants[at] = g
	default:
		return false
	}
	return true
}

// shortage returns the hop of which a single need is the largest where all together
// need more than there is, with what is left for that need beside the others; nil
// where one chance for each call fits.
func (a *adviser) shortage(n *callgraph.Node, has int64) *Shortage {
	own := a.entryOwn(keyOf(n.Hop), n).ns
	all := plus(own, a.below(n).need.ns)
	if all <= has {
		return nil
	}
	l := largest{adviser: a, on: map[key]bool{}, k: keyOf(n.Hop), ns: own}
	l.under(n)
	return &Shortage{l.k.name, l.k.kind, l.ns, max(0, has-(all-l.ns))}
}

// largest is the largest need on the way down the longest calls.
type largest struct {
	*adviser
	on map[key]bool
	k  key
	ns int64
}

func (l *largest) under(n *callgraph.Node) {
	for _, group := range n.Groups {
		c := l.longestCall(n, group)
		if c == nil || l.on[keyOf(c.Hop)] {
			continue
		}
		k, inRow := keyOf(c.Hop), uint64(c.InRow(l.Target))
		l.on[k] = true
		if !l.inner(k) {
			l.consider(k, times(inRow, l.grantOf(k).need.ns))
			continue
		}
		l.consider(k, times(inRow, l.grantOf(k).own.ns))
		l.under(l.nodes[k])
	}
}

func (l *largest) consider(k key, ns int64) {
	if ns > l.ns {
		l.k, l.ns = k, ns
	}
}

// longestCall is the call of a group that needs most, nil where none counts.
func (a *adviser) longestCall(n *callgraph.Node, group []int) (most *callgraph.Call) {
	best := int64(-1)
	for _, i := range group {
		c := &n.Calls[i]
		if a.without[pair{keyOf(n.Hop), keyOf(c.Hop)}] {
			continue
		}
		if ns := a.inRow(c, a.grantOf(keyOf(c.Hop)).need).ns; ns > best {
			most, best = c, ns
		}
	}
	return most
}
