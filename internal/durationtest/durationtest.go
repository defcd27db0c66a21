// Package durationtest makes durations for tests, and multisets of them as dumb as a
// sorted slice or a map.
package durationtest

import (
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Generators are the shapes of durations that every test against an oracle runs over.
var Generators = map[string]func(r *rand.Rand) int64{
	"constant":          func(*rand.Rand) int64 { return 1_079_000_000 },
	"zero":              func(*rand.Rand) int64 { return 0 },
	"uniform us":        func(r *rand.Rand) int64 { return r.Int64N(30_000) * 1000 },
	"wide us":           func(r *rand.Rand) int64 { return r.Int64N(7_200_000_000) * 1000 },
	"lognormal ns":      func(r *rand.Rand) int64 { return int64(2e7 * math.Exp(1.2*r.NormFloat64())) },
	"ties":              func(r *rand.Rand) int64 { return r.Int64N(5) * 10_000_000 },
	"huge":              func(r *rand.Rand) int64 { return math.MaxInt64 - r.Int64N(3) },
	"whole range":       func(r *rand.Rand) int64 { return r.Int64() },
	"us and ns mixture": Mixture,
}

// Mixture is one of whole microseconds, or any.
func Mixture(r *rand.Rand) int64 {
	if r.IntN(2) == 0 {
		return r.Int64N(2000) * 1000
	}
	return r.Int64N(5e9)
}

// Generate returns the next n values.
func Generate(n int, next func() int64) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

// UniformNanoseconds are n durations below a second.
func UniformNanoseconds(n int) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	return Generate(n, func() int64 { return r.Int64N(1e9) })
}

// LognormalMicroseconds are n durations around 20 ms.
func LognormalMicroseconds(n int) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	return Generate(n, func() int64 { return int64(20_000*math.Exp(.5*r.NormFloat64())) * 1000 })
}

// Tally is a value with its count.
type Tally struct {
	Value int64
	Count uint64
}

// Tallies lists what a walk over distinct values gives.
func Tallies(all iter.Seq2[int64, uint64]) (list []Tally) {
	for v, c := range all {
		list = append(list, Tally{v, c})
	}
	return list
}

// Oracle is a multiset as a sorted slice.
type Oracle []int64

// OracleOf sorts a copy of the values.
func OracleOf(values []int64) Oracle { return slices.Sorted(slices.Values(values)) }

// Quantile is the nearest rank with p = perMille/1000.
func (o Oracle) Quantile(perMille int) int64 { return o[max(1, (perMille*len(o)+999)/1000)-1] }

// Tallies lists the distinct values with their counts.
func (o Oracle) Tallies() (list []Tally) {
	for _, v := range o {
		if n := len(list); n > 0 && list[n-1].Value == v {
			list[n-1].Count++
		} else {
			list = append(list, Tally{v, 1})
		}
	}
	return list
}

// Multiset is a multiset as a map.
type Multiset map[int64]uint64

// Add adds all values of o.
func (m Multiset) Add(o Multiset) {
	for v, c := range o {
		m[v] += c
	}
}

// Tallies lists the values, ascending, with their counts.
func (m Multiset) Tallies() (list []Tally) {
	for _, v := range slices.Sorted(maps.Keys(m)) {
		list = append(list, Tally{v, m[v]})
	}
	return list
}

// UpTo counts the values up to a limit.
func (m Multiset) UpTo(limit int64) (n uint64) {
	for v, c := range m {
		if v <= limit {
			n += c
		}
	}
	return n
}
