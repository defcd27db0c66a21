package assembly

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/internal/numbering"
	"github.com/tailscope/tailscope/spans"
)

// table gives values dense indices.
type table[K comparable] struct{ numbering.List[K] }

// add returns the index of k and whether it is new.
func (t *table[K]) add(k K) (int32, bool) {
	if i, ok := t.Find(k); ok {
		return i, false
	}
	return t.Add(k), true
}

// renaming says under which index a table's values stand in another table.
type renaming struct{ hops, hosts, strata, instances []int32 }

// tables are the names that the records of one worker refer to.
type tables struct {
	hops                     table[spans.Hop]
	hosts, strata, instances table[string]
	renamings                map[*spans.Builder]*renaming // from a batch's tables
}

// newTables returns tables whose host, stratum and instance 0 are none.
func newTables() *tables {
	t := tables{renamings: map[*spans.Builder]*renaming{}}
	t.hosts.add("")
	t.strata.add("")
	t.instances.add("")
	return &t
}

// entryBytes is about what an entry of a table costs besides its text.
const entryBytes = 96

// of returns a batch's renaming after it has been extended by what is new in the
// batch's tables, which only grow but may come in any order. grown is about how many
// bytes the names took.
func (t *tables) of(b *spans.Batch) (r *renaming, grown int64) {
	r = t.renamings[b.Lineage]
	if r == nil {
		r = &renaming{}
		t.renamings[b.Lineage] = r
	}
	size := func(name string) int { return len(name) }
	grown += extend(&r.hops, &t.hops, b.Hops, func(h spans.Hop) int { return len(h.Name) + len(h.Service) + len(h.Operation) })
	grown += extend(&r.hosts, &t.hosts, b.Hosts, size)
	grown += extend(&r.strata, &t.strata, b.Strata, size)
	grown += extend(&r.instances, &t.instances, b.Instances, size)
	return r, grown
}

// extend renames the values of from that known does not yet have.
func extend[K comparable](known *[]int32, to *table[K], from []K, size func(K) int) (grown int64) {
	for _, k := range from[min(len(*known), len(from)):] {
		i, isNew := to.add(k)
		*known = append(*known, i)
		grown += 4
		if isNew {
			grown += entryBytes + int64(size(k))
		}
	}
	return grown
}

// apply renames a span's indices.
func (r *renaming) apply(s *spans.Span) {
	s.Hop, s.Host, s.Stratum = r.hops[s.Hop], at(r.hosts, s.Host), at(r.strata, s.Stratum)
	s.Instance = at(r.instances, s.Instance)
}

// at returns 0, none, where the input knows no names.
func at(list []int32, i int32) int32 {
	if len(list) == 0 {
		return 0
	}
	return list[i]
}

// mergeTables joins the workers' tables into one in sorted order, so that it
// does not depend on who saw what first, and returns a renaming for each. Hops have the
// names that n gives them.
func mergeTables(all []*tables, n *spans.Naming) (merged tables, renamings []renaming) {
	same := func(name string) string { return name }
	hops := merged.hops.merge(all, func(t *tables) *table[spans.Hop] { return &t.hops }, n.Hop, spans.Hop.Compare)
	hosts := merged.hosts.merge(all, func(t *tables) *table[string] { return &t.hosts }, same, cmp.Compare)
	strata := merged.strata.merge(all, func(t *tables) *table[string] { return &t.strata }, same, cmp.Compare)
	instances := merged.instances.merge(all, func(t *tables) *table[string] { return &t.instances }, same, cmp.Compare)
	for i := range all {
		renamings = append(renamings, renaming{hops[i], hosts[i], strata[i], instances[i]})
	}
	return merged, renamings
}

// merge fills the table with the values of others, and returns for each of them where
// its values stand. Each value counts as what it becomes.
func (t *table[K]) merge(all []*tables, of func(*tables) *table[K], becomes func(K) K, compare func(a, b K) int) (places [][]int32) {
	var values []K
	for _, each := range all {
		for _, k := range of(each).Values() {
			values = append(values, becomes(k))
		}
	}
	slices.SortFunc(values, compare)
	for _, k := range values {
		t.add(k)
	}
	for _, each := range all {
		list := make([]int32, len(of(each).Values()))
		for i, k := range of(each).Values() {
			list[i], _ = t.Find(becomes(k))
		}
		places = append(places, list)
	}
	return places
}
