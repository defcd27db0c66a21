package screen

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// line is a row of the table: a hop, of calls together with what serves them.
type line struct {
	*buckets.Result
	name   string
	branch string // of the tree, before the name
	async  bool
	extra  int64 // ns of the extra time of slow requests
	// atLeast: a timeout ended some of that time.
	atLeast bool
	below   []*line
	up      *line
}

// tree returns the rows in their order: callees under callers, asynchronous ones last; of
// hop logs a list. Those beyond the most are counted only.
func (b *builder) tree() []*line {
	lines, byHop := b.lines()
	if b.Sort == "" && len(b.Links) > 0 && slices.ContainsFunc(lines, func(l *line) bool { return l.Kind != spans.NoKind }) {
		b.hang(lines, byHop)
	}
	order := b.order()
	lines = b.chosen(lines, order)
	var tops []*line
	for _, l := range lines {
		if l.up == nil {
			tops = append(tops, l)
		}
	}
	var rows []*line
	slices.SortStableFunc(tops, func(x, y *line) int { return cmp.Or(cmp.Compare(asyncLast(x), asyncLast(y)), order(x, y)) })
	for _, l := range tops {
		l.name = b.Names.Of(l.Hop)
		if l.async {
			l.name += " (async)"
		}
		rows = append(rows, l)
		rows = b.unroll(rows, l, "", order)
	}
	return rows
}

func asyncLast(l *line) int {
	if l.async {
		return 1
	}
	return 0
}

// lines makes a row of every hop to show, without those that another row stands for.
func (b *builder) lines() (list []*line, byHop map[spans.Hop]*line) {
	extra := b.extraTimes()
	byHop = map[spans.Hop]*line{}
	for i := range b.Hops {
		row := &b.Hops[i]
		if b.Shows != nil && !b.Shows(row.Name) || b.standsFor(row.Hop) != row.Hop {
			continue
		}
		l := &line{Result: row, extra: extra[row.Hop].ns, atLeast: extra[row.Hop].atLeast}
		byHop[row.Hop] = l
		list = append(list, l)
	}
	return list, byHop
}

// extraTime is how much longer something takes in slow requests, or at least how much.
type extraTime struct {
	ns      int64
	atLeast bool
}

// extraTimes is how much longer the hops of each row take in slow requests.
func (b *builder) extraTimes() map[spans.Hop]extraTime {
	extra := map[spans.Hop]extraTime{}
	if b.Owner == nil {
		return extra
	}
	for i := range b.Owner.Hops {
		if h := &b.Owner.Hops[i]; !h.Gap {
			x := extra[b.standsFor(h.Hop)]
			extra[b.standsFor(h.Hop)] = extraTime{x.ns + h.Excess, x.atLeast || h.LowerBound}
		}
	}
	return extra
}

// standsFor is the hop whose row a hop is part of: a server is part of the calls that it
// serves, and who sends a message of who takes it.
func (b *builder) standsFor(h spans.Hop) spans.Hop {
	if h.Kind == spans.Producer {
		for _, l := range b.Links {
			if l.Above == h && l.Below.Kind == spans.Consumer {
				return l.Below
			}
		}
	}
	return b.Names.Call(h)
}

// hang puts each row under that of its caller.
func (b *builder) hang(lines []*line, byHop map[spans.Hop]*line) {
	for _, l := range lines {
		best := neighbors.Pair{}
		for _, k := range b.Links {
			if k.Below == l.Hop && k.Above != l.Hop && k.N > best.N {
				best = k
			}
		}
		up := byHop[b.standsFor(best.Above)]
		switch {
		case best.N == 0:
		case 2*best.Awaited < best.N || l.Kind == spans.Consumer:
			l.async = true
		case up != nil && up != l && !under(up, l):
			l.up = up
			up.below = append(up.below, l)
		}
	}
}

// under reports whether a row lies under another one.
func under(l, top *line) bool {
	for ; l != nil; l = l.up {
		if l == top {
			return true
		}
	}
	return false
}

// unroll appends what lies under a row.
func (b *builder) unroll(rows []*line, l *line, indent string, order func(x, y *line) int) []*line {
	slices.SortStableFunc(l.below, order)
	for i, c := range l.below {
		branch, next := "├ ", "│ "
		if i == len(l.below)-1 {
			branch, next = "└ ", "  "
		}
		c.branch, c.name = " "+indent+branch, b.Names.Callee(c.Hop)
		rows = append(rows, c)
		rows = b.unroll(rows, c, indent+" "+next, order)
	}
	return rows
}

var p99 = quantile.MustP("0.99")

// tailOf is the p99 as far as it is known, of hops without one the slowest.
func tailOf(r *buckets.Result) int64 {
	for i := range r.Tail {
		if r.Tail[i].P.Compare(p99) == 0 && r.Tail[i].Status != quantile.NoValue {
			return r.Tail[i].Value
		}
	}
	return max(r.Completed.First.Max, r.Truncated.First.Min)
}

// order compares rows.
func (b *builder) order() func(x, y *line) int {
	by := map[Sort]func(x, y *line) int{
		ByShare: func(x, y *line) int { return cmp.Compare(y.most(), x.most()) },
		ByP99:   func(x, y *line) int { return cmp.Compare(tailOf(y.Result), tailOf(x.Result)) },
		ByN:     func(x, y *line) int { return cmp.Compare(y.Attempts, x.Attempts) },
		ByName:  func(x, y *line) int { return cmp.Compare(b.Names.Of(x.Hop), b.Names.Of(y.Hop)) },
	}[cmp.Or(b.Sort, ByShare)]
	if b.Sort == "" && (b.Owner == nil || b.Owner.Excess <= 0) {
		by = func(x, y *line) int { return cmp.Compare(tailOf(y.Result), tailOf(x.Result)) }
	}
	return func(x, y *line) int { return cmp.Or(by(x, y), x.Hop.Compare(y.Hop)) }
}

// most is the largest extra time of a row and of those under it.
func (l *line) most() int64 {
	most := l.extra
	for _, c := range l.below {
		most = max(most, c.most())
	}
	return most
}

// chosen keeps the rows that matter most, with their callers.
func (b *builder) chosen(lines []*line, order func(x, y *line) int) []*line {
	if b.Top <= 0 || len(lines) <= b.Top {
		return lines
	}
	ranked := slices.Clone(lines)
	slices.SortStableFunc(ranked, func(x, y *line) int {
		if b.Sort == "" || b.Sort == ByShare {
			return cmp.Or(cmp.Compare(y.extra, x.extra), order(x, y))
		}
		return order(x, y)
	})
	keep := map[*line]bool{}
	for _, l := range ranked[:b.Top] {
		for ; l != nil; l = l.up {
			keep[l] = true
		}
	}
	for _, l := range lines {
		l.below = slices.DeleteFunc(l.below, func(c *line) bool { return !keep[c] })
	}
	b.left = len(lines) - len(keep)
	return slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return !keep[l] })
}
