package calls

import (
	"errors"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// following is what the calls of a pair tell in the order in which they were made.
type following struct {
	next           grid         // a call's gap above the floor, and the next call's
	waited, beside quantile.Sum // twice the sums over the slow calls: of their gaps above the floor; of what their neighbours waited too
}

// follow walks over the calls of a pair in the order of their start. Neighbours are
// looked for in a scope.
func (s *study) follow(p *pair, scope int) (*following, error) {
	f, last := &following{}, int32(-1)
	groups := map[int32]*neighbours{}
	err := s.eachCall(p, func(m *moment) {
		at := s.placeOf(m)
		cut := at.cut(m)
		gap := at.gapOf(m, cut)
		above := max(0, gap-at.floors.gap)
		now := step(above)
		if last >= 0 {
			f.next.add(last, now)
		}
		last = now
		key := [scopes]int32{0, m.instance, m.caller}[scope]
		if groups[key] == nil {
			groups[key] = &neighbours{}
		}
		groups[key].add(waiting{above, p.slowCall(gap, m.work, cut)}, f)
	})
	for _, g := range groups {
		g.close(f)
	}
	return f, err
}

// eachCall goes through the calls of a pair in the order of their start.
func (s *study) eachCall(p *pair, visit func(*moment)) error {
	var l log
	var failed error
	err := s.log.any(func(m *moment) {
		if m.call != p.call || failed != nil {
			return
		}
		if l.add(*m); len(s.log.runs) > 0 && l.held >= s.most {
			failed = l.writeOut(s.file, byStart)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return l.each(byStart, visit)
}

// waiting is what a call waited above the floor, in ns.
type waiting struct {
	above int64
	slow  bool
}

// beside is how many neighbours a call has on either side.
const beside = 2

// neighbours are the latest calls of a scope.
type neighbours struct {
	list []waiting // up to five
	seen int       // how many of them were looked at
}

func (n *neighbours) add(w waiting, f *following) {
	if len(n.list) == 2*beside+1 {
		copy(n.list, n.list[1:])
		n.list, n.seen = n.list[:2*beside], n.seen-1
	}
	n.list = append(n.list, w)
	for n.seen+beside < len(n.list) {
		n.look(f)
	}
}

func (n *neighbours) close(f *following) {
	for n.seen < len(n.list) {
		n.look(f)
	}
}

// look sums up what the next slow call waited, and what it has in common with its
// neighbours: no more than the median of theirs.
func (n *neighbours) look(f *following) {
	i := n.seen
	n.seen++
	if !n.list[i].slow {
		return
	}
	var others [2 * beside]int64
	k := 0
	for j := max(0, i-beside); j < min(len(n.list), i+beside+1); j++ {
		if j != i {
			others[k] = n.list[j].above
			k++
		}
	}
	f.waited.Add(n.list[i].above, 2)
	if k > 0 {
		slices.Sort(others[:k])
		f.beside.Add(min(n.list[i].above, others[(k-1)/2]), 1)
		f.beside.Add(min(n.list[i].above, others[k/2]), 1)
	}
}
