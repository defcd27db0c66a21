package attribution

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// Names of one kind are held against each other: a server that answered under the
// name of its host and one that did not under its address would look like two. So
// the instances of a hop are named by the kind of name that most traces have.
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
	switch n {
	case byNamed:
		return p.named
	case byCaller:
		return max(0, -p.process)
	}
	return max(0, p.process)
}

// sides counts traces of the tail and the body by the name of an instance.
type sides struct{ tail, body map[int32]uint64 }

// add counts a trace of which an instance is known.
func (c *sides) add(t *traceRecord, name int32, s *split) {
	if s.inTail(t) {
		c.tail[name]++
	}
	if s.inBody(t) {
		c.body[name]++
	}
}

// instancesOf says on which instances the owner's time was, in tail and body.
func (a *Accumulator) instancesOf(r *Result, s *split) {
	if r.Owner == nil || len(a.table.names) == 1 || a.table.crowded() {
		return
	}
	all := a.sidesOf(a.table.index.Number(*r.Owner), s)
	best := &all[0]
	for i := range all {
		if all[i].traces() > best.traces() {
			best = &all[i]
		}
	}
	r.listInstances(best, a.table.names)
}

// sidesOf counts the traces by the instances of a hop, for each kind of name.
func (a *Accumulator) sidesOf(hop int32, s *split) (all [namings]sides) {
	for n := range all {
		all[n] = sides{map[int32]uint64{}, map[int32]uint64{}}
	}
	var times times
	a.each(func(t *traceRecord) {
		for n := range namings {
			if name := a.table.longest(&times, t, hop, n); name > 0 {
				all[n].add(t, name, s)
			}
		}
	})
	return all
}

func (s *sides) traces() uint64 { return total(s.tail) + total(s.body) }

// longest returns the instance on which a hop spent most of its time in a trace, by
// one kind of name, of as much the first; -1 where it took none, or none is known.
func (t *table) longest(x *times, r *traceRecord, hop int32, n naming) int32 {
	x.clear()
	for _, e := range r.entries {
		if p := &t.parts[e.part]; p.hop == hop && n.of(p.place) > 0 {
			x.add(n.of(p.place), e.ns)
		}
	}
	return x.largest(func(a, b int32) int { return cmp.Compare(t.names[a], t.names[b]) })
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
