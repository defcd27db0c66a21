package timeouts

import (
	"slices"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// allocate hands the entry budget down the calls of the entry with most requests:
// each may take what its caller has left when all others take what they need.
func (a *adviser) allocate() {
	if a.EntryBudget == 0 || len(a.result.Entries) == 0 {
		return
	}
	entry := a.result.Total.Entry
	n := a.nodes[entry]
	d := handDown{adviser: a, grants: map[spans.Hop]granted{}, seen: map[spans.Hop]bool{}}
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
	grants map[spans.Hop]granted
	seen   map[spans.Hop]bool
	order  []spans.Hop
}

// granted is a grant, and what the calls inside one attempt have of it.
type granted struct {
	Grant
	within *int64
}

// visit puts a hop into order behind all that it calls, the last of these first.
func (d *handDown) visit(k spans.Hop) {
	d.seen[k] = true
	if d.inner(k) {
		n := d.nodes[k]
		for _, group := range slices.Backward(n.Groups) {
			for _, i := range slices.Backward(group) {
				if c := &n.Calls[i]; !d.seen[c.Hop] && d.counts(n, c) {
					d.visit(c.Hop)
				}
			}
		}
	}
	d.order = append(d.order, k)
}

// node shares a time out over the calls of a node, nil where it is not known.
func (d *handDown) node(n *callgraph.Node, has *int64) {
	fixed, of := d.fixed(n)
	all := of(d.below(n))
	for at, group := range n.Groups {
		limit := has
		if limit != nil {
			limit = d.left(*has, fixed.and(d.others(n, at, all, of)))
		}
		for _, c := range d.inGroup(n, group) {
			d.call(c, limit)
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
	return new(max(0, has-*ns))
}

// others is what the groups of a node take without one of them, of all that they take.
func (d *handDown) others(n *callgraph.Node, group int, all amount, of func(sum) amount) amount {
	if all.known() != nil {
		all.ns -= of(d.belowIn(n, n.Groups[group:group+1])).ns
		return all
	}
	return of(d.belowIn(n, slices.Delete(slices.Clone(n.Groups), group, group+1)))
}

// fixed is what a node takes beside its calls, and which figure says what these take: what
// they take at most, where the node itself was measured; else what they need.
func (a *adviser) fixed(n *callgraph.Node) (amount, func(sum) amount) {
	below := a.below(n)
	if t := a.timeOf(n, below); a.measured(n) && t.path().known() != nil {
		return t.own.and(t.beyond), func(s sum) amount { return s.bound }
	}
	own := a.entryOwn(n)
	return own.and(a.restOf(n, own, below)), func(s sum) amount { return s.need }
}

// call grants a time to the calls of one hop: a single attempt may take what is
// left of its share when all retries and the waits between them are taken off.
func (d *handDown) call(c *callgraph.Call, limit *int64) {
	k := c.Hop
	g, inRow := d.grantOf(k), uint64(c.InRow(d.Target))
	out := Grant{Hop: k, Needs: d.inRow(c, g.need).known(), Limit: limit, Tries: g.tries, InRow: inRow}
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
func (d *handDown) keep(k spans.Hop, g granted) {
	known, is := d.grants[k]
	if !is || known.PerTry != nil && (g.PerTry == nil || *g.PerTry < *known.PerTry) {
		d.grants[k] = g
	}
}

// shortage returns the hop of which a single need is the largest where all together
// need more than there is, with what is left for that need beside the others; nil
// where one chance for each call fits, and where their needs are not known.
func (a *adviser) shortage(n *callgraph.Node, has int64) *Shortage {
	own, of := a.fixed(n)
	all := own.and(of(a.below(n))).known()
	if a.measured(n) {
		all = a.given(a.timeOf(n, a.below(n)), 0).known()
	}
	if all == nil || *all <= has {
		return nil
	}
	l := largest{adviser: a, seen: map[spans.Hop]bool{}, hop: n.Hop, ns: own.ns}
	l.under(n)
	return &Shortage{l.hop, l.ns, max(0, has-(*all-l.ns))}
}

// largest is the largest need on the way down the longest calls.
type largest struct {
	*adviser
	seen map[spans.Hop]bool
	hop  spans.Hop
	ns   int64
}

func (l *largest) under(n *callgraph.Node) {
	for _, group := range n.Groups {
		c := l.longestCall(n, group)
		if c == nil || l.seen[c.Hop] {
			continue
		}
		l.seen[c.Hop] = true
		g, inner := l.grantOf(c.Hop), l.inner(c.Hop)
		need := g.need.ns
		if inner {
			need = durations.Sum(g.own.ns, g.rest.ns)
		}
		if ns := times(uint64(c.InRow(l.Target)), need); ns > l.ns {
			l.hop, l.ns = c.Hop, ns
		}
		if inner {
			l.under(l.nodes[c.Hop])
		}
	}
}

// longestCall is the call of a group that needs most, nil where none counts.
func (a *adviser) longestCall(n *callgraph.Node, group []int) (most *callgraph.Call) {
	best := int64(-1)
	for _, c := range a.inGroup(n, group) {
		if ns := a.inRow(c, a.grantOf(c.Hop).need).ns; ns > best {
			most, best = c, ns
		}
	}
	return most
}
