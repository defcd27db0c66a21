package quantile

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// Union reads several samples as one. Nil samples are empty.
type Union []*Sample

// N returns the number of values in all samples.
func (u Union) N() uint64 {
	var n uint64
	for _, s := range u {
		n += s.N()
	}
	return n
}

// All yields the distinct values of all samples in ascending order, each with
// its count over the samples. Like Sample.All it sorts internal buffers.
func (u Union) All() iter.Seq2[int64, uint64] {
	return func(yield func(int64, uint64) bool) {
		w := u.walk()
		for v, c, ok := w.next(); ok; v, c, ok = w.next() {
			if !yield(v, c) {
				return
			}
		}
	}
}

func (u Union) walk() *walker {
	var sources []source
	for _, s := range u {
		sources = s.sources(sources)
	}
	return newWalker(sources)
}

// Sum is an unsigned 128-bit sum of nanoseconds: Hi*2^64 + Lo.
type Sum struct{ Hi, Lo uint64 }

func (s *Sum) add(value int64, count uint64) {
	hi, lo := bits.Mul64(uint64(value), count)
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, lo, 0)
	s.Hi += hi + carry
}

// mean returns the sum over n, rounded half up. n is not 0, and as every
// value is below 2^63 the quotient fits.
func (s Sum) mean(n uint64) int64 {
	lo, carry := bits.Add64(s.Lo, n/2, 0)
	q, _ := bits.Div64(s.Hi+carry, lo, n)
	return int64(q)
}

// Summary describes a sample; durations are in nanoseconds. All fields are
// zero when N is 0.
type Summary struct {
	N              uint64
	Mean, Min, Max int64 // Mean is rounded half up
	Sum            Sum
	Quantiles      []int64 // nearest rank, in the order they were asked for
}

// Summarize describes the values of u in one walk. The probabilities may come
// in any order.
func Summarize(u Union, ps []P) Summary {
	s := newSummarizer(u.N(), ps)
	for v, c := range u.All() {
		s.feed(v, c)
	}
	return s.summary()
}

// SummarizeParts describes two unions that share no sample, and both together,
// in one walk over each.
func SummarizeParts(a, b Union, ps []P) (ofA, ofB, ofBoth Summary) {
	left, right, both := newSummarizer(a.N(), ps), newSummarizer(b.N(), ps), newSummarizer(a.N()+b.N(), ps)
	w, x := a.walk(), b.walk()
	v, c, more := w.next()
	u, d, others := x.next()
	for more || others {
		if more && (!others || v <= u) {
			left.feed(v, c)
			both.feed(v, c)
			v, c, more = w.next()
			continue
		}
		right.feed(u, d)
		both.feed(u, d)
		u, d, others = x.next()
	}
	return left.summary(), right.summary(), both.summary()
}

// summarizer makes a summary of n values, which it is fed in ascending order.
type summarizer struct {
	sofar Summary
	pick  *picker
}

func newSummarizer(n uint64, ps []P) *summarizer {
	ranks := make([]uint64, len(ps))
	for i, p := range ps {
		ranks[i] = p.Rank(n)
	}
	return &summarizer{Summary{N: n}, newPicker(ranks)}
}

func (s *summarizer) feed(value int64, count uint64) {
	if s.pick.seen == 0 {
		s.sofar.Min = value
	}
	s.sofar.Max = value
	s.sofar.Sum.add(value, count)
	s.pick.feed(value, count)
}

func (s *summarizer) summary() Summary {
	if s.sofar.N == 0 {
		return Summary{}
	}
	s.sofar.Mean, s.sofar.Quantiles = s.sofar.Sum.mean(s.sofar.N), s.pick.values
	return s.sofar
}

// picker takes the values at given ranks out of one ascending walk.
type picker struct {
	ranks  []uint64
	values []int64 // in the order of ranks
	order  []int   // positions not yet reached, by rank
	seen   uint64
}

func newPicker(ranks []uint64) *picker {
	p := &picker{ranks: ranks, values: make([]int64, len(ranks)), order: make([]int, len(ranks))}
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return p
}

func (p *picker) feed(value int64, count uint64) {
	p.seen += count
	for len(p.order) > 0 && p.ranks[p.order[0]] <= p.seen {
		p.values[p.order[0]] = value
		p.order = p.order[1:]
	}
}

func (p *picker) done() bool { return len(p.order) == 0 }
