package timeouts

import (
	"slices"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
)

// allocate hands the entry budget down the calls of the entry with most requests:
// each may take what its caller has left when all others take what they need.
func (a *adviser) allocate() {
	main := a.mainEntry()
	if a.EntryBudget == 0 || main < 0 {
		return
	}
	entry := a.entries[main]
	n := a.nodes[entry]
	d := handDown{adviser: a, grants: map[key]granted{}, seen: map[key]bool{}}
	d.visit(entry)
	slices.Reverse(d.order)
	d.node(n, &a.EntryBudget)
	out := &Allocation{Budget: a.EntryBudget, Infeasible: a.shortage(n, a.EntryBudget)}
	for _, k := range d.order[1:] {
		g := d.grants[k]
		out.Grants = append(out.Grants, g.Grant)
		if d.inner(k) {
			d.node(d.nodes[k], g.within)
		}
	}
	a.result.Allocation = out
}

// handDown is an allocation under way: callers come before what they call, so that
// each is looked at once, with the least that one of them grants it.
type handDown struct {
	*adviser
	grants map[key]granted
	seen   map[key]bool
	order  []key
}

// granted is a grant, and what the calls inside one attempt have of it.
type granted struct {
	Grant
	within *int64
}

// visit puts a hop into order behind all that it calls, the last of these first.
func (d *handDown) visit(k key) {
	d.seen[k] = true
	if d.inner(k) {
		n := d.nodes[k]
		for _, group := range slices.Backward(n.Groups) {
			for _, i := range slices.Backward(group) {
				if to := keyOf(n.Calls[i].Hop); !d.seen[to] && !d.without[pair{k, to}] {
					d.visit(to)
				}
			}
		}
	}
	d.order = append(d.order, k)
}

// node shares a time out over the calls of a node, nil where it is not known.
func (d *handDown) node(n *callgraph.Node, has *int64) {
	k := keyOf(n.Hop)
	fixed, all := d.fixed(k, n), d.below(n).need
	for at, group := range n.Groups {
		limit := has
		if limit != nil {
			limit = d.left(*has, fixed.and(d.others(n, at, all)))
		}
		for _, i := range group {
			if c := &n.Calls[i]; !d.without[pair{k, keyOf(c.Hop)}] {
				d.call(c, limit)
			}
		}
	}
}

// left is what is left of a time when something is taken off, nil where that is not
// known.
func (d *handDown) left(has int64, off amount) *int64 {
	ns := off.known()
	if ns == nil {
		return nil
	}
	left := max(0, has-*ns)
	return &left
}

// others is what the groups of a node need without one of them, of all that they
// need.
func (d *handDown) others(n *callgraph.Node, group int, all amount) amount {
	if all.known() != nil {
		all.ns -= d.groupNeed(n, group).ns
		return all
	}
	groups := slices.Delete(slices.Clone(n.Groups), group, group+1)
	return d.below(&callgraph.Node{Hop: n.Hop, Calls: n.Calls, Groups: groups, Makers: n.Makers}).need
}

func (d *handDown) groupNeed(n *callgraph.Node, group int) amount {
	return d.below(&callgraph.Node{Hop: n.Hop, Calls: n.Calls, Groups: n.Groups[group : group+1], Makers: n.Makers}).need
}

// fixed is what a node takes beside what it grants.
func (a *adviser) fixed(k key, n *callgraph.Node) amount {
	own := a.entryOwn(k, n)
	return own.and(a.restOf(k, n, own, a.below(n)))
}

// call grants a time to the calls of one hop: a single attempt may take what is
// left of its share when all retries and the waits between them are taken off.
func (d *handDown) call(c *callgraph.Call, limit *int64) {
	k := keyOf(c.Hop)
	g, inRow := d.grantOf(k), uint64(c.InRow(d.Target))
	out := Grant{Hop: k.name, Kind: k.kind, Needs: d.inRow(c, g.need).known(), Limit: limit, Tries: g.tries, InRow: inRow}
	to := granted{Grant: out}
	if limit != nil {
		one := *limit / int64(inRow)
		perTry := max(0, one-d.backoffs(k, g.tries)) / int64(g.tries+1)
		within := max(perTry, min(one, g.need.ns))
		to.PerTry, to.within = &perTry, &within
	}
	d.keep(k, to)
}

// keep enters a grant; of several for one hop the smallest counts, and one that is
// not known before all.
func (d *handDown) keep(k key, g granted) {
	known, is := d.grants[k]
	if !is || known.PerTry != nil && (g.PerTry == nil || *g.PerTry < *known.PerTry) {
		d.grants[k] = g
	}
}

// shortage returns the hop of which a single need is the largest where all together
// need more than there is, with what is left for that need beside the others; nil
// where one chance for each call fits, and where their needs are not known.
func (a *adviser) shortage(n *callgraph.Node, has int64) *Shortage {
	own := a.fixed(keyOf(n.Hop), n)
	all := own.and(a.below(n).need).known()
	if all == nil || *all <= has {
		return nil
	}
	l := largest{adviser: a, on: map[key]bool{}, k: keyOf(n.Hop), ns: own.ns}
	l.under(n)
	return &Shortage{l.k.name, l.k.kind, l.ns, max(0, has-(*all-l.ns))}
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
		l.consider(k, times(inRow, durations.Sum(l.grantOf(k).own.ns, l.grantOf(k).rest.ns)))
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
