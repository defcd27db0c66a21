package attribution

import (
	"fmt"
	"testing"

	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// requests makes traces of eight spans, each below the one before, in one table
// of hops.
func requests(n int) (list []*spans.Trace) {
	var hops []spans.Hop
	for i := range 8 {
		hops = append(hops, spans.Hop{Name: fmt.Sprint("hop-", i), Kind: spans.Kind(2 + i%2)})
	}
	for k := range n {
		var all []spans.Span
		for i := range 8 {
			all = append(all, spans.Span{
				ID: spans.SpanID(i + 1), Parent: spans.SpanID(i), Start: int64(i) * 3000 * us, Hop: int32(i),
				Duration: (100_000 - 6000*int64(i) + int64(k%1000)) * us, Flags: spans.HasStart | spans.HasDuration,
			})
		}
		t := spans.NewTrace(spans.TraceID{Lo: uint64(k) * 7919}, all, hops, []string{""})
		t.MarkRetries(spans.RetryOptions{})
		t.TopDown()
		list = append(list, t)
	}
	return list
}

// bytesOf is what the records of an accumulator take, without room that is not used.
func bytesOf(w *Accumulator) (n int) {
	for _, s := range w.blocks {
		for _, block := range s.Blocks {
			n += len(block)
		}
	}
	return n
}

func TestATraceCostsFewBytes(t *testing.T) {
	w := NewAccumulator()
	for _, trace := range requests(100) {
		w.AddTrace(trace)
	}
	if got := bytesOf(w) / 100; got > 4+8*4 {
		t.Errorf("a trace with eight hops on its path takes %d bytes", got)
	}
}

func TestAddAllocatesNothingPerSpan(t *testing.T) {
	trace := requests(1)[0]
	w := NewAccumulator()
	// One for the name, which is made only where it is needed, and a block of
	// records or a page of a sample now and then.
	if n := testing.AllocsPerRun(2000, func() { w.AddTrace(trace) }); n > 1 {
		t.Errorf("%v allocations a trace", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	list := requests(5000)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		w := NewAccumulator()
		for _, t := range list {
			w.AddTrace(t)
		}
		size = bytesOf(w)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)*8), "ns/span")
	b.ReportMetric(float64(size)/float64(len(list)), "bytes/trace")
}

// BenchmarkChains keeps the lines of 10,000 chains and puts them together.
func BenchmarkChains(b *testing.B) {
	lines := manyLines(10_000)
	var batches []*spans.Batch
	for n := 0; n < len(lines); n += 10_000 {
		batches = append(batches, batchOf(lines[n:n+10_000]...))
	}
	b.ReportAllocs()
	for b.Loop() {
		l := newLog(b, assembly.ChainConfig{}, NewAccumulator())
		for _, batch := range batches {
			if err := l.store.Worker(0).AddBatch(batch); err != nil {
				b.Fatal(err)
			}
		}
		l.chains()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(lines)), "ns/line")
}

func BenchmarkResult(b *testing.B) {
	w := NewAccumulator()
	for _, t := range requests(100_000) {
		w.AddTrace(t)
	}
	for b.Loop() {
		w.Result(usual)
	}
}
