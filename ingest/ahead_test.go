package ingest

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestReadingAheadGivesTheStreamAndItsEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := bytes.Repeat([]byte("line\n"), rapid.IntRange(0, 3*aheadSize/5).Draw(rt, "lines"))
		end := rapid.SampledFrom([]error{io.EOF, io.ErrUnexpectedEOF, errors.New("broken")}).Draw(rt, "end")
		r := io.Reader(bytes.NewReader(want))
		if end != io.EOF {
			r = io.MultiReader(r, iotest.ErrReader(end))
		}
		a := newAhead(r)
		got, err := io.ReadAll(a)
		if end == io.EOF {
			end = nil
		}
		if !bytes.Equal(got, want) || err != end {
			rt.Fatalf("%d bytes and %v, want %d and %v", len(got), err, len(want), end)
		}
		a.close()
	})
}

// A run that ends early closes a file whose stream goes on.
func TestReadingAheadEndsBeforeTheStreamDoes(t *testing.T) {
	a := newAhead(endless{})
	if _, err := io.ReadFull(a, make([]byte, 10*aheadSize)); err != nil {
		t.Fatal(err)
	}
	a.close()
	if len(a.full) > aheadBlocks {
		t.Error(len(a.full), "blocks wait")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
