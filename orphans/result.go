package orphans

import (
	"cmp"
	"slices"

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
	WastedBy   jsontype.List[HopTime]    `json:"wasted_by_hop"` // the union, by the hop that ran
	Pairs      jsontype.List[Pair]       `json:"pairs"`
	NotAwaited jsontype.List[NotAwaited] `json:"not_awaited"`
	Inversions jsontype.List[Inversion]  `json:"inversions"`
	CutOrder   jsontype.List[CutOrder]   `json:"cut_order"`
	Items      jsontype.List[Case]       `json:"items"`
}

// HopTime is a hop's share of a time.
type HopTime struct {
	spans.Hop
	NS       int64 `json:"wasted_ns"`
	Doubtful int64 `json:"wasted_doubtful_ns"` // in doubtful orphans only
}

// Verdict says why callees outlast their calls.
type Verdict string

// A queue: they start late. Slow: the work itself is long. Mixed: both.
const (
	Queue  Verdict = "queue"
	Slow   Verdict = "slow"
	Mixed  Verdict = "mixed"
	TooFew Verdict = "too_few"
	// OnTheWay: they start late, and nothing queues.
	OnTheWay Verdict = "network_or_clock"
)

// Pair is one hop calling another. Coverage is CutCallsWithChild of CutCalls. The
// summaries are of the orphans that are not doubtful.
type Pair struct {
	Parent            spans.Hop        `json:"-"`
	Child             spans.Hop        `json:"-"`
	Orphaned          uint64           `json:"orphaned"`
	LateStarts        uint64           `json:"late_starts"` // of those, begun after their parents had given up
	Doubtful          uint64           `json:"doubtful"`
	CutCalls          uint64           `json:"cut_calls"`
	CutCallsWithChild uint64           `json:"cut_calls_with_child"`
	Wasted            int64            `json:"wasted_ns"`
	WastedDoubtful    int64            `json:"wasted_doubtful_ns"`
	Overrun           quantile.Summary `json:"overrun"`
	StartLag          quantile.Summary `json:"start_lag"`
	Work              quantile.Summary `json:"work"`
	Early             `json:"stopped_within_50ms"`
	Cancellation      Cancellation `json:"cancellation"`
	Verdict           Verdict      `json:"verdict"`
}

// Early is how many of the first calls that left had a callee that stopped within
// 50 ms, not only ended.
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

// MarshalJSON writes counts of what is not checkable as null: nothing was counted,
// which is not zero.
func (r Result) MarshalJSON() ([]byte, error) {
	type fields Result
	n := func(n uint64) *uint64 { return jsontype.If(r.Checkable, n) }
	return jsontype.Join(jsontype.Object{
		"checkable", r.Checkable, "reason", jsontype.Text(r.Reason), "inferred", r.Inferred, "tolerance_ns", r.Tolerance,
		"spans_with_parent", n(r.SpansWithParent), "missing_parents", n(r.MissingParents), "unfinished", n(r.Unfinished),
		"outlived_async", n(r.OutlivedAsync), "outlived_completed", n(r.OutlivedCompleted), "outlived_not_awaited", n(r.OutlivedNotAwaited), "outlived_failed", n(r.OutlivedFailed), "within_tolerance", n(r.WithinTolerance),
		"started_after_root_end", n(r.StartedAfterRootEnd), "orphaned", n(r.Orphaned), "overruns", n(r.Overruns), "late_starts", n(r.LateStarts),
		"doubtful", n(r.Doubtful), "wasted_doubtful_ns", jsontype.If(r.Checkable, r.WastedDoubtful), "wasted_union_doubtful_ns", jsontype.If(r.Checkable, r.WastedUnionDoubtful),
		"wasted_ns", jsontype.If(r.Checkable, r.Wasted), "wasted_union_ns", jsontype.If(r.Checkable, r.WastedUnion),
	}, fields(r))
}

// MarshalJSON writes the hops beside the figures.
func (p Pair) MarshalJSON() ([]byte, error) {
	type fields Pair
	return jsontype.Join(jsontype.Object{
		"parent_hop", p.Parent.Name, "parent_kind", p.Parent.Kind, "child_hop", p.Child.Name, "child_kind", p.Child.Kind,
	}, fields(p))
}

// MarshalJSON writes the hops beside the figures.
func (p NotAwaited) MarshalJSON() ([]byte, error) {
	type fields NotAwaited
	return jsontype.Join(jsontype.Object{
		"parent_hop", p.Parent.Name, "parent_kind", p.Parent.Kind, "child_hop", p.Child.Name, "child_kind", p.Child.Kind,
	}, fields(p))
}

// MarshalJSON names the hops.
func (i Inversion) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"parent_hop", i.Parent.Name, "parent_wall_ns", i.ParentWall, "child_hop", i.Child.Name, "child_wall_ns", i.ChildWall, "seen", i.Seen,
	}.MarshalJSON()
}

// MarshalJSON names the hops.
func (c CutOrder) MarshalJSON() ([]byte, error) {
	return jsontype.Join(jsontype.Object{"outer_hop", c.Outer.Name, "inner_hop", c.Inner.Name}, c.Order)
}

// Query is what a run asks of its accumulator.
type Query struct {
	Quantiles  []quantile.P
	Confidence quantile.P // of limits; the zero value is 0.95
	// Wall returns the timeout of a hop's calls, in ns, where it is known; an
	// inferred one by its upper end.
	Wall func(spans.Hop) (int64, bool)
	// Why returns why the calls that one hop answers for another are slow, "" where all
	// calls do not tell; nil knows nothing.
	Why func(call, callee spans.Hop) Verdict
}

var usualConfidence = quantile.MustP("0.95")

// Result returns what was found.
func (a *Accumulator) Result(q Query) Result {
	if q.Confidence == (quantile.P{}) {
		q.Confidence = usualConfidence
	}
	r := Result{Counts: a.counts, Tolerance: a.config.Tolerance}
	if r.Checkable = a.counts.SpansWithParent+a.counts.MissingParents > 0; !r.Checkable {
		r.Reason = "no parent ids"
		return r
	}
	f := a.fates(&q)
	a.judge(&r, f)
	a.wasted(&r, f)
	r.Pairs = a.pairsOf(&q, f)
	r.NotAwaited = a.notAwaited(&q, f)
	r.Inversions = a.inversions(q.Wall)
	r.CutOrder = a.cutOrders(f.apart)
	r.Items = a.items(f)
	return r
}

// pairsOf lists the pairs with orphans, and the cut calls of clients.
func (a *Accumulator) pairsOf(q *Query, f *fates) []Pair {
	var list []Pair
	for key, p := range a.pairs {
		one := p.judged(key, q.Quantiles, f)
		one.Parent, one.Child = a.hopOf(key.parent), a.hopOf(key.child)
		if one.Orphaned+one.Doubtful == 0 && (p.withChild == 0 || !isCall(one.Parent.Kind)) {
			continue
		}
		one.Cancellation = p.cancellation(a.waits[key], f.clocks[key], q.Confidence)
		one.Early = Early{one.Cancellation.Stopped, p.leaving}
		if c := a.calls[key.parent]; c != nil {
			one.CutCalls = c.cut
		}
		one.Verdict = q.verdict(&one)
		list = append(list, one)
	}
	slices.SortFunc(list, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.Wasted, x.Wasted), cmp.Compare(y.WastedDoubtful, x.WastedDoubtful), x.Parent.Compare(y.Parent), x.Child.Compare(y.Child))
	})
	return list
}

// judged counts what ran on in a pair by what it turns out to be.
func (p *pair) judged(key hopPair, ps []quantile.P, f *fates) Pair {
	one := Pair{CutCallsWithChild: p.withChild}
	var overrun, lag, work quantile.Union
	for g, b := range p.ran {
		switch f.of(key, g) {
		case orphaned:
			one.Orphaned, one.LateStarts, one.Wasted = one.Orphaned+b.n, one.LateStarts+b.late, durations.Sum(one.Wasted, b.wasted)
			overrun, lag, work = append(overrun, &b.overrun), append(lag, &b.lag), append(work, &b.work)
		case doubtful:
			one.Doubtful, one.WastedDoubtful = one.Doubtful+b.n, durations.Sum(one.WastedDoubtful, b.wasted)
		}
	}
	one.Overrun, one.StartLag, one.Work = quantile.Summarize(overrun, ps), quantile.Summarize(lag, ps), quantile.Summarize(work, ps)
	return one
}

func summary(s *quantile.Sample, ps []quantile.P) quantile.Summary {
	return quantile.Summarize(quantile.Union{s}, ps)
}

// leastOrphans is how many orphans a verdict needs.
const leastOrphans = 8

// verdict compares how late callees started with how long they worked: a queue
// where they waited longer than they worked, slow where the wait was less than a
// tenth of the work.
func verdict(p *Pair) Verdict {
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

// verdict is that of all calls, not only of the orphans, where these tell: two rules
// would disagree.
func (q *Query) verdict(p *Pair) Verdict {
	if q.Why != nil && p.Orphaned >= leastOrphans {
		if v := q.Why(p.Parent, p.Child); v != "" {
			return v
		}
	}
	return verdict(p)
}

// inversions looks for calls that were granted as much as their nearest caller
// with a known wall had left, or more.
func (a *Accumulator) inversions(wall func(spans.Hop) (int64, bool)) []Inversion {
	if wall == nil {
		return nil
	}
	walls := a.walls(wall)
	found := map[hopPair]*Inversion{}
	for p, spent := range a.paths {
		if walls[p.hop] == unknown {
			continue
		}
		for level := range spent {
			if outer := p.callers[level]; walls[outer] != unknown {
				a.inverted(found, hopPair{outer, p.hop}, walls, &spent[level])
				break
			}
		}
	}
	var list []Inversion
	for _, one := range found {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(x, y Inversion) int {
		return cmp.Or(cmp.Compare(y.Seen, x.Seen), x.Parent.Compare(y.Parent), x.Child.Compare(y.Child))
	})
	return list
}

// unknown is the wall of a hop whose timeout is not known.
const unknown = -1

// walls asks for each hop's wall once.
func (a *Accumulator) walls(wall func(spans.Hop) (int64, bool)) []int64 {
	list := make([]int64, a.hops.Len())
	for r, hop := range a.hops.Hops() {
		list[r] = unknown
		if ns, known := wall(hop); known {
			list[r] = ns
		}
	}
	return list
}

// inverted adds the calls of one pair that came when its caller had no more left
// than they were granted.
func (a *Accumulator) inverted(found map[hopPair]*Inversion, key hopPair, walls []int64, spent *quantile.Sample) {
	outer, inner := walls[key.parent], walls[key.child]
	seen := spent.N() - quantile.Union{spent}.UpTo(outer-inner-1)
	if seen == 0 {
		return
	}
	one := at(found, key)
	*one = Inversion{a.hopOf(key.parent), a.hopOf(key.child), outer, inner, one.Seen + seen}
}

func (a *Accumulator) cutOrders(apart map[[2]string]int64) []CutOrder {
	var list []CutOrder
	for key, o := range a.orders {
		one := CutOrder{a.hopOf(key.parent), a.hopOf(key.child), o.Order}
		within, known := apart[services(one.Outer, one.Inner)]
		if one.Doubtful = o.margins.N(); known {
			one.Doubtful = quantile.Union{&o.margins}.UpTo(max(within, a.config.Tolerance))
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(x, y CutOrder) int { return cmp.Or(x.Outer.Compare(y.Outer), x.Inner.Compare(y.Inner)) })
	return list
}

// items lists the worst of the orphans, and says how sure they are.
func (a *Accumulator) items(f *fates) []Case {
	all := worst{limit: a.config.Limit, byOverrun: a.config.ByOverrun}
	for key, p := range a.pairs {
		if f.notAwaited[key] {
			continue
		}
		for _, c := range p.cases.sort() {
			all.add(c)
		}
	}
	items := all.sort()
	for i := range items {
		items[i].Sure, items[i].Evidence = a.sure(&items[i], f.apart)
	}
	return items
}

func (a *Accumulator) sure(c *Case, apart map[[2]string]int64) (Sure, string) {
	within := apart[services(c.Parent.Hop, c.Child.Hop)]
	switch {
	case after(c.Child.Duration, c.Parent.Duration) > a.config.Tolerance:
		return Certain, "the child alone lasted longer than its parent"
	case c.firm != "":
		return Likely, c.firm
	case within == 0:
		return Likely, "no skew seen between the two services"
	case c.Overrun <= within:
		return Doubtful, "within the " + durations.Text(within) + " by which the clocks of the two services may be apart"
	}
	return Likely, "beyond the " + durations.Text(within) + " by which the clocks of the two services may be apart"
}
