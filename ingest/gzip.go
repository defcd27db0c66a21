package ingest

import (
	"bufio"
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/tailscope/tailscope/ingest/format"
)

// members reads gzip files of several members one by one. What is no member
// after a whole one (zero padding, garbage) is a warning; a member that breaks
// off is an error.
type members struct {
	src  *bufio.Reader
	z    *gzip.Reader
	file *format.File
}

// gzipReaders are those of files that were read: one has a window and tables of 40 KB.
var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func newMembers(src *bufio.Reader, f *format.File) (*members, error) {
	z := gzipReaders.Get().(*gzip.Reader)
	f.OnClose(func() error { gzipReaders.Put(z); return nil })
	if err := z.Reset(src); err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{src, z, f}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err == io.EOF {
			err = m.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next moves on to the next member; io.EOF if there is none.
func (m *members) next() error {
	magic, err := m.src.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		return err
	case len(magic) == 0:
		return io.EOF
	case !bytes.Equal(magic, gzipMagic):
		return m.tail()
	}
	if err := m.z.Reset(m.src); err != nil {
		return err
	}
	m.z.Multistream(false)
	return nil
}

// tail names the bytes after the last member, and ends the stream there.
func (m *members) tail() error {
	head, err := m.src.Peek(512)
	if err != nil && err != io.EOF {
		return err
	}
	what := "bytes that are no gzip member"
	if len(bytes.Trim(head, "\x00")) == 0 {
		what = "zero padding"
	}
	trailing(m.file, what)
	return io.EOF
}
