package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// What reading a file took serves the next: the bytes allocated for one more file, and
// those kept to the end of the run, are counted. 2 KiB kept are 20 MiB in 10,000 files.
func TestOneMoreFileCostsLittleMemory(t *testing.T) {
	const kept, allocated = 1 << 10, 12 << 10
	lines := strings.Repeat(rowA+rowB, 20)
	for name, in := range map[string]string{
		"plain": lines, "gzip": gzipped(t, lines), "zstd": zstandard(t, lines), "empty": "",
		"CSV": "hop,duration_ms\na,1\nb,2\n", "Jaeger": `{"data":[` + uiTrace + `]}`,
	} {
		few := costOfFiles(t, name, in, 100)
		many := costOfFiles(t, name, in, 400)
		if one := (many.kept - few.kept) / 300; one > kept {
			t.Errorf("%s: %d bytes are kept of a file that was read, more than %d", name, one, kept)
		}
		// Under the race detector a pool forgets at random what it is given.
		if one := (many.allocated - few.allocated) / 300; one > allocated && !raceDetector {
			t.Errorf("%s: %d bytes are allocated for one more file, more than %d", name, one, allocated)
		}
	}
}

// cost is in bytes.
type cost struct{ kept, allocated int64 }

func costOfFiles(t *testing.T, name, in string, n int) cost {
	t.Helper()
	folder := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s%05d", name, i)), []byte(in), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := how{}.config(t)
	before := heap()
	sources, err := Resolve([]string{folder}, nil)
	if err != nil || len(sources) != n {
		t.Fatal(len(sources), err)
	}
	decoder, ledger := NewDecoder(c, newChecked(t), 0, false), NewLedger()
	defer decoder.Release()
	for _, src := range sources {
		readThrough(t, src, c, decoder, ledger)
	}
	after := heap()
	if s := ledger.Summary(false); len(s.Files) != n {
		t.Fatalf("%d files of %d", len(s.Files), n)
	}
	runtime.KeepAlive(sources)
	return cost{after.kept - before.kept, after.allocated - before.allocated}
}

func readThrough(t *testing.T, src Source, c Config, decoder *Decoder, ledger *Ledger) {
	t.Helper()
	f, err := Open(src, c, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	for chunk, err := f.Next(); err == nil; chunk, err = f.Next() {
		if err := ledger.Add(decoder.Decode(chunk, (*spans.Batch).Release)); err != nil {
			t.Fatal(err)
		}
		chunk.Release()
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ledger.Done(f)
}

// heap is what the heap holds and what was ever allocated. What waits to be used
// again is let go by two collections.
func heap() cost {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return cost{int64(m.HeapAlloc), int64(m.TotalAlloc)}
}
