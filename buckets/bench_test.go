package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// batch is a full batch of three hops, lognormal to the microsecond, 2 % cut
// and as many failed.
func batch(b *testing.B, columns spans.Columns) *spans.Batch { return batchFrom(b, columns, 0) }

// batchFrom is a batch whose attempts begin so many ns apart; 0 tells no start.
func batchFrom(b *testing.B, columns spans.Columns, apart int64) *spans.Batch {
	builder := spans.NewBuilder(new(ledger), columns)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range spans.BatchRows {
		one := spans.Row{Hop: builder.Hop(fmt.Append(nil, "hop ", i%3)), Stratum: builder.Stratum(fmt.Append(nil, i%7)), Marked: true, HasDuration: true}
		if one.Duration = int64(20_000*math.Exp(r.NormFloat64())) * us; i%50 < 2 {
			one.Outcome, one.CutBy, one.Trace = spans.Truncated, spans.Own, fmt.Append(nil, "trace of some length ", i)
		}
		if i%50 == 1 {
			one.Outcome, one.CutBy, one.Failure = spans.Failed, spans.NotCut, spans.Reset
		}
		one.Start, one.HasStart = int64(i)*apart, apart > 0
		builder.Append(&one)
	}
	full := builder.Batch()
	b.Cleanup(func() {
		full.Release()
		builder.Release()
	})
	return full
}

func BenchmarkAdd(b *testing.B) {
	for name, columns := range map[string]spans.Columns{"plain": spans.Resolutions, "strata": spans.Resolutions | spans.Strata} {
		b.Run(name, func(b *testing.B) {
			full := batch(b, columns)
			set := newHopSet(NewConfig(nil))
			b.ReportAllocs()
			for b.Loop() {
				set.Add(full)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*full.Len()), "ns/row")
		})
	}
}

func BenchmarkAddTimed(b *testing.B) {
	for name, apart := range map[string]int64{"one minute": ms, "a minute each": 60 * s} {
		b.Run(name, func(b *testing.B) {
			full := batchFrom(b, spans.Resolutions, apart)
			set := newHopSet(NewConfig(nil))
			for b.Loop() {
				set.Add(full)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*full.Len()), "ns/row")
		})
	}
}

// filled is a set of so many batches.
func filled(full *spans.Batch, c Config, batches int) *hopSet {
	set := newHopSet(c)
	for range batches {
		set.Add(full)
	}
	return set
}

func BenchmarkMerge(b *testing.B) {
	full, c := batch(b, spans.Resolutions), NewConfig(nil)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		one, other := filled(full, c, 20), filled(full, c, 20)
		b.StartTimer()
		one.Merge(other)
	}
}

func BenchmarkResults(b *testing.B) {
	full, c := batch(b, spans.Resolutions), NewConfig(nil)
	q := asked("0.5", "0.9", "0.95", "0.99", "0.999")
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		set := filled(full, c, 20)
		b.StartTimer()
		set.Results(q)
	}
}

// BenchmarkSmallHop is what one hop of many costs.
func BenchmarkSmallHop(b *testing.B) {
	log := done(to(60)...)
	q := Query{Quantiles: []quantile.P{quantile.MustP("0.95")}, Confidence: quantile.MustP("0.95"), Marked: true}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		set := setOf(b, NewConfig(nil), log)
		b.StartTimer()
		set.Results(q)
	}
}
