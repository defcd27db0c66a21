package assembly

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tailscope/tailscope/spans"
)

// feed makes spans of traces of a given size, 100 traces interleaved, with ids
// as random as real ones.
type feed struct {
	builder *spans.Builder
	random  *rand.Rand
	hops    []int32
	size    int
	open    []openTrace
}

type openTrace struct {
	id   spans.TraceID
	ids  []spans.SpanID
	done int
}

func newFeed(mem memory.Allocator, size int) *feed {
	f := &feed{builder: spans.NewBuilder(mem, spans.Links|spans.Positions), random: rand.New(rand.NewPCG(3, 4)), size: size, open: make([]openTrace, 100)}
	for i := range 40 {
		h := spans.Hop{Name: "service operation", Service: string(rune('a' + i)), Kind: spans.Kind(1 + i%3)}
		f.hops = append(f.hops, f.builder.SpanHop([]byte(h.Service), func() spans.Hop { return h }))
	}
	return f
}

func (f *feed) release() { f.builder.Release() }

func (f *feed) batch(rows int) *spans.Batch {
	for range rows {
		t := &f.open[f.random.IntN(len(f.open))]
		if t.done == len(t.ids) {
			*t = openTrace{id: spans.TraceID{Hi: f.random.Uint64(), Lo: f.random.Uint64()}}
			for range f.size {
				t.ids = append(t.ids, spans.SpanID(f.random.Uint64()|1))
			}
		}
		r := spans.Row{
			Hop: f.hops[f.random.IntN(len(f.hops))], HasStart: true, HasDuration: true, Start: 1_700_000_000e9 + int64(f.random.IntN(1e9)),
			Duration: int64(f.random.IntN(1e8)), Line: 1, Offset: int64(t.done),
			Link: spans.Link{TraceID: t.id, Span: t.ids[t.done], Digest: f.random.Uint64()},
		}
		if t.done > 0 {
			r.Parent = t.ids[f.random.IntN(t.done)]
		}
		if f.random.IntN(50) == 0 {
			r.Outcome = spans.Failed
		}
		t.done++
		f.builder.Append(&r)
	}
	return f.builder.Batch()
}

// batches makes n spans ready to add.
func batches(n int) (list []*spans.Batch) {
	f := newFeed(memory.DefaultAllocator, 20)
	for made := 0; made < n; made += spans.BatchRows {
		list = append(list, f.batch(min(spans.BatchRows, n-made)))
	}
	return list
}

const benchSpans = 512 << 10

// BenchmarkTraces reports ns a span of adding and of visiting, by one
// worker each.
func BenchmarkTraces(b *testing.B) {
	list := batches(benchSpans)
	for _, c := range []struct {
		name   string
		memory int64
	}{{"plenty", 0}, {"16MiB", 16 << 20}, {"2MiB", 2 << 20}} {
		b.Run("add/"+c.name, func(b *testing.B) { benchAdd(b, list, c.memory) })
		b.Run("each/"+c.name, func(b *testing.B) { benchEach(b, list, c.memory) })
	}
}

func benchAdd(b *testing.B, list []*spans.Batch, memory int64) {
	b.ReportAllocs()
	for b.Loop() {
		a := filled(b, list, memory)
		b.ReportMetric(float64(spilledBytes(a))/benchSpans, "spilled-B/span")
		a.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSpans, "ns/span")
}

func benchEach(b *testing.B, list []*spans.Batch, memory int64) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		a := filled(b, list, memory)
		b.StartTimer()
		err := a.Each(context.Background(), 1, func(_ int, t *spans.Trace) error {
			t.MarkRetries(spans.RetryOptions{})
			t.PassUpCuts()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSpans, "ns/span")
}

func filled(b *testing.B, list []*spans.Batch, memory int64) *Traces {
	a := NewTraces(TraceConfig{Memory: memory, TempDir: b.TempDir()})
	for _, batch := range list {
		if err := a.Worker(0).Add(batch); err != nil {
			b.Fatal(err)
		}
	}
	return a
}

// BenchmarkLink links, marks and passes up a trace of a hundred thousand.
func BenchmarkLink(b *testing.B) {
	const n = 100_000
	list := make([]spans.Span, n)
	b.ReportAllocs()
	for b.Loop() {
		for i := range list {
			list[i] = spans.Span{ID: spans.SpanID(i+1) * 0x9e3779b97f4a7c15, Parent: spans.SpanID((i+1)/2) * 0x9e3779b97f4a7c15, Start: int64(i), Outcome: spans.Outcome(i % 3)}
		}
		t := spans.NewTrace(spans.TraceID{Hi: 1, Lo: 2}, list, []spans.Hop{{Name: "h"}}, nil)
		t.MarkRetries(spans.RetryOptions{})
		t.PassUpCuts()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
}
