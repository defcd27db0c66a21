package attribution

import (
	"bytes"
	"math"

	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its watches.
type Config struct {
	// Memory is in bytes, for the lines of hop logs that one watch holds until
	// their chains are whole; 0 sets no limit. Beyond it they go to a file.
	Memory int64
	// PassUpCuts makes a failed line that holds a cut line of another hop of its
	// chain a cut from below. Whole traces come with theirs marked.
	PassUpCuts bool
	// TempDir is where that file is made; "" is the system's folder.
	TempDir string
	// EachChain is told of every chain of a hop log once its lines are nested. The
	// slices are good until it returns; hops only grow.
	EachChain func(hops []spans.Hop, chain []spans.Attempt)
}

// shelves is into how many parts lines are sorted by their chain. One part of all
// watches is put together at a time, by each worker.
const shelves = 256

// lineStore keeps lines of hop logs until all are there. Lines of a chain often
// come one behind the other: such a run is one record, with some 20 bytes for its
// chain and 7 for each line.
type lineStore struct {
	config  Config
	shelves [shelves]shelf
	held    int64 // bytes in memory
	spill   *spill.File
	writing runRecord
}

// shelf has records in memory, and pieces of the file.
type shelf struct {
	arena
	spilled []spill.Piece
	start   int64 // of the last run, in ns
}

func newLineStore(c Config) lineStore {
	if c.Memory <= 0 {
		c.Memory = math.MaxInt64
	}
	return lineStore{config: c}
}

// AddLines keeps what it needs of a batch of a hop log with the columns Traces and
// Starts, and Instances where those are wanted; the batch stays the caller's. An error is one of writing the file.
func (w *Watch) AddLines(b *spans.Batch) error {
	w.table.use(b.Hops, nil, b.Instances)
	for i := range b.Len() {
		w.counts.lines++
		id := b.Trace(i)
		if id == nil {
			w.counts.loneLines++
			continue
		}
		if b.HasDuration(i) && b.Duration[i] >= 0 {
			w.lines.add(id, b, i, w.table.partAt(b.Hops, b.Hop[i], w.table.placeOfLine(b, i)))
		}
	}
	w.lines.endRun()
	if w.lines.held > w.lines.config.Memory {
		return w.lines.spillAll()
	}
	return nil
}

// add writes a line into the record of its run.
func (s *lineStore) add(id []byte, b *spans.Batch, i int, part int32) {
	r := &s.writing
	if r.shelf == nil || !bytes.Equal(id, r.id) {
		s.endRun()
		r.begin(s, id)
	}
	r.line(b, i, part)
}

// endRun puts the record that is being written on its shelf, if there is one.
func (s *lineStore) endRun() {
	r := &s.writing
	if r.shelf == nil {
		return
	}
	r.bytes[r.flags] |= flagLast
	s.held += int64(len(r.bytes))
	r.shelf.append(r.bytes)
	r.shelf, r.id = nil, nil // the id is the batch's
}
