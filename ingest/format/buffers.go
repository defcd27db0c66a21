package format

import (
	"bufio"
	"io"
	"sync"
)

// Files are read one after the other: what one has read with serves the next, so that
// a thousand of them take no more memory than one.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, HeadSize) }}
	free    sync.Map // of chan []byte, by the size of the buffers
)

// freeBuffers are the buffers of a size that chunks are done with.
func freeBuffers(size int) chan []byte {
	list, known := free.Load(size)
	if !known {
		list, _ = free.LoadOrStore(size, make(chan []byte, freeChunks))
	}
	return list.(chan []byte)
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
