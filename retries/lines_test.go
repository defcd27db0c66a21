package retries

import (
	"context"
	"errors"
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
)

func manyLines() []testLine {
	return repeated(500, 3, testLine{hop: "a", end: 300, outcome: cut}, testLine{hop: "a", start: 320, end: 330, retry: true}, testLine{hop: "b", end: 7, outcome: failed})
}

func TestLinesThatMemoryDoesNotHoldGoToAFile(t *testing.T) {
	folder := t.TempDir()
	small := []*Watch{NewWatch(Config{Limit: 20, Memory: 1000, TempDir: folder}), NewWatch(Config{Limit: 20, Memory: 5000, TempDir: folder})}
	for i, l := range manyLines() {
		addLines(small[i%2], l)
	}
	if files := spilltest.Open(t, folder); len(files) != 2 {
		t.Errorf("%d files, want 2", len(files))
	}
	chains(t, small...)
	small[0].Merge(small[1])
	if d := gocmp.Diff(logOf(t, manyLines()...).Result(usual(nil)), small[0].Result(usual(nil)), exactly); d != "" {
		t.Error(d)
	}
	for _, w := range append(small, small...) {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if files := spilltest.Open(t, folder); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestAFileThatCannotBeMadeOrReadIsAnError(t *testing.T) {
	b := batchOf(manyLines()...)
	defer b.Release()
	w := NewWatch(Config{Memory: 10, TempDir: t.TempDir() + "/absent"})
	if err := w.AddLines(b); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	w = NewWatch(Config{Memory: 10, TempDir: t.TempDir()})
	if err := w.AddLines(b); err != nil {
		t.Fatal(err)
	}
	if err := w.lines.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.AddLines(b); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing a closed file: %v", err)
	}
	if err := Chains(t.Context(), []*Watch{w}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading a closed file: %v", err)
	}
}

func TestChainsStopWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	w := NewWatch(Config{})
	addLines(w, manyLines()...)
	if err := Chains(ctx, []*Watch{w}); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}
