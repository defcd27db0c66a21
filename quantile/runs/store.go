package runs

import (
	"sync/atomic"
	"unsafe"

	"github.com/tailscope/tailscope/internal/spill"
)

const (
	// A quarter of a store's limit is not for pages, which are never written out.
	notForPages = 4
	// leastSpill is the size of runs, in bytes, that are worth being written.
	leastSpill = 4 << 10
	// fewPending values are all that is collected before it is sorted, where
	// memory is short.
	fewPending = 256
)

// Store bounds the memory of many samples: where they hold more than its limit,
// it writes the runs of the largest to a temporary file, from which walks read
// them again. Nothing is lost or rounded by it.
//
// A Store and its samples belong to one goroutine while values are added.
// Afterwards several may read its samples, each its own. A nil *Store has no
// limit.
type Store struct {
	limit   uint64
	held    uint64 // bytes, as far as its samples reported
	pages   uint64 // bytes of pages opened
	trigger uint64 // where to write runs out next
	samples []*Sample
	file    *spill.File
	failed  atomic.Pointer[error]
}

// NewStore returns a store of samples that hold about limit bytes in memory, and
// the rest in a file in folder dir, by default the system's for temporary files.
// What cannot be written out, the pages and the latest values of each sample,
// may exceed a small limit. Close must be called.
func NewStore(limit int64, dir string) *Store {
	bytes := uint64(max(limit, 0))
	return &Store{limit: bytes, trigger: bytes, file: spill.New(dir, "durations")}
}

// New returns an empty sample of the store.
func (st *Store) New() *Sample { return &Sample{store: st} }

// Err returns the first error of writing or reading the file. After one, samples
// still say how many values they have, but what these are is not to be trusted.
func (st *Store) Err() error {
	if st == nil {
		return nil
	}
	if err := st.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close deletes the file. Samples that were written out must not be read any
// more.
func (st *Store) Close() error {
	if st == nil {
		return nil
	}
	return st.file.Close()
}

func (st *Store) fail(err error) {
	st.failed.CompareAndSwap(nil, &err)
}

// allowsPage takes the memory of one more page into account if it may be had.
func (st *Store) allowsPage() bool {
	if st == nil {
		return true
	}
	bytes := uint64(unsafe.Sizeof(page{}))
	if st.pages+bytes > st.limit-st.limit/notForPages {
		return false
	}
	st.pages += bytes
	return true
}

// overLimit reports whether samples should not grow their buffers.
func (st *Store) overLimit() bool { return st != nil && st.held > st.limit }

// account takes note of what s holds, and makes room.
func (st *Store) account(s *Sample) {
	if st == nil {
		return
	}
	if len(s.runs) > 0 && !s.listed {
		st.samples, s.listed = append(st.samples, s), true
	}
	st.note(s)
	if st.held > st.trigger {
		st.shrink()
	}
}

func (st *Store) note(s *Sample) {
	now := s.countedBytes()
	st.held += now - s.accounted
	s.accounted = now
}

// forget takes s out of the account; it is empty from here on.
func (st *Store) forget(s *Sample) {
	if st != nil {
		st.held -= s.accounted
	}
}

// shrink writes out the runs of the samples that hold most, until a quarter of
// the limit is free. Where that cannot be reached it waits for as much more, so
// that it is not tried at every step.
func (st *Store) shrink() {
	goal := st.limit - st.limit/4
	for st.held > goal && st.Err() == nil {
		s := st.largest()
		if s == nil || s.heldByRuns() < leastSpill {
			break
		}
		st.writeOut(s)
	}
	st.trigger = max(st.limit, st.held+st.limit/4)
}

// largest returns the sample whose runs hold most memory, and drops those from
// the list that were merged into others.
func (st *Store) largest() (most *Sample) {
	kept := st.samples[:0]
	var bytes uint64
	for _, s := range st.samples {
		if len(s.runs) == 0 {
			s.listed = false
			continue
		}
		kept = append(kept, s)
		if n := s.heldByRuns(); n > bytes {
			most, bytes = s, n
		}
	}
	clear(st.samples[len(kept):])
	st.samples = kept
	return most
}

// writeOut moves the runs of s to the file. What could not be written stays in
// memory.
func (st *Store) writeOut(s *Sample) {
	for i := range s.runs {
		r := &s.runs[i]
		for j := range r.blocks {
			if b := &r.blocks[j]; b.written == nil && !st.take(b) {
				return
			}
		}
		r.held = 0
	}
	st.note(s)
}

// take writes a block to the file, and reports whether it lies there.
func (st *Store) take(b *block) bool {
	if st == nil || st.Err() != nil {
		return false
	}
	at, err := st.file.Write(b.data)
	if err != nil {
		st.fail(err)
		return false
	}
	b.data, b.written = nil, &written{at, st}
	return true
}

// load returns what a block holds, from the file if it lies there.
func (b *block) load() ([]byte, bool) {
	if b.written == nil {
		return b.data, true
	}
	st, data := b.written.store, make([]byte, b.written.piece.Size())
	if err := st.file.Read(b.written.piece, data); err != nil {
		st.fail(err)
		return nil, false
	}
	return data, true
}
