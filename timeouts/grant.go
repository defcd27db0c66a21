package timeouts

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// amount is a time in ns that may rest on a canary or on nothing.
type amount struct {
	ns       int64
	evidence Evidence
	missing  bool // not even a canary says anything: ns is too short
}

// and is the sum of two amounts.
func (a amount) and(b amount) amount {
	return amount{durations.Sum(a.ns, b.ns), weaker(a.evidence, b.evidence), a.missing || b.missing}
}

// longest is the longer of two amounts, which stands on both.
func (a amount) longest(b amount) amount {
	return amount{max(a.ns, b.ns), weaker(a.evidence, b.evidence), a.missing || b.missing}
}

func weaker(a, b Evidence) Evidence {
	if rank[b] < rank[a] {
		return b
	}
	return a
}

// known returns the time where the evidence allows a timeout, and int64 holds it.
func (a amount) known() *int64 {
	if rank[a.evidence] < rank[Identified] || a.ns == math.MaxInt64 {
		return nil
	}
	return &a.ns
}

// grant is what a call is given.
type grant struct {
	hop    spans.Hop
	bound  amount // what an attempt takes at most, without headroom
	need   amount // one chance, without any retry
	perTry amount // an attempt, with the retries made inside it
	spare  int64  // retries, counted once a request: its own or those inside it
	tries  uint64 // retries that it makes itself
	inside bool   // something below it retries
	own    amount // its own work with headroom
	rest   amount // what its attempts took beyond own work and calls
	below  amount // what it grants
	busy   bool   // being worked out: it calls itself through others
}

// grantOf returns what a call is given, worked out once.
func (a *adviser) grantOf(k spans.Hop) *grant {
	if g := a.grants[k]; g != nil {
		if g.busy {
			g.need, g.bound = amount{evidence: None, missing: true}, amount{evidence: NotIdentified, missing: true}
			a.circle = append(a.circle, k.Name)
		}
		return g
	}
	g := &grant{hop: k, busy: true}
	a.grants[k] = g
	a.workOut(k, g)
	g.busy = false
	return g
}

func (a *adviser) workOut(k spans.Hop, g *grant) {
	g.tries = a.retriesOf(k)
	if n := a.nodes[k]; a.inner(k) {
		a.workOutInner(n, g)
	} else {
		g.bound, g.need = a.leafBound(k), a.leaf(k)
		g.perTry = g.need
	}
	if g.tries > 0 {
		g.spare = durations.Sum(times(g.tries, g.perTry.ns), a.backoffs(k, g.tries))
	}
}

// workOutInner gives a call that makes calls what its attempts take at most, with headroom;
// where that is not known, what its parts are given together.
func (a *adviser) workOutInner(n *callgraph.Node, g *grant) {
	g.own = a.ownOf(n)
	below := a.below(n)
	g.below, g.inside = below.need, below.spare > 0
	g.rest = a.restOf(n, g.own, below)
	fixed := g.own.and(g.rest)
	g.need = fixed.and(below.need).stepped()
	more := int64(0)
	if g.inside && g.tries == 0 {
		more = below.spare
		g.below.ns = durations.Sum(g.below.ns, more)
	}
	g.perTry = fixed.and(g.below).stepped()
	t := a.timeOf(n, below)
	if g.bound = t.bound(); rank[g.bound.evidence] >= rank[Identified] {
		g.need = a.given(t, 0)
		g.perTry = a.given(t, more).longest(g.need)
	}
	g.spare = max(0, g.perTry.ns-g.need.ns)
}

// callerTime is what attempts of a caller take at most, without headroom, in two ways: the sum
// along the serial path, of its own work and of what its calls take at most, but no less
// than it is seen to take; and its own limit, where it has one.
type callerTime struct {
	own, calls, beyond amount // the summands of the path
	limit              *int64
	evidence           Evidence // of the limit
	longest            amount   // call, with headroom: a caller waits no less for it
}

func (a *adviser) timeOf(n *callgraph.Node, below sum) callerTime {
	t := callerTime{own: a.ownBound(n), calls: below.bound, beyond: amount{evidence: Certified}, longest: below.longest}
	row := a.rows[n.Hop]
	if row == nil || row.Target == nil {
		return t
	}
	evidence, bound := a.evidenceOf(row)
	if path := t.path(); bound != nil && path.known() != nil && row.Target.Tail.Status == quantile.Exact {
		t.beyond.ns = max(0, row.Target.Tail.Value-path.ns)
	}
	// Where a canary of what it calls is due, or nobody knows what that needs, its own limit is
	// that of today's timeouts.
	if row.Target.Tail.Upper != nil && rank[evidence] >= rank[Identified] && t.calls.evidence != NotIdentified {
		t.limit, t.evidence = bound, evidence
	}
	return t
}

func (t *callerTime) path() amount { return t.own.and(t.calls).and(t.beyond) }

// limited reports whether the caller's own limit is the smaller bound, where retries inside
// it take so much more; it holds them.
func (t *callerTime) limited(more int64) bool {
	path := t.path().known()
	return t.limit != nil && (path == nil || *t.limit < durations.Sum(*path, more))
}

// bound is the smaller of both.
func (t *callerTime) bound() amount {
	if t.limited(0) {
		return amount{ns: *t.limit, evidence: t.evidence}
	}
	return t.path()
}

// given is a bound with headroom, rounded up; retries inside take so much more.
func (a *adviser) given(t callerTime, more int64) amount {
	path := t.path()
	out := amount{ns: durations.Sum(a.from(path.ns), more), evidence: path.evidence, missing: path.missing}
	if t.limit != nil && (path.known() == nil || a.from(*t.limit) < out.ns) {
		out = amount{ns: a.from(*t.limit), evidence: t.evidence}
	}
	out.ns = max(out.ns, t.longest.ns)
	return out.stepped()
}

// stepped rounds up to a number that a timeout may have.
func (a amount) stepped() amount { return amount{roundUp(a.ns), a.evidence, a.missing} }

// inner reports whether a hop makes calls that count.
func (a *adviser) inner(k spans.Hop) bool {
	n := a.nodes[k]
	return n != nil && slices.ContainsFunc(n.Calls, func(c callgraph.Call) bool { return a.counts(n, &c) })
}

// sum is what the calls of a node are given together, and what they take at most.
type sum struct {
	need, bound amount
	longest     amount // need of one of them
	spare       int64  // the most that the retries of one of them take
}

// below adds up groups of calls that come one after the other; of those side by
// side, or made one instead of the other, the longest counts.
func (a *adviser) below(n *callgraph.Node) sum { return a.belowIn(n, n.Groups) }

func (a *adviser) belowIn(n *callgraph.Node, groups [][]int) sum {
	nothing := amount{evidence: Certified}
	s := sum{need: nothing, bound: nothing}
	for _, group := range groups {
		need, bound := nothing, nothing
		for _, c := range a.inGroup(n, group) {
			g := a.grantOf(c.Hop)
			need, bound = need.longest(a.inRow(c, g.need)), bound.longest(a.inRow(c, g.bound))
			s.spare, s.longest.ns = max(s.spare, g.spare), max(s.longest.ns, g.need.ns)
		}
		if need.evidence == Certified && a.mayCoincide(n, group) {
			need.evidence = Identified
		}
		if bound.evidence == Certified && a.mayCoincide(n, group) {
			bound.evidence = Identified
		}
		s.need, s.bound = s.need.and(need), s.bound.and(bound)
	}
	return s
}

// mayCoincide reports whether a group holds calls that came one instead of the other
// so far, of too few callers to be sure of it.
func (a *adviser) mayCoincide(n *callgraph.Node, group []int) bool {
	return len(group) > 1 && n.Makers < quantile.CanarySize(a.Target, 0, a.Confidence) &&
		slices.ContainsFunc(group[1:], func(i int) bool {
			return slices.ContainsFunc(group, func(k int) bool { return k != i && n.Calls[i].Instead(k) })
		})
}

// restOf is what attempts of a caller are seen to take beyond its own work and its
// calls with their retries: of calls that overlap for a while only, and of those that
// mostly come side by side, the longest is too short.
func (a *adviser) restOf(n *callgraph.Node, own amount, below sum) amount {
	whole := a.wholeBound(n)
	if over, has := a.over(whole.ns), durations.Sum(durations.Sum(own.ns, below.need.ns), below.spare); rank[whole.evidence] >= rank[Identified] && over > has {
		return amount{ns: over - has, evidence: whole.evidence}
	}
	return amount{evidence: Certified}
}

// wholeBound bounds the target quantile of all that attempts of a caller took.
func (a *adviser) wholeBound(n *callgraph.Node) amount {
	row := a.rows[n.Hop]
	switch {
	case a.Biased, row == nil && a.Weighted:
		return amount{evidence: None}
	case row == nil:
		return boundOf(n.Whole, 0, a.Target, a.Confidence)
	case row.Target == nil || row.Biased:
		return amount{evidence: None}
	case row.Target.Tail.Upper != nil && marked(row):
		if row.FailuresExceed(a.Target) {
			return amount{ns: *row.Target.Tail.Upper, evidence: Identified}
		}
		return amount{ns: *row.Target.Tail.Upper, evidence: Certified}
	case row.Target.Tail.Status != quantile.Exact:
		return amount{evidence: None}
	}
	evidence, _ := evidenceIn(&row.Target.Tail.Tail, row.Truncated.First.N > 0)
	return amount{ns: row.Target.Tail.Value, evidence: evidence}
}

// inRow is an amount for each of the calls that a caller makes one after the other.
func (a *adviser) inRow(c *callgraph.Call, one amount) amount {
	one.ns = times(uint64(c.InRow(a.Target)), one.ns)
	return one
}

// retriesOf is the most retries of one call that were seen.
func (a *adviser) retriesOf(k spans.Hop) uint64 {
	if h := a.tries[k]; h != nil && h.MostAttempts > 0 {
		return h.MostAttempts - 1
	}
	return 0
}

// backoffs is how long a call waits between its attempts in all, at most.
func (a *adviser) backoffs(k spans.Hop, tries uint64) int64 {
	if h := a.tries[k]; h != nil && h.Backoff.Max != nil {
		return times(tries, max(0, *h.Backoff.Max))
	}
	return 0
}

// leafBound is what attempts of a call that makes none itself take at most.
func (a *adviser) leafBound(k spans.Hop) amount {
	row := a.rows[k]
	if row == nil || row.Target == nil {
		return amount{evidence: None, missing: true}
	}
	evidence, bound := a.evidenceOf(row)
	if bound == nil {
		return amount{evidence: evidence, missing: true}
	}
	return amount{ns: *bound, evidence: evidence}
}

// leaf is what a call that makes none itself is given.
func (a *adviser) leaf(k spans.Hop) amount {
	row := a.rows[k]
	if row == nil || row.Target == nil {
		return amount{evidence: None, missing: true}
	}
	evidence, bound := a.evidenceOf(row)
	if bound != nil {
		return amount{ns: a.from(*bound), evidence: evidence}
	}
	if raise, _ := a.raiseOf(row); raise > 0 {
		return amount{ns: raise, evidence: evidence}
	}
	if evidence == TooFew {
		return amount{ns: a.allowed(row).Timeout, evidence: evidence}
	}
	return amount{evidence: evidence, missing: true}
}

// ownOf is the time that a call which makes calls works itself, with headroom: that
// of its completed attempts, those that were cut counting as endless. Where it is
// not known, the longest seen stands for it in a canary.
func (a *adviser) ownOf(n *callgraph.Node) amount {
	own := a.ownBound(n)
	return amount{ns: a.over(own.ns), evidence: own.evidence, missing: own.ns == 0 && rank[own.evidence] < rank[Identified]}
}

// ownBound returns the bound of the target quantile of a node's own time, worked
// out once.
func (a *adviser) ownBound(n *callgraph.Node) amount {
	own, known := a.owns[n.Hop]
	if !known {
		own = a.measureOwn(n)
		a.owns[n.Hop] = own
	}
	return own
}

func (a *adviser) measureOwn(n *callgraph.Node) amount {
	if a.Biased || a.Weighted {
		return amount{evidence: None}
	}
	row := a.rows[n.Hop]
	if row == nil {
		return boundOf(n.Own, 0, a.Target, a.Confidence)
	}
	cut := row.Truncated.All.N
	own := boundOf(n.Own, cut-min(cut, n.Served), a.Target, a.Confidence)
	if n.Served > 0 || !marked(row) {
		own.evidence = weaker(own.evidence, Identified)
	}
	return own
}

// boundOf bounds the p-quantile of times of which so many more are endless. Where it
// is not known, the longest stands for it.
func boundOf(times *quantile.Sample, endless uint64, p, confidence quantile.P) amount {
	var never quantile.Sample
	never.AddN(math.MaxInt64, endless)
	o := quantile.Observed{Completed: quantile.Union{times}, CutAt: quantile.Union{&never}}
	evidence, bound := evidenceIn(&o.Tails([]quantile.P{p}, confidence).Tails[0], endless > 0)
	if bound != nil {
		return amount{ns: *bound, evidence: evidence}
	}
	longest := quantile.Summarize(o.Completed, nil)
	if longest.N+endless == 0 {
		return amount{evidence: None}
	}
	return amount{ns: longest.Max, evidence: evidence}
}
