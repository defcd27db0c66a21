package findings

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// Input is what a run found; nil where it has no such analysis.
type Input struct {
	Read       *ingest.Summary
	Incomplete []string // why the report stands on less than the whole input
	Confidence quantile.P
	Hops       []buckets.Result
	Owner      *attribution.Result
	Calls      *calls.Result
	Retries    *retries.Result
	Orphans    *orphans.Result
	Timeouts   *timeouts.Result
	Names      *Names
	// Others are findings that an analysis makes itself; Call is the hop that they are
	// about.
	Others []Finding
}

// maker finds one after the other.
type maker struct {
	*Input
	list []Finding
}

// List returns what was found, the worst first.
func List(in Input) []Finding {
	if in.Names == nil {
		in.Names = NewNames(hopsOf(in.Hops), nil)
	}
	m := &maker{Input: &in, list: slices.Clone(in.Others)}
	for _, r := range rules {
		r.find(m)
	}
	for i := range m.list {
		m.list[i].Call = m.Names.Call(m.list[i].Call)
	}
	list := m.joined()
	slices.SortStableFunc(list, worse)
	return list
}

func hopsOf(rows []buckets.Result) (list []spans.Hop) {
	for i := range rows {
		list = append(list, rows[i].Hop)
	}
	return list
}

// about begins a finding about a hop.
func (m *maker) about(code Code, s Severity, h spans.Hop) *Finding {
	return &Finding{Code: code, Severity: s, Hop: jsontype.Text(h.Name), Call: h, Figures: jsontype.Map[any]{}}
}

// general begins a finding about the whole input.
func (m *maker) general(code Code, s Severity) *Finding { return m.about(code, s, spans.Hop{}) }

func (m *maker) add(f *Finding) { m.list = append(m.list, *f) }

// name is what a hop is called on a page.
func (m *maker) name(h spans.Hop) string { return m.Names.Of(h) }

// ns enters a duration and writes it.
func (f *Finding) ns(key string, ns int64, r brief.Rounding) string {
	f.Figures[key+"_ns"] = ns
	return brief.Duration(ns, r)
}

// share enters a share of 1 and writes it in percent.
func (f *Finding) share(key string, share float64, r brief.Rounding) string {
	f.Figures[key] = jsontype.Number(share)
	return brief.Share(share, r)
}

// count enters a number of things.
func (f *Finding) count(key string, n uint64) uint64 {
	f.Figures[key] = n
	return n
}

// limits are those of n of some, each one-sided.
func (m *maker) limits(n, of uint64) (lower, upper float64) {
	return quantile.ClopperPearson(n, of, m.Confidence)
}

func joins(c Code) part {
	if i := c.place(); i < len(rules) {
		return rules[i].part
	}
	return asWhy
}

// joined puts the findings of one call under the worst of them.
func (m *maker) joined() (list []Finding) {
	groups := map[spans.Hop][]Finding{}
	var calls []spans.Hop
	for _, f := range m.list {
		if joins(f.Code) == apart || f.Call == (spans.Hop{}) {
			list = append(list, f)
			continue
		}
		if groups[f.Call] == nil {
			calls = append(calls, f.Call)
		}
		groups[f.Call] = append(groups[f.Call], f)
	}
	for _, call := range calls {
		list = append(list, m.join(groups[call]))
	}
	return list
}

// join makes one finding of those of one call. Its sentences are those of the head, then
// what the others say, as a reason or as a cost.
func (m *maker) join(group []Finding) Finding {
	slices.SortStableFunc(group, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(m.lead(&a), m.lead(&b)), cmp.Compare(a.Code.told(), b.Code.told()))
	})
	head := group[0]
	rest := slices.Clone(group[1:])
	slices.SortStableFunc(rest, func(a, b Finding) int { return cmp.Compare(a.Code.told(), b.Code.told()) })
	for _, f := range rest { // the causes before what explains them
		if joins(f.Code) == asWhy {
			head.Why = append(head.Why, f.Text)
		}
	}
	for _, f := range rest {
		head.Joined = append(head.Joined, f)
		head.Harmed, head.Wasted = max(head.Harmed, f.Harmed), max(head.Wasted, f.Wasted)
		switch {
		case f.counts() && head.counts(): // they count the same calls
			f.Cost = nil
		case joins(f.Code) == asCost:
			head.Cost = append(head.Cost, f.Text)
		}
		head.Why, head.Cost, head.Do = unite(head.Why, f.Why), unite(head.Cost, f.Cost), unite(head.Do, f.Do)
	}
	return head
}

// counts reports whether a finding says how many calls or requests fail.
func (f *Finding) counts() bool { return f.Code == RequestsFail || f.Code == QuantileHidden }

// lead lets a figure that deceives come before the failures that it is made of, where
// there is one hop only: nothing else can be said of those. Late retries explain others.
func (m *maker) lead(f *Finding) int {
	switch {
	case f.Code == QuantileHidden && len(m.Hops) == 1:
		return 0
	case f.Code == RetriesTooLate:
		return 2
	}
	return 1
}

func unite(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// worse orders findings.
func worse(a, b Finding) int {
	first := func(f *Finding) int {
		if f.Code == InputIncomplete {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(first(&a), first(&b)), cmp.Compare(a.Severity.rank(), b.Severity.rank()),
		cmp.Compare(b.Harmed, a.Harmed), cmp.Compare(b.Wasted, a.Wasted), a.Call.Compare(b.Call), cmp.Compare(a.Code.place(), b.Code.place()))
}
