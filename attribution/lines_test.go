package attribution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
)

// manyLines are those of some chains, in an order that mixes them.
func manyLines(chains int) (lines []testLine) {
	for attempt := range 3 {
		for i := range chains {
			start := attempt * 1000
			lines = append(lines, testLine{chain: fmt.Sprint("chain ", i), hop: fmt.Sprint("hop-", attempt), start: start / 10, end: start/10 + 500 + i%50})
		}
	}
	return lines
}

func TestLinesThatMemoryDoesNotHoldGoToAFile(t *testing.T) {
	lines := manyLines(500)
	whole := logOf(t, lines...)
	folder := t.TempDir()
	small := NewWatch(Config{Memory: 1000, TempDir: folder})
	for len(lines) > 0 {
		n := min(len(lines), 70)
		addLines(t, small, lines[:n]...)
		lines = lines[n:]
	}
	if files := spilltest.Open(t, folder); len(files) != 1 {
		t.Errorf("%d files, want 1", len(files))
	}
	chains(t, small)
	if d := cmp.Diff(whole.Result(usual), small.Result(usual), exactly); d != "" {
		t.Error(d)
	}
	for range 2 {
		if err := small.Close(); err != nil {
			t.Error(err)
		}
	}
	if files := spilltest.Open(t, folder); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestAFileThatCannotBeMadeOrReadIsAnError(t *testing.T) {
	w := NewWatch(Config{Memory: 10, TempDir: t.TempDir() + "/absent"})
	b := batchOf(manyLines(5)...)
	defer b.Release()
	if err := w.AddLines(b); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	folder := t.TempDir()
	w = NewWatch(Config{Memory: 10, TempDir: folder})
	if err := w.AddLines(b); err != nil {
		t.Fatal(err)
	}
	spilltest.Damage(t, folder, spilltest.Cut)
	if err := Chains(t.Context(), []*Watch{w}); err == nil {
		t.Error("a file that was cut is read without an error")
	}
	if err := w.lines.spill.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.AddLines(b); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}

func TestChainsStopWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	w := NewWatch(Config{})
	addLines(t, w, manyLines(5)...)
	if err := Chains(ctx, []*Watch{w}); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}

func TestAShelfOfManyChainsStopsBetweenTwo(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	w := NewWatch(Config{})
	addLines(t, w, linesOf("c", "a 0-100")...)
	var shelf loaded
	for s := range shelves {
		if err := w.lines.load(&shelf, s, translations([]*Watch{w})[0][0]); err != nil {
			t.Fatal(err)
		}
	}
	cancel(stopped)
	if err := w.addChains(ctx, &shelf); !errors.Is(err, stopped) || w.total.N() > 0 {
		t.Errorf("%v, %d chains", err, w.total.N())
	}
}

func TestChainsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want uint64
	}{
		{[]string{"c-1", "c-2"}, 2},
		{[]string{"c-1", "c-1"}, 1},
		{[]string{"0A", "000a", "0xA"}, 1}, // one number
		{[]string{"0000000000000001ffffffffffffffff", "0000000000000002ffffffffffffffff"}, 2},
	} {
		var lines []testLine
		for i, id := range c.ids {
			lines = append(lines, testLine{chain: id, hop: "a", start: 10 * i, end: 10*i + 5})
		}
		if got := logOf(t, lines...).Result(usual).EndToEnd.N; got != c.want {
			t.Errorf("%q: %d chains, want %d", c.ids, got, c.want)
		}
	}
}

// The table of a shelf may be as full as it gets, with many ids in one place.
func TestRunsAreLinkedByTheirIDs(t *testing.T) {
	var shelf loaded
	want := map[string]int{}
	for i := range 300 {
		id := fmt.Sprint((i * i) % 150)
		want[id]++
		shelf.runs = append(shelf.runs, lineRun{id: []byte(id), hash: uint32(len(id)), next: -1})
	}
	shelf.link()
	got := map[string]int{}
	for _, first := range shelf.firsts {
		for i := first; i >= 0; i = shelf.runs[i].next {
			if string(shelf.runs[i].id) != string(shelf.runs[first].id) {
				t.Fatalf("run %d is in the chain of run %d", i, first)
			}
			got[string(shelf.runs[i].id)]++
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(shelf.firsts) != len(want) {
		t.Errorf("%d chains: %s", len(shelf.firsts), d)
	}
}

func TestTheNameOfAChainIsItsText(t *testing.T) {
	var lines []testLine
	for i := range 40 {
		lines = append(lines, linesOf(fmt.Sprint("order ", i), "a 0-100", "b 10-20")...)
	}
	lines = append(lines, linesOf("the slow one", "a 0-9000", "b 10-20")...)
	for _, h := range logOf(t, lines...).Result(usual).Hops {
		if h.Name == "a" && h.Exemplars[0] != "the slow one" {
			t.Errorf("exemplars %v", h.Exemplars)
		}
	}
}

func TestAChainIsNamedAsItWasWritten(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"1029"}, "1029"},
		{[]string{"007"}, "007"},
		{[]string{"0af7651916cd43dd8448eb211c80319c"}, "0af7651916cd43dd8448eb211c80319c"},
		{[]string{"0AF7651916CD43DD8448EB211C80319C"}, "0AF7651916CD43DD8448EB211C80319C"},
		{[]string{"0x1f"}, "0000000000000000000000000000001f"},
		{[]string{"aB"}, "000000000000000000000000000000ab"},
		{[]string{"1f", "0001f", "1F", "0x1f"}, "1F"},
	} {
		var lines []testLine
		for i, id := range c.ids {
			lines = append(lines, testLine{chain: id, hop: "a", start: 10 * i, end: 10*i + 10})
		}
		for range 2 {
			if got := logOf(t, lines...).Result(usual).Hops[0].Exemplars; len(got) != 1 || got[0] != c.want {
				t.Errorf("%q: %v, want %s", c.ids, got, c.want)
			}
			slices.Reverse(lines)
		}
	}
}
