package assembly

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// table gives values dense indices.
type table[K comparable] struct {
	index map[K]int32
	list  []K
}

// add returns the index of k and whether it is new.
func (t *table[K]) add(k K) (int32, bool) {
	if i, ok := t.index[k]; ok {
		return i, false
	}
	if t.index == nil {
		t.index = map[K]int32{}
	}
	i := int32(len(t.list))
	t.index[k] = i
	t.list = append(t.list, k)
	return i, true
}

// renaming says under which index a table's values stand in another table.
type renaming struct{ hops, hosts, strata, instances []int32 }

// tables are the names that spans refer to.
type tables struct {
	hops                     table[spans.Hop]
	hosts, strata, instances table[string]
}

// newTables returns tables whose host, stratum and instance 0 are none.
func newTables() *tables {
	var t tables
	t.hosts.add("")
	t.strata.add("")
	t.instances.add("")
	return &t
}

// entryBytes is about what an entry of a table costs besides its text.
const entryBytes = 96

// learn extends r by what is new in the batch's tables, which only grow but may
// come in any order, and returns about how many bytes the names took.
func (t *tables) learn(r *renaming, b *spans.Batch) (grown int64) {
	for _, h := range b.Hops[min(len(r.hops), len(b.Hops)):] {
		i, isNew := t.hops.add(h)
		r.hops = append(r.hops, i)
		grown += 4
		if isNew {
			grown += entryBytes + int64(len(h.Name)+len(h.Service)+len(h.Operation))
		}
	}
	names := func(to *table[string], list []int32, from []string) []int32 {
		for _, name := range from[min(len(list), len(from)):] {
			i, isNew := to.add(name)
			list = append(list, i)
			grown += 4
			if isNew {
				grown += entryBytes + int64(len(name))
			}
		}
		return list
	}
	r.hosts = names(&t.hosts, r.hosts, b.Hosts)
	r.strata = names(&t.strata, r.strata, b.Strata)
	r.instances = names(&t.instances, r.instances, b.Instances)
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
// does not depend on who saw what first, and returns a renaming for each.
func mergeTables(all []*tables) (tables, []renaming) {
	var merged tables
	renamings := make([]renaming, len(all))
	for _, t := range all {
		merged.hops.list = append(merged.hops.list, t.hops.list...)
		merged.hosts.list = append(merged.hosts.list, t.hosts.list...)
		merged.strata.list = append(merged.strata.list, t.strata.list...)
		merged.instances.list = append(merged.instances.list, t.instances.list...)
	}
	merged.hops.sort(spans.Hop.Compare)
	merged.hosts.sort(cmp.Compare[string])
	merged.strata.sort(cmp.Compare[string])
	merged.instances.sort(cmp.Compare[string])
	for i, t := range all {
		renamings[i] = renaming{
			merged.hops.places(&t.hops), merged.hosts.places(&t.hosts), merged.strata.places(&t.strata), merged.instances.places(&t.instances),
		}
	}
	return merged, renamings
}

// sort sorts the list, drops what stands there twice and indexes it.
func (t *table[K]) sort(compare func(a, b K) int) {
	slices.SortFunc(t.list, compare)
	t.list = slices.Compact(t.list)
	t.index = make(map[K]int32, len(t.list))
	for i, k := range t.list {
		t.index[k] = int32(i)
	}
}

// places returns where the values of part stand in t.
func (t *table[K]) places(part *table[K]) []int32 {
	list := make([]int32, len(part.list))
	for i, k := range part.list {
		list[i] = t.index[k]
	}
	return list
}
