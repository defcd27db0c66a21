package quantile

import (
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
)

func BenchmarkTails(b *testing.B) {
	values := durationtest.UniformNanoseconds(1_000_000)
	o := Observed{Completed: Union{sampleOf(values...)}, CutAt: Union{sampleOf(durationtest.UniformNanoseconds(1000)...)}}
	ps := []P{MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.99"), MustP("0.999")}
	b.ReportAllocs()
	for b.Loop() {
		o.Tails(ps, MustP("0.95"))
	}
}

func BenchmarkSummarize(b *testing.B) {
	ps := []P{MustP("0.5"), MustP("0.9"), MustP("0.95"), MustP("0.99"), MustP("0.999")}
	for name, values := range map[string][]int64{
		"us": durationtest.LognormalMicroseconds(1_200_000), "ns": durationtest.UniformNanoseconds(1_200_000), "few": durationtest.UniformNanoseconds(10),
	} {
		b.Run(name, func(b *testing.B) {
			u := Union{sampleOf(values...)}
			b.ReportAllocs()
			for b.Loop() {
				Summarize(u, ps)
			}
		})
	}
}

func BenchmarkUpperRankOfABillion(b *testing.B) {
	for b.Loop() {
		UpperRank(1_000_000_000, MustP("0.999"), MustP("0.95"))
	}
}
