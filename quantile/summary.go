package quantile

import (
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile/runs"
)

// What holds durations, and sums of them: see package runs.
type (
	Sample = runs.Sample
	Store  = runs.Store
	Union  = runs.Union
	Sum    = runs.Sum
)

// NewStore is runs.NewStore.
func NewStore(limit int64, dir string) *Store { return runs.NewStore(limit, dir) }

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
	var queries []*runs.RankQuery
	for i, u := range unions {
		if summaries[i].N = u.N(); summaries[i].N > 0 {
			queries = append(queries, runs.NewRankQuery(u, ranksOf(summaries[i].N, ps)))
		}
	}
	runs.Answer(queries...)
	for i := range summaries {
		if summaries[i].N > 0 {
			summaries[i].fill(queries[0])
			summaries[i].Asked = ps
			queries = queries[1:]
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

func (s *Summary) fill(from *runs.RankQuery) {
	values := from.Values
	s.Min, s.Max, s.Quantiles = values[0], values[1], values[2:]
	s.Sum, s.Mean = from.Sum, from.Sum.Mean(s.N)
}
