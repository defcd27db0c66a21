package attribution

import "github.com/tailscope/tailscope/internal/durations"

// unitTimes adds up the times of one side's traces by unit and hop, in the units of a
// side with more than mostUnits traces: most sides have, and then need not be gone
// through once more. It is nil where there are too many hops to do so for all.
type unitTimes struct {
	rows int     // the hops, and one for all together
	sums []int64 // ns, by unit, then row
}

func newUnitTimes(hops int) *unitTimes {
	if hops > mostUnitHops {
		return nil
	}
	return &unitTimes{hops + 1, make([]int64, (hops+1)*mostUnits)}
}

func (u *unitTimes) add(t *trip, times *hopTimes) {
	if u == nil {
		return
	}
	unit := u.sums[int(t.group%mostUnits)*u.rows:][:u.rows]
	for _, hop := range times.hops {
		unit[hop] = durations.Sum(unit[hop], times.perHop[hop])
	}
	unit[u.rows-1] = durations.Sum(unit[u.rows-1], t.total)
}

func (u *unitTimes) merge(o *unitTimes) {
	if u == nil {
		return
	}
	for i, ns := range o.sums {
		u.sums[i] = durations.Sum(u.sums[i], ns)
	}
}

// into fills a side; hops are those of its rows. It is false where the side has
// other units.
func (u *unitTimes) into(s *side, hops []int32, traces uint64) bool {
	if u == nil || traces <= mostUnits {
		return false
	}
	filled := make([]bool, len(s.count))
	for g, at := range s.index {
		if at < 0 || filled[at] {
			continue
		}
		filled[at] = true
		unit := u.sums[g%mostUnits*u.rows:][:u.rows]
		for row, hop := range hops {
			s.sums[row][at] = unit[hop]
		}
		s.sums[len(hops)][at] = unit[u.rows-1]
	}
	return true
}
