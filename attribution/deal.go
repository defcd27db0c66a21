package attribution

import "github.com/tailscope/tailscope/internal/durations"

// deal adds up the times of one side's traces by unit and hop, in the units of a
// side with more than mostUnits traces: most sides have, and then need not be gone
// through once more. It is nil where there are too many hops to do so for all.
type deal struct {
	rows int     // the hops, and one for all together
	sums []int64 // ns, by unit, then row
}

func newDeal(hops int) *deal {
	if hops > mostDealt {
		return nil
	}
	return &deal{hops + 1, make([]int64, (hops+1)*mostUnits)}
}

func (d *deal) add(t *trip, times *hopTimes) {
	if d == nil {
		return
	}
	unit := d.sums[int(t.group%mostUnits)*d.rows:][:d.rows]
	for _, hop := range times.hops {
		unit[hop] = durations.Sum(unit[hop], times.perHop[hop])
	}
	unit[d.rows-1] = durations.Sum(unit[d.rows-1], t.total)
}

func (d *deal) merge(o *deal) {
	if d == nil {
		return
	}
	for i, ns := range o.sums {
		d.sums[i] = durations.Sum(d.sums[i], ns)
	}
}

// into fills a side; hops are those of its rows. It is false where the side has
// other units.
func (d *deal) into(s *side, hops []int32, traces uint64) bool {
	if d == nil || traces <= mostUnits {
		return false
	}
	filled := make([]bool, len(s.count))
	for g, u := range s.index {
		if u < 0 || filled[u] {
			continue
		}
		filled[u] = true
		unit := d.sums[g%mostUnits*d.rows:][:d.rows]
		for row, hop := range hops {
			s.sums[row][u] = unit[hop]
		}
		s.sums[len(hops)][u] = unit[d.rows-1]
	}
	return true
}
