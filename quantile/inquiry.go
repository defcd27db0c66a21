package quantile

import (
	"cmp"
	"slices"
)

// inquiry asks for the values at given ranks of a union, and for its sum.
type inquiry struct {
	of Union
	picker
	sum   Sum
	ahead uint64 // values in the cell at hand
}

func newInquiry(of Union, ranks []uint64) *inquiry {
	return &inquiry{of: of, picker: newPicker(ranks)}
}

// inquest answers inquiries in one walk over the samples that they ask about.
type inquest struct {
	joint
	inquiries []*inquiry
	askers    [][]*inquiry // by source; one that holds a sample twice stands twice
}

// answer answers all inquiries.
func answer(inquiries ...*inquiry) {
	q := newInquest(inquiries)
	for cell := q.cell(); cell != noCell; cell = q.cell() {
		q.look(cell)
	}
}

func newInquest(inquiries []*inquiry) *inquest {
	q := &inquest{inquiries: inquiries}
	var sources []source
	samples, askers := samplesOf(inquiries)
	for i, s := range samples {
		sources = s.sources(sources)
		for len(q.askers) < len(sources) {
			q.askers = append(q.askers, askers[i])
		}
	}
	asOneCell(sources)
	q.joint = newJoint(sources)
	return q
}

// samplesOf lists the samples that are asked about, each once, and who asks.
func samplesOf(inquiries []*inquiry) (samples []*Sample, askers [][]*inquiry) {
	for _, one := range inquiries {
		for _, s := range one.of {
			if s.N() == 0 {
				continue
			}
			i := slices.Index(samples, s)
			if i < 0 {
				i = len(samples)
				samples, askers = append(samples, s), append(askers, make([]*inquiry, 0, 4))
			}
			askers[i] = append(askers[i], one)
		}
	}
	return samples, askers
}

// look passes over a cell, and reads it for the inquiries that ask for one of
// its values.
func (q *inquest) look(cell int64) {
	q.into(cell)
	for _, i := range q.inside {
		count, sum := q.sources[i].skim()
		for _, one := range q.askers[i] {
			one.ahead += count
			one.sum = one.sum.plus(sum)
		}
	}
	for _, one := range q.inquiries {
		if one.wants(one.ahead) {
			q.read(one)
		} else {
			one.seen += one.ahead
		}
		one.ahead = 0
	}
}

// read looks through the cell that was passed over for the values that one
// inquiry asks for.
func (q *inquest) read(one *inquiry) {
	for _, i := range q.inside {
		for _, asker := range q.askers[i] {
			if asker == one {
				q.open.add(q.sources[i].again())
			}
		}
	}
	q.open.order()
	for v, c, ok := q.open.next(); ok; v, c, ok = q.open.next() {
		one.feed(v, c)
	}
}

// picker takes the values at given ranks out of one ascending walk.
type picker struct {
	ranks  []uint64
	values []int64 // in the order of ranks
	order  []int   // positions not yet reached, by rank
	seen   uint64
}

func newPicker(ranks []uint64) picker {
	p := picker{ranks: ranks, values: make([]int64, len(ranks)), order: make([]int, len(ranks))}
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return p
}

// wants reports whether a rank falls on one of the next n values.
func (p *picker) wants(n uint64) bool {
	return n > 0 && len(p.order) > 0 && p.ranks[p.order[0]] <= p.seen+n
}

func (p *picker) feed(value int64, count uint64) {
	p.seen += count
	for len(p.order) > 0 && p.ranks[p.order[0]] <= p.seen {
		p.values[p.order[0]] = value
		p.order = p.order[1:]
	}
}
