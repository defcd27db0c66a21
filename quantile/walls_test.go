package quantile

import (
	"math"
	"slices"
	"testing"
)

const ms = 1_000_000

func TestInferWalls(t *testing.T) {
	repeat := func(v int64, n uint64) *Sample {
		s := new(Sample)
		s.AddN(v, n)
		return s
	}
	for _, c := range []struct {
		name            string
		completed, cuts Union
		want            []Wall
	}{
		{"nothing", nil, nil, nil},
		{"one wall", Union{sampleOf(10*ms, 2026*ms, 9000*ms)}, Union{sampleOf(5703*ms, 5704*ms, 5710*ms, 5750*ms, 5800*ms)},
			[]Wall{{From: 2026 * ms, To: 5703 * ms, Count: 5, SlowestCut: 5800 * ms, Outlasted: 1}}},
		{"four cuts are too few", nil, Union{repeat(5000*ms, 4)}, nil},
		{"nothing completed", nil, Union{repeat(5000*ms, 5)}, []Wall{{To: 5000 * ms, Count: 5, SlowestCut: 5000 * ms}}},
		{"two walls", Union{sampleOf(900*ms, 1000*ms, 2900*ms)}, Union{repeat(1000*ms, 6), repeat(1010*ms, 1), repeat(3000*ms, 7)},
			[]Wall{{1000 * ms, 1000 * ms, 7, 1010 * ms, 1}, {2900 * ms, 3000 * ms, 7, 3000 * ms, 0}}},
		{"scattered deadlines", nil, Union{sampleOf(1000*ms, 1015*ms, 1030*ms, 1045*ms, 1060*ms, 1075*ms, 1090*ms, 1105*ms, 1120*ms, 1135*ms, 1151*ms)}, nil},
		{"as wide as 1.15", nil, Union{sampleOf(1000*ms, 1020*ms, 1040*ms, 1060*ms, 1080*ms, 1100*ms, 1120*ms, 1140*ms, 1150*ms)},
			[]Wall{{To: 1000 * ms, Count: 9, SlowestCut: 1150 * ms}}},
		{"a gap of 2 % joins", nil, Union{repeat(1000*ms, 4), repeat(1020*ms, 1)}, []Wall{{To: 1000 * ms, Count: 5, SlowestCut: 1020 * ms}}},
		{"more parts", nil, Union{repeat(1000*ms, 4), repeat(1020*ms+1, 1)}, nil},
		{"a gap of 1 ms joins short ones", nil, Union{repeat(10*ms, 4), repeat(11*ms, 1)}, []Wall{{To: 10 * ms, Count: 5, SlowestCut: 11 * ms}}},
		{"cuts at 0 prove no timeout", nil, Union{repeat(0, 9)}, nil},
		{"a long wall does not overflow", Union{sampleOf(math.MaxInt64)}, Union{repeat(math.MaxInt64-1, 9)},
			[]Wall{{To: math.MaxInt64 - 1, Count: 9, SlowestCut: math.MaxInt64 - 1, Outlasted: 1}}},
		// A real wall of 300 ms: cuts lie a little below and above it.
		{"around the timeout", Union{sampleOf(299*ms, 299_994_000)}, Union{sampleOf(299_993_000, 300*ms, 300_100_000, 301*ms, 303_351_000)},
			[]Wall{{299 * ms, 299_993_000, 5, 303_351_000, 0}}},
	} {
		if got := InferWalls(c.completed, c.cuts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
