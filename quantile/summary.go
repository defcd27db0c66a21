package quantile

import (
	"iter"
	"math/bits"

	"github.com/tailscope/tailscope/internal/jsontype"
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

func (u Union) walk() joint {
	sources := make([]source, 0, len(u))
	for _, s := range u {
		sources = s.sources(sources)
	}
	return newJoint(sources)
}

// UpTo returns how many values of all samples are at most limit nanoseconds.
// Like All it sorts internal buffers.
func (u Union) UpTo(limit int64) uint64 {
	w := u.walk()
	return w.upTo(limit)
}

// Sum is an unsigned 128-bit sum of nanoseconds: Hi*2^64 + Lo.
type Sum struct{ Hi, Lo uint64 }

func (s *Sum) add(value int64, count uint64) {
	hi, lo := bits.Mul64(uint64(value), count)
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, lo, 0)
	s.Hi += hi + carry
}

// times returns the sum of s taken n times over.
func (s Sum) times(n uint64) Sum {
	hi, lo := bits.Mul64(s.Lo, n)
	return Sum{hi + s.Hi*n, lo}
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
	Asked          []P     // those, and maybe more behind them
	// Biased: the values were chosen by what they are, so that the mean and the
	// quantiles have no value.
	Biased bool
}

// Point is one quantile of a sample.
type Point struct {
	P     P     `json:"p"`
	Value int64 `json:"value_ns"`
}

// Points returns the quantiles with their probabilities.
func (s Summary) Points() jsontype.List[Point] {
	points := make([]Point, min(len(s.Asked), len(s.Quantiles)))
	for i := range points {
		points[i] = Point{s.Asked[i], s.Quantiles[i]}
	}
	return points
}

// MarshalJSON writes what has no value as null.
func (s Summary) MarshalJSON() ([]byte, error) {
	known := s.N > 0
	return jsontype.Object{
		"n", s.N, "mean_ns", jsontype.If(known && !s.Biased, s.Mean),
		"min_ns", jsontype.If(known, s.Min), "max_ns", jsontype.If(known, s.Max), "quantiles", s.Points(),
	}.MarshalJSON()
}

// Summarize describes the values of u. The probabilities may come in any order.
func Summarize(u Union, ps []P) Summary { return SummarizeEach([]Union{u}, ps)[0] }

// SummarizeEach describes several unions, which may share samples, in one walk
// over all of them.
func SummarizeEach(unions []Union, ps []P) []Summary {
	summaries := make([]Summary, len(unions))
	var inquiries []*inquiry
	for i, u := range unions {
		if summaries[i].N = u.N(); summaries[i].N > 0 {
			inquiries = append(inquiries, newInquiry(u, ranksOf(summaries[i].N, ps)))
		}
	}
	answer(inquiries...)
	for i := range summaries {
		if summaries[i].N > 0 {
			summaries[i].fill(inquiries[0])
			summaries[i].Asked = ps
			inquiries = inquiries[1:]
		}
	}
	return summaries
}

// ranksOf returns the first rank, the last, and those of the quantiles.
func ranksOf(n uint64, ps []P) []uint64 {
	ranks := append(make([]uint64, 0, 2+len(ps)), 1, n)
	for _, p := range ps {
		ranks = append(ranks, p.Rank(n))
	}
	return ranks
}

func (s *Summary) fill(from *inquiry) {
	values := from.values
	s.Min, s.Max, s.Quantiles = values[0], values[1], values[2:]
	s.Sum, s.Mean = from.sum, from.sum.mean(s.N)
}
