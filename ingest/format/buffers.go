package format

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"
)

// Files are read one after the other: what one has read with serves the next, so that
// a thousand of them take no more memory than one.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, HeadSize) }}
	free    sync.Map // of chan *buffer, by their size
)

// buffer is what a window reads into. Chunks have parts of it; it is used again once
// the window and they are done with it.
type buffer struct {
	b     []byte
	users atomic.Int32
	again bool // it is of a size that others ask for
}

// newBuffer returns an empty buffer with one user.
func newBuffer(size int, usual bool) *buffer {
	b := &buffer{again: usual}
	if usual {
		select {
		case b = <-freeBuffers(size):
		default:
		}
	}
	if b.b == nil {
		b.b = make([]byte, 0, size)
	}
	b.users.Store(1)
	return b
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
	if b == nil || b.users.Add(-1) > 0 || !b.again {
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
		of = newBuffer(size, true)
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
