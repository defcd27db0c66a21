package format

import (
	"bufio"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Files are read one after the other: what one has read with serves the next, so that
// a thousand of them take no more memory than one.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, HeadSize) }}
	free    sync.Map // of chan *buffer, by their size
	large   largeBuffers
)

// buffer is what a window reads into. Chunks have parts of it; it is used again once
// the window and they are done with it.
type buffer struct {
	b     []byte
	whole []byte // b and what more there is room for, in one that serves a long record
	users atomic.Int32
	again bool // it is of a size that others ask for
}

// newBuffer returns an empty buffer with one user, of a size that others ask for.
func newBuffer(size int) *buffer {
	b := &buffer{again: true}
	select {
	case b = <-freeBuffers(size):
	default:
		b.b = make([]byte, 0, size)
	}
	b.users.Store(1)
	return b
}

// newSingle is newBuffer for a size that nobody asks for again.
func newSingle(size int) *buffer {
	b := &buffer{b: make([]byte, 0, size)}
	b.users.Store(1)
	return b
}

// largeBuffers are those that a long line was read into, and that nobody uses: the
// next one may be as long. They go with the end of the file.
type largeBuffers struct {
	mu   sync.Mutex
	list []*buffer // by their room
}

// freeLarge is how many wait: one may be read into while it is copied from another.
const freeLarge = 2

// newLarge is newBuffer for a size that others do not ask for. The buffer has no more
// room than that: what is too long must not depend on what was read before.
func newLarge(size int) *buffer {
	b := large.take(size)
	if b == nil {
		b = &buffer{whole: make([]byte, size)}
	}
	b.b = b.whole[:0:size]
	b.users.Store(1)
	return b
}

// take returns the smallest with that much room, nil where there is none.
func (l *largeBuffers) take(size int) *buffer {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(b *buffer) bool { return len(b.whole) >= size })
	if i < 0 {
		return nil
	}
	b := l.list[i]
	l.list = slices.Delete(l.list, i, i+1)
	return b
}

// drop lets go of all.
func (l *largeBuffers) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// give keeps the largest.
func (l *largeBuffers) give(b *buffer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, b)
	slices.SortFunc(l.list, func(a, b *buffer) int { return len(a.whole) - len(b.whole) })
	if over := len(l.list) - freeLarge; over > 0 {
		l.list = slices.Delete(l.list, 0, over)
	}
}

// share adds a user.
func (b *buffer) share() *buffer {
	if b != nil {
		b.users.Add(1)
	}
	return b
}

// release takes a user away.
func (b *buffer) release() {
	if b == nil || b.users.Add(-1) > 0 {
		return
	}
	if !b.again {
		if b.whole != nil {
			large.give(b)
		}
		return
	}
	b.b = b.b[:0]
	select {
	case freeBuffers(cap(b.b)) <- b:
	default:
	}
}

// begun is a buffer that small files share: one goes on where the one before ended, so
// that many of them may wait for a worker in the memory of a large one.
var begun = make(chan *buffer, 1)

// part returns the next n bytes of a buffer of that size.
func part(size, n int) (of *buffer, b []byte) {
	select {
	case of = <-begun:
	default:
	}
	if of == nil || cap(of.b) != size || size-len(of.b) < n {
		of.release()
		of = newBuffer(size)
	}
	from := len(of.b)
	of.b = of.b[:from+n]
	b = of.b[from : from : from+n]
	select {
	case begun <- of.share():
	default:
		of.release()
	}
	return of, b
}

// freeBuffers are the buffers of a size that nobody uses.
func freeBuffers(size int) chan *buffer {
	list, known := free.Load(size)
	if !known {
		list, _ = free.LoadOrStore(size, make(chan *buffer, freeChunks))
	}
	return list.(chan *buffer)
}

// NewReader returns a reader with room for the head of the file, until the file is
// closed.
func (f *File) NewReader(r io.Reader) *bufio.Reader {
	b := readers.Get().(*bufio.Reader)
	b.Reset(r)
	f.OnClose(func() error {
		b.Reset(nil)
		readers.Put(b)
		return nil
	})
	return b
}
