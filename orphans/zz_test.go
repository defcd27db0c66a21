package orphans
import ("testing";"runtime";"math/rand/v2";"github.com/tailscope/tailscope/spans")
func TestZZ(t *testing.T){
	random := rand.New(rand.NewPCG(13, 14))
	list := make([]spans.Span, 1000000)
	for i := range list { list[i]=spans.Span{ID: spans.SpanID(i + 1), Parent: spans.SpanID(random.IntN(i + 1)), Start: int64(i) * 100, Duration: random.Int64N(100 * ms), Hop: random.Int32N(300), Outcome: spans.Outcome(random.IntN(3)),Flags:timed}}
	tr := spans.NewTrace(spans.TraceID{Lo: 1}, list, hopsOf(300), nil); tr.TopDown()
	var a,b runtime.MemStats
	runtime.GC(); runtime.ReadMemStats(&a)
	w := NewWatch(usual); w.Add(tr)
	runtime.GC(); runtime.ReadMemStats(&b)
	t.Log((b.HeapAlloc-a.HeapAlloc)>>20, "MiB", len(w.paths), len(w.pairs), w.counts.Orphaned)
	w.paths=nil
	runtime.GC(); runtime.ReadMemStats(&b)
	t.Log((b.HeapAlloc-a.HeapAlloc)>>20, "MiB without paths")
	runtime.KeepAlive(w); runtime.KeepAlive(tr)
}
