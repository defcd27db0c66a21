package orphans

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

const timed = spans.HasStart | spans.HasDuration

// hopsOf makes n hops, each third a client's.
func hopsOf(n int) (hops []spans.Hop) {
	for i := range n {
		service := fmt.Sprint("service-", i/4)
		hops = append(hops, spans.Hop{Name: fmt.Sprint(service, " operation-", i), Service: service, Operation: fmt.Sprint("operation-", i), Kind: spans.Kind(1 + i%3)})
	}
	return hops
}

// requests makes traces of twenty spans like a service's: client over server, in
// one table of hops. Of a share of the calls the client gave up too early.
func requests(n int, givenUp float64) (list []*spans.Trace) {
	hops := []spans.Hop{{Name: "root", Service: "gateway", Kind: spans.Server}}
	for i := range 20 {
		hops = append(hops, spans.Hop{Name: fmt.Sprint("call ", i), Service: fmt.Sprint("s", i/2), Kind: spans.Client},
			spans.Hop{Name: fmt.Sprint("serve ", i), Service: fmt.Sprint("s", (i+1)/2), Kind: spans.Server})
	}
	r := rand.New(rand.NewPCG(11, 12))
	for trace := range n {
		all := []spans.Span{{ID: 1, Duration: 1000 * ms, Flags: timed}}
		for call := range 10 {
			id := spans.SpanID(2 + 2*call)
			parent := spans.SpanID(1)
			if call > 0 {
				parent = spans.SpanID(3 + 2*r.IntN(call))
			}
			at := all[parent-1].Start + r.Int64N(5*ms)
			hop := int32(1 + 2*((int(parent)*3+r.IntN(2))%20))
			one := spans.Span{ID: id, Parent: parent, Start: at, Duration: 100*ms - int64(call)*8*ms, Hop: hop, Flags: timed}
			served := spans.Span{ID: id + 1, Parent: id, Start: at + ms/10, Duration: one.Duration - ms/5, Hop: hop + 1, Flags: timed}
			if r.Float64() < givenUp {
				one.Outcome, one.CutBy, served.Duration = cut, spans.Own, served.Duration+500*ms
			}
			all = append(all, one, served)
		}
		t := spans.NewTrace(spans.TraceID{Lo: uint64(trace)}, all, hops, []string{""})
		t.MarkRetries(spans.RetryOptions{})
		t.TopDown()
		list = append(list, t)
	}
	return list
}

// BenchmarkAdd reports ns a span on traces of 21 spans, with and without orphans.
func BenchmarkAdd(b *testing.B) {
	for _, share := range []float64{0, .01, .2} {
		b.Run(fmt.Sprint("given-up-", share), func(b *testing.B) {
			list := requests(5000, share)
			b.ReportAllocs()
			for b.Loop() {
				w := NewAccumulator(Config{Tolerance: ms, Limit: 10})
				for _, t := range list {
					w.AddTrace(t)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)*21), "ns/span")
		})
	}
}

// BenchmarkMerge joins and reads accumulators that have seen thousands of traces.
func BenchmarkMerge(b *testing.B) {
	list := requests(5000, .2)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var accumulators []*Accumulator
		for range 4 {
			w := NewAccumulator(Config{Tolerance: ms, Limit: 10})
			for _, t := range list {
				w.AddTrace(t)
			}
			accumulators = append(accumulators, w)
		}
		b.StartTimer()
		for _, o := range accumulators[1:] {
			accumulators[0].Merge(o)
		}
		accumulators[0].Result(Query{Quantiles: median, Wall: func(spans.Hop) (int64, bool) { return 100 * ms, true }})
	}
}

// TestAddAllocatesNothingPerSpan on traces without orphans: what is left is a
// page or a run of a sample now and then, far less than one a trace.
func TestAddAllocatesNothingPerSpan(t *testing.T) {
	trace := requests(1, 0)[0]
	w := NewAccumulator(Config{Tolerance: ms, Limit: 10})
	if n := testing.AllocsPerRun(2000, func() { w.AddTrace(trace) }); n > 0 {
		t.Errorf("%v allocations a trace", n)
	}
	if got := told(w.counts); got != "" {
		t.Errorf("%s", got)
	}
}

// TestGreatTraces: a million spans, a chain deeper than any stack should be
// asked to go, a million callees of one cut call and a hop for each. Work that
// grew with the square of any of it would outlast the test.
func TestGreatTraces(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	const deep = 100_000
	wide := 250_000
	if raceDetector {
		wide = 100_000
	}
	random := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		name     string
		n        int
		hops     []spans.Hop
		span     func(i int) spans.Span
		orphaned int
	}{
		{"a chain", deep, hopsOf(3), func(i int) spans.Span { // each outlives the one above
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(i), Start: int64(i), Duration: 10*ms + int64(i)*ms*2, Hop: int32(i % 3), Outcome: cut, CutBy: spans.Own}
		}, deep - 1},
		{"a chain of many hops", deep, hopsOf(1000), func(i int) spans.Span {
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(i), Start: int64(i), Duration: 10 * ms, Hop: int32(i % 1000)}
		}, 0},
		{"all children of one", wide, hopsOf(3), func(i int) spans.Span {
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(min(i, 1)), Start: int64(i), Duration: ms + int64(i)*ms, Hop: int32(i % 3), Outcome: cut, CutBy: spans.Own}
		}, wide - 1},
		{"a tree of two", wide, hopsOf(40), func(i int) spans.Span {
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID((i + 1) / 2), Start: int64(i), Duration: ms, Hop: int32(i % 40)}
		}, 0},
		{"random", wide, hopsOf(300), func(i int) spans.Span {
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(random.IntN(i + 1)), Start: int64(i) * 100, Duration: random.Int64N(100 * ms), Hop: random.Int32N(300), Outcome: spans.Outcome(random.IntN(3))}
		}, 1},
		{"a hop for each", wide / 10, hopsOf(wide / 10), func(i int) spans.Span {
			return spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(min(i, 1)), Start: int64(i), Duration: ms + int64(i)*ms, Hop: int32(i), Outcome: cut}
		}, wide/10 - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := make([]spans.Span, c.n)
			for i := range list {
				list[i] = c.span(i)
				list[i].Flags = timed
			}
			trace := spans.NewTrace(spans.TraceID{Lo: 1}, list, c.hops, nil)
			w := NewAccumulator(Config{Tolerance: ms, Limit: 10})
			w.AddTrace(trace)
			r := w.Result(Query{Quantiles: median, Wall: func(spans.Hop) (int64, bool) { return ms, true }})
			if n := int(r.Orphaned); n < c.orphaned || c.orphaned != 1 && n > c.orphaned {
				t.Errorf("%d orphans, want %d", r.Orphaned, c.orphaned)
			}
			sum := int64(0)
			for _, h := range r.WastedBy {
				sum += h.NS
			}
			if sum != r.WastedUnion {
				t.Errorf("shares %d of %d", sum, r.WastedUnion)
			}
		})
	}
}
