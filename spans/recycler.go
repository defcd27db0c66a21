package spans

import (
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// recycler hands out the buffers of released batches again: all batches of a
// builder have columns of the same sizes. What it hands out is not cleared; the
// columns set every row. A batch may be released by any goroutine, and after its
// builder.
type recycler struct {
	mem memory.Allocator

	mu     sync.Mutex
	free   map[int][][]byte // by length
	held   int              // bytes in free
	closed bool
}

// mostFree is how many buffers of one length wait: those of two batches.
const mostFree = 32

// Texts may be far longer than those of the next batch: neither a buffer of more
// than longestFree bytes waits, nor do all together hold more than mostHeld.
const (
	longestFree = 1 << 20
	mostHeld    = 8 << 20
)

func newRecycler(mem memory.Allocator) *recycler {
	return &recycler{mem: mem, free: map[int][][]byte{}}
}

// Allocate returns a buffer of size bytes.
func (r *recycler) Allocate(size int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.free[size]
	if len(list) == 0 {
		return r.mem.Allocate(size)
	}
	last := list[len(list)-1]
	r.free[size] = list[:len(list)-1]
	r.held -= size
	return last
}

// Reallocate returns a buffer of size bytes that starts with those of b.
func (r *recycler) Reallocate(size int, b []byte) []byte {
	grown := r.Allocate(size)
	copy(grown, b)
	r.Free(b)
	return grown
}

// Free takes a buffer back.
func (r *recycler) Free(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.free[len(b)]; !r.closed && len(b) > 0 && len(b) <= longestFree && len(list) < mostFree && r.held+len(b) <= mostHeld {
		r.free[len(b)] = append(list, b)
		r.held += len(b)
		return
	}
	r.mem.Free(b)
}

// close gives all buffers that wait to the allocator below, and later ones at
// once.
func (r *recycler) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, list := range r.free {
		for _, b := range list {
			r.mem.Free(b)
		}
	}
	r.free = nil
}
