package format

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// opened is a file of that content whose head was looked at, as Open does it.
func opened(content string) *File {
	f := &File{Path: "f", MaxLine: DefaultMaxLine}
	f.SetContent(bufio.NewReader(strings.NewReader(content)))
	_, _ = f.Head.Peek(HeadSize)
	return f
}

func linesOf(t *testing.T, f *File) []*Chunk {
	t.Helper()
	s, list := NewSplitter(f, LastNewline), []*Chunk(nil)
	f.StartWith(&Format{}, s)
	for c, err := f.Next(); err != io.EOF; c, err = f.Next() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// Chunks of small files wait in one buffer, and each keeps its bytes until it is let go,
// whatever is read after it.
func TestSmallFilesShareABuffer(t *testing.T) {
	var waiting []*Chunk
	buffers, n := map[*buffer]bool{}, 0
	for i := range 200 {
		text := strings.Repeat(fmt.Sprintf("line %d\n", i), 10*(i%20+1))
		n += len(text) + 1
		for _, c := range linesOf(t, opened(text)) {
			waiting = append(waiting, c)
			buffers[c.of] = true
		}
	}
	if len(waiting) != 200 || len(buffers) > 2+n/ChunkSize {
		t.Fatalf("%d chunks, in %d buffers for %d bytes", len(waiting), len(buffers), n)
	}
	for i, c := range waiting {
		if want := strings.Repeat(fmt.Sprintf("line %d\n", i), 10*(i%20+1)); string(c.Data) != want {
			t.Errorf("chunk %d: %.40q, want %.40q", i, c.Data, want)
		}
		c.Release()
	}
}

// A file that is no part of a buffer is read into one of its own: one that is longer than
// that part, and one whose end was not seen.
func TestLargeFilesHaveBuffersOfTheirOwn(t *testing.T) {
	large := strings.Repeat("0123456789abcde\n", ChunkSize/8)
	small := linesOf(t, opened("small\n"))[0]
	got := []byte(nil)
	for _, c := range linesOf(t, opened(large)) {
		if c.of == small.of {
			t.Error("a large file in the buffer of small ones")
		}
		got = append(got, c.Data...)
	}
	if !bytes.Equal(got, []byte(large)) || string(small.Data) != "small\n" {
		t.Errorf("%d bytes of %d, and %q", len(got), len(large), small.Data)
	}
}

// How much of what came before a chunk is needed is asked for a second chunk, once.
func TestTailIsAskedForASecondChunkOnly(t *testing.T) {
	for chunks, text := range map[int]string{1: "a\nb\n", 3: strings.Repeat("0123456789abcde\n", ChunkSize*5/32)} {
		f, asked := opened(text), 0
		s := NewSplitter(f, LastNewline)
		s.Tail = func() int { asked++; return 20 }
		list := 0
		for c, err := s.Next(); err == nil; c, err = s.Next() {
			want := ""
			if list > 0 {
				want = "0123456789abcde\n"
			}
			if string(c.Before) != want {
				t.Errorf("before chunk %d of %d: %q, want %q", list, chunks, c.Before, want)
			}
			list++
		}
		if want := min(1, chunks-1); list != chunks || asked != want {
			t.Errorf("%d chunks of %d, asked %d times, want %d", list, chunks, asked, want)
		}
	}
}
