package attribution

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// Names of one kind are held against each other: a server that answered under the
// name of its host and one that did not under its address would look like two. So
// the instances of a hop are told by the kind of name that most traces have.
type naming uint8

// The kinds of names, of as many traces the first: the host of the process that did
// the work, what the attempt itself names, the host of a call's caller.
const (
	byProcess naming = iota
	byNamed
	byCaller
	namings
)

// of returns the number of a place's name of that kind, 0 for none.
func (n naming) of(p place) int32 {
	switch {
	case n == byNamed:
		return p.named
	case p.caller == (n == byCaller):
		return p.process
	}
	return 0
}

// sides counts traces of the tail and the body by the name of an instance.
type sides struct{ tail, body map[int32]uint64 }

// add counts a trace of which an instance is known.
func (c *sides) add(t *trip, name int32, s *split) {
	if s.inTail(t) {
		c.tail[name]++
	}
	if s.inBody(t) {
		c.body[name]++
	}
}

// instancesOf says on which instances the owner's time was, in tail and body.
func (w *Accumulator) instancesOf(r *Result, s *split) {
	if r.Owner == nil || len(w.table.names) == 1 || w.table.crowded() {
		return
	}
	all := w.sidesOf(w.table.index.Number(*r.Owner), s)
	best := &all[0]
	for i := range all {
		if all[i].traces() > best.traces() {
			best = &all[i]
		}
	}
	r.listInstances(best, w.table.names)
}

// sidesOf counts the traces by the instances of a hop, for each kind of name.
func (w *Accumulator) sidesOf(hop int32, s *split) (all [namings]sides) {
	for n := range all {
		all[n] = sides{map[int32]uint64{}, map[int32]uint64{}}
	}
	times := instanceTimes{table: &w.table, ns: make([]int64, len(w.table.names))}
	w.each(func(t *trip) {
		for n := range namings {
			if name := times.longest(t, hop, n); name != 0 {
				all[n].add(t, name, s)
			}
		}
	})
	return all
}

func (s *sides) traces() uint64 { return total(s.tail) + total(s.body) }

// instanceTimes adds up the times of one trace by instance, in the same room for
// each.
type instanceTimes struct {
	table *table
	ns    []int64 // by name
	names []int32 // that have any
}

// longest returns the instance on which a hop spent most of its time in a trace, by
// one kind of name, of as much the first; 0 where it took none, or none is known.
func (x *instanceTimes) longest(t *trip, hop int32, n naming) (best int32) {
	for _, e := range t.entries {
		p := &x.table.parts[e.part]
		name := n.of(p.place)
		if p.hop != hop || e.ns == 0 || name == 0 {
			continue
		}
		if x.ns[name] == 0 {
			x.names = append(x.names, name)
		}
		x.ns[name] += e.ns
	}
	for _, name := range x.names {
		if best == 0 || x.ns[name] > x.ns[best] || x.ns[name] == x.ns[best] && x.table.names[name] < x.table.names[best] {
			best = name
		}
	}
	for _, name := range x.names {
		x.ns[name] = 0
	}
	x.names = x.names[:0]
	return best
}

func (r *Result) listInstances(s *sides, names []string) {
	n, m := total(s.tail), total(s.body)
	seen := len(s.tail)
	for name := range s.body {
		if s.tail[name] == 0 {
			seen++
		}
	}
	for name, count := range s.tail {
		r.Instances = append(r.Instances, Instance{r.Owner.Name, names[name], count, float64(count) / float64(n), float64(s.body[name]) / float64(max(1, m))})
	}
	slices.SortFunc(r.Instances, func(a, b Instance) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Instance, b.Instance)) })
	r.InstancesOf = instanceVerdict(r.Instances, seen, n, r.Interval)
}

func total(counts map[int32]uint64) (n uint64) {
	for _, count := range counts {
		n += count
	}
	return n
}

func instanceVerdict(list []Instance, seen int, n uint64, confidence quantile.P) InstanceVerdict {
	switch {
	case len(list) == 0:
		return ""
	case seen == 1:
		return OneInstance
	case n < leastPlaced:
		return TooFewTraces
	}
	if lower, _ := quantile.ClopperPearson(list[0].N, n, confidence); lower >= oneAbove && list[0].BodyShare <= usualBelow {
		return SlowNode
	}
	return SlowService
}
