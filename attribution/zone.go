package attribution

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
)

// Where the tail begins and where the body ends is drawn with the traces: each resample
// has its own. It lies a few ranks away from where it lies in all, so the traces near
// there are kept, to go over to a side or to leave it.

// zones are near the tail's shortest and near the body's longest.
type zones struct{ tail, body zone }

// zone is the traces of a range of end-to-end times, in ns.
type zone struct {
	from, to int64
	kept     map[zoneKey]*zoned
	room     []hopTime
}

// zoneKey tells apart what is drawn: traces of one group with one time go together.
type zoneKey struct {
	total int64
	group uint16
}

// zoned is the traces of one key.
type zoned struct {
	zoneKey
	n      uint32 // those that do not fail; one that fails is in the tail anyway, and in no body
	failed uint32
	times  []hopTime // of those that do not fail, of one hop there may be several
	hops   int       // with times when they were added up
}

type hopTime struct {
	hop int32
	ns  int64
}

// zoneErrors is how many standard errors of its rank a quantile may be away.
const zoneErrors = 5

// zonesOf returns those of so many traces, still empty.
func (a *Accumulator) zonesOf(tailFrom quantile.P, n uint64) (z zones) {
	if n == 0 {
		return z
	}
	tail, body := zoneRanks(tailFrom, n), zoneRanks(half, n)
	at := quantile.Union{&a.total}.At(tail[0], tail[1], body[0], body[1])
	return zones{zone{from: at[0], to: at[1]}, zone{from: at[2], to: at[3]}}
}

// zoneRanks returns the ranks between which that of a quantile lies in resamples.
func zoneRanks(p quantile.P, n uint64) [2]uint64 {
	k := p.Rank(n)
	apart := 2 + uint64(zoneErrors*math.Sqrt(float64(n)*p.Float()*p.Beyond()))
	return [2]uint64{k - min(apart, k-1), min(k+apart, n)}
}

// another returns zones of the same ranges for another goroutine.
func (z zones) another() zones {
	empty := func(of zone) zone { return zone{from: of.from, to: of.to, kept: map[zoneKey]*zoned{}} }
	return zones{empty(z.tail), empty(z.body)}
}

func (z *zones) add(t *traceRecord, times *times) {
	z.tail.add(t, times)
	z.body.add(t, times)
}

func (z *zones) merge(o *zones) {
	z.tail.merge(&o.tail)
	z.body.merge(&o.body)
}

func (z *zone) add(t *traceRecord, times *times) {
	if t.total < z.from || t.total > z.to {
		return
	}
	at := z.at(zoneKey{t.total, t.group})
	if t.fails {
		at.failed++
		return
	}
	at.n++
	z.room = z.room[:0]
	for _, hop := range times.used {
		z.room = append(z.room, hopTime{hop, times.ns[hop]})
	}
	at.take(z.room)
}

func (z *zone) at(key zoneKey) *zoned {
	at := z.kept[key]
	if at == nil {
		at = &zoned{zoneKey: key}
		z.kept[key] = at
	}
	return at
}

// take adds times; where they are no longer few they become one for each hop.
func (z *zoned) take(list []hopTime) {
	z.times = append(z.times, list...)
	if len(z.times) > max(manyTimes, 2*z.hops) {
		z.times = summed(z.times)
		z.hops = len(z.times)
	}
}

// manyTimes is how many times are kept before those of one hop are added up.
const manyTimes = 16

// summed adds up the times of each hop.
func summed(list []hopTime) []hopTime {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b hopTime) int { return cmp.Compare(a.hop, b.hop) })
	last := 0
	for _, t := range list[1:] {
		if t.hop == list[last].hop {
			list[last].ns = durations.Sum(list[last].ns, t.ns)
			continue
		}
		last++
		list[last] = t
	}
	return list[:last+1]
}

func (z *zone) merge(o *zone) {
	for key, from := range o.kept {
		at := z.at(key)
		at.n += from.n
		at.failed += from.failed
		at.take(from.times)
	}
}

// border is traces that may be on either side, as they are drawn together.
type border struct {
	zoneKey
	unit      int32
	n, traces float64 // that may change sides, and all that count for ranks
	cells     []cell  // times of the former
}

// sorted lists what is kept by time, then group. Times of hops are those of rows, one more
// than which stands for each; the row all is that of all hops together.
func (z *zone) sorted(row []int32, all int32, u units) (list []border) {
	for key, from := range z.kept {
		b := border{zoneKey: key, unit: u.index[key.group], n: float64(from.n), traces: float64(from.n + from.failed)}
		for _, t := range summed(from.times) {
			if k := row[t.hop]; k > 0 {
				b.cells = append(b.cells, cell{k - 1, float64(t.ns)})
			}
		}
		b.cells = append(b.cells, cell{all, float64(key.total) * b.n})
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b border) int {
		return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.group, b.group))
	})
	return list
}

// edge is where one side ends. What is near stands in the order in which it comes to the
// other side, or to this one, as the edge moves.
type edge struct {
	within, beyond []border
}

func tailEdge(near []border, from int64) edge {
	at, _ := slices.BinarySearchFunc(near, from, func(b border, ns int64) int { return cmp.Compare(b.total, ns) })
	beyond := slices.Clone(near[:at])
	slices.Reverse(beyond)
	return edge{near[at:], beyond}
}

func bodyEdge(near []border, to int64) edge {
	at, found := slices.BinarySearchFunc(near, to, func(b border, ns int64) int { return cmp.Compare(b.total, ns) })
	for found && at < len(near) && near[at].total == to {
		at++
	}
	within := slices.Clone(near[:at])
	slices.Reverse(within)
	return edge{within, near[at:]}
}

// move puts the edge where a resample has it: as far in as leaves need traces, counted by
// how often each unit was drawn, on this side, of those that have lain there. It returns by
// how many the traces of the side change, and changes their times by row.
func (e *edge) move(drawn []uint16, have, need float64, total []float64) (more float64) {
	for near := e.within; len(near) > 0; {
		level, n := firstLevel(near, drawn)
		if have-n < need {
			break
		}
		have -= n
		more -= carry(near[:level], drawn, -1, total)
		near = near[level:]
	}
	for near := e.beyond; have < need && len(near) > 0; {
		level, n := firstLevel(near, drawn)
		have += n
		more += carry(near[:level], drawn, 1, total)
		near = near[level:]
	}
	return more
}

// firstLevel returns how many of near have the first one's time, and how many traces they
// were drawn as.
func firstLevel(near []border, drawn []uint16) (level int, n float64) {
	for level < len(near) && near[level].total == near[0].total {
		n += float64(drawn[near[level].unit]) * near[level].traces
		level++
	}
	return level, n
}

// carry adds the times of some traces, times a sign, and returns how many they are.
func carry(level []border, drawn []uint16, sign float64, total []float64) (traces float64) {
	for i := range level {
		n := float64(drawn[level[i].unit])
		if n == 0 {
			continue
		}
		traces += n * level[i].n
		for _, c := range level[i].cells {
			total[c.row] += float64(c.ns * n * sign)
		}
	}
	return traces
}
