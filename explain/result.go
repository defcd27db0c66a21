package explain

import (
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// Query is what all analyses of a run found.
type Query struct {
	Written string // the hop, as somebody named it
	Hops    []buckets.Result
	Pairs   []neighbors.Pair
	Owner   *attribution.Result
	Retries *retries.Result
	Orphans *orphans.Result
	Advice  *timeouts.Result
	Calls   *calls.Result
	Name    func(spans.Hop) string // what a hop is called on a page
}

// Result is what is known of one hop. What nobody knows anything of is nil. Durations are
// ns.
type Result struct {
	spans.Hop
	Tail     *buckets.Result
	Servers  []*buckets.Result // the hops that serve its calls
	Callers  jsontype.List[Neighbor]
	Callees  jsontype.List[Neighbor]
	Owner    jsontype.List[attribution.Hop] // the hop, and what serves it
	Requests *attribution.Result            // of which Owner is a part
	Retries  *retries.Hop
	Advice   *timeouts.Hop
	Timeouts *timeouts.Result // of which Advice is a part
	Orphans  Orphans
	Calls    Calls
	Findings jsontype.List[findings.Finding] // what is wrong with it

	name func(spans.Hop) string
}

// Neighbor is a hop right above or below, and how many spans or attempts lie there.
// Awaited are those that the upper one waits for.
type Neighbor struct {
	spans.Hop
	N       uint64 `json:"n"`
	Awaited uint64 `json:"awaited"`
}

// Orphans is what orphaned work has to do with the hop.
type Orphans struct {
	Checkable  bool                              `json:"checkable"`
	Reason     jsontype.Text                     `json:"reason"`
	Pairs      jsontype.List[orphans.Pair]       `json:"pairs"` // of which it is a part
	NotAwaited jsontype.List[orphans.NotAwaited] `json:"not_awaited"`
	Inversions jsontype.List[orphans.Inversion]  `json:"inversions"`
	CutOrder   jsontype.List[orphans.CutOrder]   `json:"cut_order"`
	Wasted     *int64                            `json:"wasted_ns"`          // in which the hop ran for nobody
	Doubtful   *int64                            `json:"wasted_doubtful_ns"` // the same, if the clocks are right
}

// MarshalJSON writes what the report's JSON has of this hop, under the same names.
func (r *Result) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"hop", r.Name, "kind", r.Kind, "findings", r.Findings, "attempts", r.Tail, "served_by", jsontype.List[*buckets.Result](r.Servers),
		"callers", r.Callers, "callees", r.Callees, "owner", r.Owner, "retries", r.Retries, "timeouts", r.Advice, "orphans", r.Orphans, "calls", r.Calls,
	}.MarshalJSON()
}

// Of finds the hop that is meant. The error is that of neighbors.Find.
func Of(q Query) (*Result, error) {
	var hops []spans.Hop
	for i := range q.Hops {
		hops = append(hops, q.Hops[i].Hop)
	}
	h, err := neighbors.Find(q.Written, hops, q.Pairs)
	if err != nil {
		return nil, err
	}
	r := &Result{Hop: h, Requests: q.Owner, Timeouts: q.Advice, name: q.Name}
	r.Tail = find(q.Hops, func(b *buckets.Result) bool { return b.Hop == h })
	r.findNeighbors(&q)
	if q.Owner != nil {
		r.Owner = filter(q.Owner.Hops, func(o *attribution.Hop) bool { return !o.Gap && (o.Hop == h || r.isServer(o.Hop)) })
	}
	if q.Retries != nil {
		r.Retries = find(q.Retries.Hops, func(o *retries.Hop) bool { return o.Hop == h })
	}
	if q.Advice != nil {
		r.Advice = find(q.Advice.Hops, func(o *timeouts.Hop) bool { return o.Hop == h })
	}
	if q.Orphans != nil {
		r.findOrphans(q.Orphans)
	}
	if q.Calls != nil {
		r.findCalls(q.Calls)
	}
	return r, nil
}

// find returns the item of a list that is meant, nil where there is none.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (r *Result) findNeighbors(q *Query) {
	for _, p := range q.Pairs {
		if p.Below == r.Hop {
			r.Callers = append(r.Callers, Neighbor{p.Above, p.N, p.Awaited})
		}
		if p.Above == r.Hop {
			r.Callees = append(r.Callees, Neighbor{p.Below, p.N, p.Awaited})
			if neighbors.IsServed(p) {
				if s := find(q.Hops, func(b *buckets.Result) bool { return b.Hop == p.Below }); s != nil {
					r.Servers = append(r.Servers, s)
				}
			}
		}
	}
}

// findOrphans takes what touches the hop or what serves it.
func (r *Result) findOrphans(o *orphans.Result) {
	its := func(h spans.Hop) bool { return h == r.Hop || r.isServer(h) }
	of := &r.Orphans
	of.Checkable, of.Reason = o.Checkable, jsontype.Text(o.Reason)
	of.Pairs = filter(o.Pairs, func(p *orphans.Pair) bool { return its(p.Parent) || its(p.Child) })
	of.NotAwaited = filter(o.NotAwaited, func(p *orphans.NotAwaited) bool { return its(p.Parent) || its(p.Child) })
	of.Inversions = filter(o.Inversions, func(p *orphans.Inversion) bool { return its(p.Parent) || its(p.Child) })
	of.CutOrder = filter(o.CutOrder, func(p *orphans.CutOrder) bool { return its(p.Outer) || its(p.Inner) })
	for _, w := range o.WastedBy {
		if its(w.Hop) {
			of.Wasted, of.Doubtful = added(of.Wasted, w.NS), added(of.Doubtful, w.Doubtful)
		}
	}
}

func (r *Result) isServer(h spans.Hop) bool {
	return slices.ContainsFunc(r.Servers, func(s *buckets.Result) bool { return s.Hop == h })
}

func added(sum *int64, ns int64) *int64 {
	if sum != nil {
		ns += *sum
	}
	return &ns
}

func filter[T any](list []T, is func(*T) bool) (kept []T) {
	for i := range list {
		if is(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// confidence is that of the hop's limits.
func (r *Result) confidence() quantile.P { return r.Tail.Confidence }
