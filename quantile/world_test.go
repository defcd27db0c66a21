package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
)

// sampleOf returns a sample of the values.
func sampleOf(values ...int64) *Sample {
	s := new(Sample)
	for _, v := range values {
		s.Add(v)
	}
	return s
}

func uniformNanoseconds(n int) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	return generate(n, func() int64 { return r.Int64N(1e9) })
}

func lognormalMicroseconds(n int) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	return generate(n, func() int64 { return int64(20_000*math.Exp(.5*r.NormFloat64())) * 1000 })
}

func generate(n int, next func() int64) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

// generators are the shapes of durations that every oracle test runs over.
var generators = map[string]func(r *rand.Rand) int64{
	"constant":          func(*rand.Rand) int64 { return 1_079_000_000 },
	"zero":              func(*rand.Rand) int64 { return 0 },
	"uniform us":        func(r *rand.Rand) int64 { return r.Int64N(30_000) * 1000 },
	"wide us":           func(r *rand.Rand) int64 { return r.Int64N(7_200_000_000) * 1000 },
	"lognormal ns":      func(r *rand.Rand) int64 { return int64(2e7 * math.Exp(1.2*r.NormFloat64())) },
	"ties":              func(r *rand.Rand) int64 { return r.Int64N(5) * 10_000_000 },
	"huge":              func(r *rand.Rand) int64 { return math.MaxInt64 - r.Int64N(3) },
	"whole range":       func(r *rand.Rand) int64 { return r.Int64() },
	"us and ns mixture": mixture,
}

func mixture(r *rand.Rand) int64 {
	if r.IntN(2) == 0 {
		return r.Int64N(2000) * 1000
	}
	return r.Int64N(5e9)
}

// oracle is the multiset as dumb as a sorted slice.
type oracle []int64

func oracleOf(values []int64) oracle {
	o := slices.Clone(values)
	slices.Sort(o)
	return o
}

// quantile is the nearest rank with p = perMille/1000.
func (o oracle) quantile(perMille int) int64 {
	return o[max(1, (perMille*len(o)+999)/1000)-1]
}

func (o oracle) tallies() []tally {
	var t []tally
	for _, v := range o {
		if n := len(t); n > 0 && t[n-1].value == v {
			t[n-1].count++
		} else {
			t = append(t, tally{v, 1})
		}
	}
	return t
}

func talliesOf(u Union) []tally {
	var t []tally
	for v, c := range u.All() {
		t = append(t, tally{v, c})
	}
	return t
}
