package runs

import (
	"cmp"
	"slices"
)

// RankQuery asks for the values at given ranks of a union, and for its sum. Answer
// fills it.
type RankQuery struct {
	Values []int64 // in the order of the ranks; 0 at ranks beyond the union
	Sum    Sum

	of    Union
	ranks []uint64
	order []int  // positions not yet reached, by rank
	seen  uint64 // values up to here
	ahead uint64 // values in the cell at hand
}

// NewRankQuery returns a query for ranks in any order, counted from 1.
func NewRankQuery(of Union, ranks []uint64) *RankQuery {
	q := &RankQuery{of: of, ranks: ranks, Values: make([]int64, len(ranks)), order: make([]int, len(ranks))}
	for i := range q.order {
		q.order[i] = i
	}
	slices.SortFunc(q.order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return q
}

// wants reports whether a rank falls on one of the next n values.
func (q *RankQuery) wants(n uint64) bool {
	return n > 0 && len(q.order) > 0 && q.ranks[q.order[0]] <= q.seen+n
}

// take enters the next value.
func (q *RankQuery) take(value int64, count uint64) {
	q.seen += count
	for len(q.order) > 0 && q.ranks[q.order[0]] <= q.seen {
		q.Values[q.order[0]] = value
		q.order = q.order[1:]
	}
}

// Answer answers all queries in one walk over the samples that they are about, which
// reads values only where a rank falls. Like Sample.All it sorts internal buffers.
func Answer(queries ...*RankQuery) {
	w := newRankWalk(queries)
	for cell := w.cell(); cell != noCell; cell = w.cell() {
		w.look(cell)
	}
}

// rankWalk is the walk of Answer.
type rankWalk struct {
	Cursor
	queries  []*RankQuery
	bySource [][]*RankQuery // one that holds a sample twice stands twice
}

func newRankWalk(queries []*RankQuery) *rankWalk {
	w := &rankWalk{queries: queries}
	var sources []cellSource
	samples, bySample := samplesOf(queries)
	for i, s := range samples {
		sources = s.sources(sources)
		for len(w.bySource) < len(sources) {
			w.bySource = append(w.bySource, bySample[i])
		}
	}
	asOneCell(sources)
	w.Cursor = newCursor(sources)
	return w
}

// samplesOf lists the samples that are asked about, each once, with its queries.
func samplesOf(queries []*RankQuery) (samples []*Sample, bySample [][]*RankQuery) {
	for _, q := range queries {
		for _, s := range q.of {
			if s.N() == 0 {
				continue
			}
			i := slices.Index(samples, s)
			if i < 0 {
				i = len(samples)
				samples, bySample = append(samples, s), append(bySample, make([]*RankQuery, 0, 4))
			}
			bySample[i] = append(bySample[i], q)
		}
	}
	return samples, bySample
}

// look passes over a cell, and reads it for the queries that ask for one of its
// values.
func (w *rankWalk) look(cell int64) {
	w.into(cell)
	for _, i := range w.inside {
		count, sum := w.sources[i].skim()
		for _, q := range w.bySource[i] {
			q.ahead += count
			q.Sum = q.Sum.Plus(sum)
		}
	}
	for _, q := range w.queries {
		if q.wants(q.ahead) {
			w.read(q)
		} else {
			q.seen += q.ahead
		}
		q.ahead = 0
	}
}

// read looks through the cell that was passed over for the values that a query asks
// for.
func (w *rankWalk) read(q *RankQuery) {
	for _, i := range w.inside {
		for _, one := range w.bySource[i] {
			if one == q {
				w.open.add(w.sources[i].again())
			}
		}
	}
	w.open.order()
	for v, c, ok := w.open.next(); ok; v, c, ok = w.open.next() {
		q.take(v, c)
	}
}
