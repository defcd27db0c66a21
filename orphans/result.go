package orphans

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Result is all that is known of orphaned work. Durations are ns.
type Result struct {
	Checkable  bool   `json:"-"`
	Reason     string `json:"-"` // why it is not checkable
	Inferred   bool   `json:"-"` // parents come from times, not from ids
	Tolerance  int64  `json:"-"`
	Counts     `json:"-"`
	WastedBy   jsontype.List[HopTime]   `json:"wasted_by_hop"` // the union, by the hop that ran
	Pairs      jsontype.List[Pair]      `json:"pairs"`
	Inversions jsontype.List[Inversion] `json:"inversions"`
	CutOrder   jsontype.List[CutOrder]  `json:"cut_order"`
	Items      jsontype.List[Case]      `json:"items"`
}

// HopTime is a hop's share of a time.
type HopTime struct {
	spans.Hop
	NS int64 `json:"wasted_ns"`
}

// Verdict says why callees outlast their calls.
type Verdict string

// A queue: they start late. Slow: the work itself is long. Mixed: both.
const (
	Queue  Verdict = "queue"
	Slow   Verdict = "slow"
	Mixed  Verdict = "mixed"
	TooFew Verdict = "too_few"
)

// Pair is one hop calling another. Coverage is CutCallsWithChild of CutCalls;
// orphans may hang under calls that failed, too.
type Pair struct {
	Parent            spans.Hop        `json:"-"`
	Child             spans.Hop        `json:"-"`
	Orphaned          uint64           `json:"orphaned"`
	CutCalls          uint64           `json:"cut_calls"`
	CutCallsWithChild uint64           `json:"cut_calls_with_child"`
	Wasted            int64            `json:"wasted_ns"`
	Overrun           quantile.Summary `json:"overrun"`
	StartLag          quantile.Summary `json:"start_lag"`
	Work              quantile.Summary `json:"work"`
	Early             `json:"stopped_within_50ms"`
	Verdict           Verdict `json:"verdict"`
}

// Early is how many of the first calls that left had a callee that stopped within
// 50 ms.
type Early struct {
	Stopped   uint64 `json:"n"`
	StoppedOf uint64 `json:"of"`
}

// Inversion is a call that was granted as much as its caller had left, or more.
// Seen is how many calls were.
type Inversion struct {
	Parent, Child         spans.Hop
	ParentWall, ChildWall int64 // ns
	Seen                  uint64
}

// CutOrder is the order in which two nested calls were cut.
type CutOrder struct {
	Outer, Inner spans.Hop
	Order
}

// ServerSide is one quantile of a call as its server saw it. A coverage below 95 %
// is a selected sample.
type ServerSide struct {
	P quantile.P
	buckets.ServerSide
}

// Query is what a run asks of its accumulator.
type Query struct {
	Quantiles []quantile.P
	// Wall returns the timeout of a hop's calls, in ns, where it is known; an
	// inferred one by its upper end.
	Wall func(spans.Hop) (int64, bool)
}

// Result returns what was found.
func (w *Accumulator) Result(q Query) Result {
	r := Result{Counts: w.counts, Tolerance: w.config.Tolerance}
	if r.Checkable = w.counts.SpansWithParent+w.counts.MissingParents > 0; !r.Checkable {
		r.Reason = "no parent ids"
		return r
	}
	for hop, ns := range w.wasted {
		r.WastedBy = append(r.WastedBy, HopTime{w.hopOf(hop), ns})
	}
	slices.SortFunc(r.WastedBy, func(a, b HopTime) int { return cmp.Or(cmp.Compare(b.NS, a.NS), a.Hop.Compare(b.Hop)) })
	r.Pairs = w.pairsOf(q.Quantiles)
	r.Inversions = w.inversions(q.Wall)
	r.CutOrder = w.cutOrders()
	r.Items = w.items()
	return r
}

// pairsOf lists the pairs with orphans, and the cut calls of clients.
func (w *Accumulator) pairsOf(ps []quantile.P) []Pair {
	var list []Pair
	for key, p := range w.pairs {
		parent, child := w.hopOf(key.parent), w.hopOf(key.child)
		if p.orphaned == 0 && (p.withChild == 0 || !isCall(parent.Kind)) {
			continue
		}
		one := Pair{
			Parent: parent, Child: child, Orphaned: p.orphaned, CutCallsWithChild: p.withChild, Wasted: p.wasted,
			Overrun: summary(&p.overrun, ps), StartLag: summary(&p.lag, ps), Work: summary(&p.work, ps),
			Early: Early{p.stopped, p.left},
		}
		if c := w.calls[key.parent]; c != nil {
			one.CutCalls = c.cut
		}
		one.Verdict = verdict(one)
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Wasted, a.Wasted), a.Parent.Compare(b.Parent), a.Child.Compare(b.Child))
	})
	return list
}

func summary(s *quantile.Sample, ps []quantile.P) quantile.Summary {
	return quantile.Summarize(quantile.Union{s}, ps)
}

// leastOrphans is how many orphans a verdict needs.
const leastOrphans = 8

// verdict compares how late callees started with how long they worked: a queue
// where they waited longer than they worked, slow where the wait was less than a
// tenth of the work.
func verdict(p Pair) Verdict {
	switch lag, work := p.StartLag.Mean, p.Work.Mean; {
	case p.Orphaned < leastOrphans:
		return TooFew
	case lag > work:
		return Queue
	case lag < work/10:
		return Slow
	}
	return Mixed
}

// inversions looks for calls that were granted as much as their nearest caller
// with a known wall had left, or more.
func (w *Accumulator) inversions(wall func(spans.Hop) (int64, bool)) []Inversion {
	if wall == nil {
		return nil
	}
	walls := w.walls(wall)
	found := map[hopPair]*Inversion{}
	for p, spent := range w.paths {
		if walls[p.hop] == unknown {
			continue
		}
		for level := range spent {
			if outer := p.callers[level]; walls[outer] != unknown {
				w.inverted(found, hopPair{outer, p.hop}, walls, &spent[level])
				break
			}
		}
	}
	var list []Inversion
	for _, one := range found {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Inversion) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), a.Parent.Compare(b.Parent), a.Child.Compare(b.Child))
	})
	return list
}

// unknown is the wall of a hop whose timeout is not known.
const unknown = -1

// walls asks for each hop's wall once.
func (w *Accumulator) walls(wall func(spans.Hop) (int64, bool)) []int64 {
	list := make([]int64, w.hops.Len())
	for r, hop := range w.hops.Hops() {
		list[r] = unknown
		if ns, known := wall(hop); known {
			list[r] = ns
		}
	}
	return list
}

// inverted adds the calls of one pair that came when its caller had no more left
// than they were granted.
func (w *Accumulator) inverted(found map[hopPair]*Inversion, key hopPair, walls []int64, spent *quantile.Sample) {
	outer, inner := walls[key.parent], walls[key.child]
	seen := atLeast(spent, outer-inner)
	if seen == 0 {
		return
	}
	one := found[key]
	if one == nil {
		one = &Inversion{Parent: w.hopOf(key.parent), Child: w.hopOf(key.child), ParentWall: outer, ChildWall: inner}
		found[key] = one
	}
	one.Seen += seen
}

// atLeast returns how many values are no less.
func atLeast(s *quantile.Sample, least int64) (n uint64) {
	for ns, count := range s.All() {
		if ns >= least {
			n += count
		}
	}
	return n
}

func (w *Accumulator) cutOrders() []CutOrder {
	var list []CutOrder
	for key, o := range w.orders {
		list = append(list, CutOrder{w.hopOf(key.parent), w.hopOf(key.child), *o})
	}
	slices.SortFunc(list, func(a, b CutOrder) int { return cmp.Or(a.Outer.Compare(b.Outer), a.Inner.Compare(b.Inner)) })
	return list
}

// items says of the worst cases how sure they are.
func (w *Accumulator) items() []Case {
	items := slices.Clone(w.cases.sort())
	for i := range items {
		items[i].Sure, items[i].Evidence = w.sure(&items[i])
	}
	return items
}

func (w *Accumulator) sure(c *Case) (Sure, string) {
	skew := w.skews[inOrder(c.Parent.Hop.Service, c.Child.Hop.Service)]
	switch {
	case c.Child.Duration > c.Parent.Duration:
		return Certain, "the child alone lasted longer than its parent"
	case c.shifted:
		return Likely, "timestamps moved back by the stated shift"
	case oneHost(string(c.Parent.Host), string(c.Child.Host)):
		return Likely, "timestamps of one host"
	case skew == 0:
		return Likely, "no skew seen between the two services"
	case c.Overrun <= skew:
		return Doubtful, "within the skew of " + durations.Text(skew) + " seen between the two services"
	}
	return Likely, "beyond the skew of " + durations.Text(skew) + " seen between the two services"
}

// ServerSide returns the quantiles of a hop's first attempts with the server's
// duration, plus what the call itself usually adds (the p99 of client less
// server in completed calls), in place of each that was cut. Those without a
// server span count as infinitely long. It returns nil for a hop of which
// nothing was cut or no cut call has a server span.
func (w *Accumulator) ServerSide(hop spans.Hop, completed quantile.Union, ps []quantile.P) []ServerSide {
	number, known := w.hops.Find(hop)
	r := ref(number)
	if !known || w.calls[r] == nil || w.calls[r].served.N() == 0 {
		return nil
	}
	c := w.calls[r]
	all := append(slices.Clone(completed), c.whole())
	n := all.N() + c.firstCut - c.served.N()
	list := make([]ServerSide, len(ps))
	ranks := make([]uint64, len(ps))
	for i, p := range ps {
		list[i] = ServerSide{p, buckets.ServerSide{Coverage: buckets.Coverage{N: c.served.N(), Of: c.firstCut}, Selected: c.served.N()*100 < c.firstCut*95}}
		ranks[i] = p.Rank(n)
	}
	for i, value := range atRanks(all, ranks) {
		list[i].Value = value
	}
	return list
}

// whole returns how long cut first attempts would have taken: what the server
// took and what a call usually adds.
func (c *calls) whole() *quantile.Sample {
	overhead := int64(0)
	if s := summary(&c.overheads, []quantile.P{quantile.MustP("0.99")}); s.N > 0 {
		overhead = s.Quantiles[0]
	}
	whole := new(quantile.Sample)
	for ns, count := range c.served.All() {
		whole.AddN(durations.Sum(ns, overhead), count)
	}
	return whole
}

// atRanks returns the values at the ranks, nil beyond the last.
func atRanks(u quantile.Union, ranks []uint64) []*int64 {
	values := make([]*int64, len(ranks))
	passed := uint64(0)
	for ns, count := range u.All() {
		passed += count
		for i, rank := range ranks {
			if values[i] == nil && rank <= passed {
				values[i] = &ns
			}
		}
	}
	return values
}
