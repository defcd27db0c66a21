package runs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
)

func BenchmarkAddDenseMicroseconds(b *testing.B) {
	values := durationtest.LognormalMicroseconds(1 << 16)
	var s Sample
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(values[i&(1<<16-1)])
	}
	b.ReportMetric(float64(s.heldBytes())/float64(s.N()), "held-B/value")
}

// logHop is a hop of a log: lognormal durations.
type logHop struct{ median, sigma float64 }

var logHops = []logHop{
	{80e6, .9}, {3e6, .6}, {28e6, .9}, {25e6, .9}, {9e6, .7}, {6e6, .7},
	{140e6, .8}, {60e6, 1}, {40e6, .8}, {200e6, .6}, {50e6, 1.1}, {350e6, .7},
}

// logOf makes n durations of hops in turn, in whole units of so many ns.
func logOf(n int, unit int64) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(unit)))
	i := 0
	return durationtest.Generate(n, func() int64 {
		h := logHops[i%len(logHops)]
		i++
		ns := int64(h.median * math.Exp(h.sigma*r.NormFloat64()))
		return ns - ns%unit
	})
}

// BenchmarkAddLog adds what a log of twelve hops holds, far more than a cache.
func BenchmarkAddLog(b *testing.B) {
	const kept = 3 << 20 // a multiple of the hops
	for name, unit := range map[string]int64{"us": microsecond, "ns": 1} {
		b.Run(name, func(b *testing.B) {
			log := logOf(kept, unit)
			dir := b.TempDir()
			st := storeIn(b, 32<<20, dir)
			var samples [12]*Sample
			for i := range samples {
				samples[i] = st.New()
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				samples[i%12].Add(log[i])
				if i++; i == kept {
					i = 0
				}
			}
			b.ReportMetric(float64(st.held)/float64(b.N), "held-B/value")
			b.ReportMetric(float64(spilltest.Bytes(b, dir))/float64(b.N), "file-B/value")
		})
	}
}

func BenchmarkAddNanoseconds(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var s Sample
	b.ReportAllocs()
	for b.Loop() {
		s.Add(r.Int64N(1e9))
	}
	b.ReportMetric(float64(s.heldBytes())/float64(s.N()), "held-B/value")
}

func BenchmarkMergeNanoseconds(b *testing.B) {
	benchmarkMerge(b, durationtest.UniformNanoseconds(100_000))
}

func BenchmarkMergeMicroseconds(b *testing.B) {
	benchmarkMerge(b, durationtest.LognormalMicroseconds(100_000))
}

func benchmarkMerge(b *testing.B, values []int64) {
	left, right := sampleOf(values...), sampleOf(values...)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		l, r := left.Clone(), right.Clone()
		b.StartTimer()
		l.Merge(r)
	}
}

func BenchmarkAllNanoseconds(b *testing.B) {
	benchmarkAll(b, durationtest.UniformNanoseconds(1_000_000))
}

func BenchmarkAllMicroseconds(b *testing.B) {
	benchmarkAll(b, durationtest.LognormalMicroseconds(1_000_000))
}

func benchmarkAll(b *testing.B, values []int64) {
	s := sampleOf(values...)
	b.ReportAllocs()
	for b.Loop() {
		for range s.All() {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
}

// BenchmarkWrittenOut reads a sample whose runs lie in a file.
func BenchmarkWrittenOut(b *testing.B) {
	st := storeIn(b, 100_000, b.TempDir())
	s := st.New()
	for _, v := range durationtest.UniformNanoseconds(1_000_000) {
		s.Add(v)
	}
	b.ReportAllocs()
	for b.Loop() {
		Answer(NewRankQuery(Union{s}, []uint64{1, 990_000}))
	}
	if st.Err() != nil {
		b.Fatal(st.Err())
	}
}
