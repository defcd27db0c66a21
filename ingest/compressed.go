package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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

var (
	zstdMagic      = []byte{0x28, 0xb5, 0x2f, 0xfd}
	skippableMagic = []byte{0x2a, 0x4d, 0x18} // after 0x50 to 0x5f
)

func isSkippable(magic []byte) bool {
	return len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], skippableMagic)
}

// maxWindow is the largest zstd window that is granted, as in the zstd command
// (--long=27): what a hostile file asks for is not allocated.
const maxWindow = 128 << 20

// zstdDecoders and smallZstdDecoders are those of files that were read. One that
// decodes ahead starts goroutines for every file, and for a small one they are most of
// the work.
var (
	zstdDecoders      = sync.Pool{New: func() any { return newZstdDecoder() }}
	smallZstdDecoders = sync.Pool{New: func() any { return newZstdDecoder(zstd.WithDecoderConcurrency(1)) }}
)

// smallZstd is how large a file may be, compressed, to be decoded as it is read.
const smallZstd = 64 << 10

func newZstdDecoder(o ...zstd.DOption) *zstd.Decoder {
	z, err := zstd.NewReader(nil, append(o, zstd.WithDecoderMaxWindow(maxWindow))...)
	if err != nil {
		panic(err) // the options are wrong, which no input can do
	}
	return z
}

func (f opener) zstd(raw *bufio.Reader, size int64) (io.Reader, error) {
	decoders := &zstdDecoders
	if size > 0 && size <= smallZstd {
		decoders = &smallZstdDecoders
	}
	w, z := &frameWalker{r: raw, want: 4}, decoders.Get().(*zstd.Decoder)
	f.OnClose(func() error {
		_ = z.Reset(nil) // which lets go of the file, and cannot fail
		decoders.Put(z)
		return nil
	})
	return &zstdFrames{z, w, f.File}, z.Reset(w)
}

// zstdFrames turns garbage after the last whole frame into a warning. The first
// frame's magic was seen, so a wrong magic can only come after a frame.
type zstdFrames struct {
	z      *zstd.Decoder
	walker *frameWalker
	file   *format.File
}

func (z *zstdFrames) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, io.ErrUnexpectedEOF) && z.walker.endsAfterFrame() {
		trailing(z.file, "bytes that are no zstd frame")
		err = io.EOF
	}
	return n, err
}

// frameWalker passes a zstd stream on and follows its frames (RFC 8878, section 3.1):
// the decoder does not tell a frame that breaks off from a few bytes after a whole
// one.
type frameWalker struct {
	r      io.Reader
	frames int
	part   framePart
	have   []byte // of a part that is looked at
	want   int    // its length
	skip   uint64 // bytes to pass over first
	sum    bool   // the frame ends in a checksum
	lost   bool   // this is no frame
}

// framePart is a part of a frame that says how long others are.
type framePart uint8

const (
	frameMagic framePart = iota
	skippedLength
	frameHead
	blockHead
	frameEnd
)

func (w *frameWalker) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.walk(p[:n])
	return n, err
}

// endsAfterFrame reports whether what came last is a whole frame and fewer bytes than
// a magic has. It may be asked once the stream has ended.
func (w *frameWalker) endsAfterFrame() bool {
	return !w.lost && w.frames > 0 && w.part == frameMagic && w.skip == 0
}

func (w *frameWalker) walk(b []byte) {
	for !w.lost {
		passed := min(w.skip, uint64(len(b)))
		w.skip, b = w.skip-passed, b[passed:]
		n := min(len(b), w.want-len(w.have))
		w.have, b = append(w.have, b[:n]...), b[n:]
		if w.skip > 0 || len(w.have) < w.want {
			return
		}
		part := w.have
		w.have = w.have[:0]
		w.next(part)
	}
}

// next looks at a part and says which one comes then, and how far away.
func (w *frameWalker) next(b []byte) {
	switch w.part {
	case frameMagic:
		w.lost = !isSkippable(b) && !bytes.Equal(b, zstdMagic)
		w.expect(frameHead, 1, 0)
		if isSkippable(b) {
			w.expect(skippedLength, 4, 0)
		}
	case skippedLength:
		w.end(uint64(binary.LittleEndian.Uint32(b)))
	case frameHead:
		w.sum = b[0]&4 != 0
		w.expect(blockHead, 3, headRest(b[0]))
	case blockHead:
		w.block(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16)
	case frameEnd:
		w.end(0)
	}
}

func (w *frameWalker) expect(p framePart, length int, skip uint64) {
	w.part, w.want, w.skip = p, length, skip
}

// headRest is how many bytes the rest of a frame's head has: window, dictionary,
// content size.
func headRest(descriptor byte) uint64 {
	single := uint64(descriptor >> 5 & 1)
	size := [...]uint64{single, 2, 4, 8}[descriptor>>6]
	return 1 - single + [...]uint64{0, 1, 2, 4}[descriptor&3] + size
}

// block passes over a block: of a repeated byte there is one.
func (w *frameWalker) block(head uint32) {
	size := uint64(head >> 3)
	if head>>1&3 == 1 {
		size = 1
	}
	switch {
	case head&1 == 0:
		w.expect(blockHead, 3, size)
	case w.sum:
		w.expect(frameEnd, 4, size)
	default:
		w.end(size)
	}
}

// end is that of a frame, after some more bytes.
func (w *frameWalker) end(skip uint64) {
	w.frames++
	w.expect(frameMagic, 4, skip)
}
