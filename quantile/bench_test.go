package quantile

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkAddDenseMicroseconds(b *testing.B) {
	values := lognormalMicroseconds(1 << 16)
	var s Sample
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(values[i&(1<<16-1)])
	}
	b.ReportMetric(float64(s.Bytes())/float64(s.N()), "held-B/value")
}

func BenchmarkAddNanoseconds(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var s Sample
	b.ReportAllocs()
	for b.Loop() {
		s.Add(r.Int64N(1e9))
	}
	b.ReportMetric(float64(s.Bytes())/float64(s.N()), "held-B/value")
}

func BenchmarkMergeNanoseconds(b *testing.B) {
	benchmarkMerge(b, uniformNanoseconds(100_000))
}

func BenchmarkMergeMicroseconds(b *testing.B) {
	benchmarkMerge(b, lognormalMicroseconds(100_000))
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

func BenchmarkAllNanoseconds(b *testing.B) { benchmarkAll(b, uniformNanoseconds(1_000_000)) }

func BenchmarkAllMicroseconds(b *testing.B) { benchmarkAll(b, lognormalMicroseconds(1_000_000)) }

func benchmarkAll(b *testing.B, values []int64) {
	s := sampleOf(values...)
	b.ReportAllocs()
	for b.Loop() {
		for range s.All() {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
}

func BenchmarkTails(b *testing.B) {
	values := uniformNanoseconds(1_000_000)
	o := Observed{Completed: Union{sampleOf(values...)}, CutAt: Union{sampleOf(uniformNanoseconds(1000)...)}}
	ps := []P{MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.99"), MustP("0.999")}
	b.ReportAllocs()
	for b.Loop() {
		o.Tails(ps, MustP("0.95"))
	}
}

func BenchmarkUpperRankOfABillion(b *testing.B) {
	for b.Loop() {
		UpperRank(1_000_000_000, MustP("0.999"), MustP("0.95"))
	}
}
