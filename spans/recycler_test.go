package spans

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TestBatchesUseReleasedBuffersAgain: what a batch had, the next one gets, and
// nothing of it shows; after the builder nothing is left.
func TestBatchesUseReleasedBuffersAgain(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	b := NewBuilder(mem, Links|Hosts|Texts|Positions|Strata|Resolutions)
	row := func(full bool) *Batch {
		r := Row{Hop: b.Hop([]byte("h")), Link: Link{TraceID: TraceID{1, 2}, Span: 3}}
		if full {
			r = Row{Hop: r.Hop, Outcome: Failed, Retry: true, Marked: true, HasDuration: true, Duration: 5, HasStart: true, Start: 7, Trace: []byte("t"), Link: r.Link}
			r.SpanText, r.Digest, r.Ties = []byte("s"), 9, Async
		}
		b.Append(&r)
		return b.Batch()
	}
	row(true).Release()
	row(false).Release() // which has bitmaps of nulls
	held := mem.CurrentAlloc()
	for range 3 {
		batch := row(false)
		if batch.Outcome[0] != 0 || batch.Retry(0) || batch.Marked(0) || batch.HasDuration(0) || batch.Trace(0) != nil || batch.SpanText(0) != nil || batch.Digest[0] != 0 || batch.Ties[0] != 0 {
			t.Error("a row shows what was in its buffers before")
		}
		batch.Release()
	}
	if now := mem.CurrentAlloc(); now != held {
		t.Errorf("%d bytes allocated, %d after the first two batches", now, held)
	}
	last := row(true)
	b.Release()
	last.Release()
	mem.AssertSize(t, 0)
}

// Whatever the lengths of texts, what waits to be used again is bounded.
func TestBuffersThatWaitAreBounded(t *testing.T) {
	r := newRecycler(memory.DefaultAllocator)
	for size := 64; size < longestFree; size += 512 {
		r.Free(r.Allocate(size))
		if r.held > mostHeld {
			t.Fatalf("%d bytes wait", r.held)
		}
	}
	if r.held < mostHeld/2 {
		t.Errorf("only %d bytes wait", r.held)
	}
	held := 0
	for size, list := range r.free {
		held += size * len(list)
	}
	if held != r.held {
		t.Errorf("%d bytes wait, %d are counted", held, r.held)
	}
}
