package calls

import (
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
)

// BenchmarkCalls collects 20,000 traces of two spans and a root, and makes the result.
func BenchmarkCalls(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	w := plain(r)
	w.calls, w.utilisation = 20_000, 40
	traces := w.traces(w.run())
	for _, t := range traces[1:] { // as those of a run
		t.Hosts = traces[0].Hosts
	}
	for b.Loop() {
		a := NewAccumulator(Config{Memory: 4 << 20, TempDir: b.TempDir()})
		for _, t := range traces {
			a.AddTrace(t)
		}
		a.Result(Query{Quantiles: []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.95"), quantile.MustP("0.99")}, Memory: 4 << 20})
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*len(traces)), "ns/span")
}
