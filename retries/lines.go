package retries

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/spans"
)

// shelves is into how many parts lines are sorted by their chain. One part of all
// watches is put together at a time, by each worker.
const shelves = 64

// lineStore keeps the lines of hop logs that gave up or are retries, some 30 bytes
// each, until all are there: no others can belong to a call with retries.
type lineStore struct {
	memory  int64  // most bytes to hold, 0 for no limit
	folder  string // of the file for the rest
	shelves [shelves]shelf
	held    int64 // bytes in memory
	file    *spill.File
	record  []byte
}

// shelf has lines in memory, and pieces of the file.
type shelf struct {
	blocks  [][]byte
	spilled []spill.Piece
}

// blockBytes is the size of a block but for the first few, which are smaller.
const blockBytes = 64 << 10

// line is a kept line: its chain, and the attempt.
type line struct {
	id spans.TraceID
	try
}

// The head of a record: outcome, who cut it, and these.
const (
	headTimed   = 1 << 5
	headRetry   = 1 << 6
	headSuspect = 1 << 7
)

// add keeps a line. An error is one of writing the file.
func (s *lineStore) add(id spans.TraceID, t try) error {
	s.record = t.appendTo(s.record[:0], id)
	s.held += int64(len(s.record))
	s.shelves[(id.Lo*0x9e3779b97f4a7c15+id.Hi)>>32%shelves].append(s.record)
	if s.memory > 0 && s.held > s.memory {
		return s.spill()
	}
	return nil
}

// appendTo writes a record.
func (t *try) appendTo(r []byte, id spans.TraceID) []byte {
	r = binary.LittleEndian.AppendUint64(r, id.Hi)
	r = binary.LittleEndian.AppendUint64(r, id.Lo)
	r = append(r, t.head(), byte(t.failure))
	r = binary.AppendUvarint(r, uint64(t.hop))
	r = binary.AppendUvarint(r, uint64(t.duration))
	if t.timed {
		r = binary.LittleEndian.AppendUint64(r, uint64(t.start))
	}
	return r
}

func (t *try) head() byte {
	head := byte(t.outcome) | byte(t.cutBy)<<2
	if t.timed {
		head |= headTimed
	}
	if t.retry {
		head |= headRetry
	}
	if t.suspect {
		head |= headSuspect
	}
	return head
}

// spill moves all lines to the file.
func (s *lineStore) spill() (err error) {
	if s.file == nil {
		s.file = spill.New(s.folder, "retries")
	}
	for i := range s.shelves {
		h := &s.shelves[i]
		for _, block := range h.blocks {
			p, err := s.file.Write(block)
			if err != nil {
				return err
			}
			h.spilled = append(h.spilled, p)
		}
		h.blocks = nil
	}
	s.held = 0
	return nil
}

// Close removes what a watch has on disk; calling it again does nothing.
func (w *Watch) Close() error {
	return w.lines.file.Close()
}

// append adds a record to the last block, if that has room for it.
func (h *shelf) append(r []byte) {
	blocks := h.blocks
	last := len(blocks) - 1
	if last < 0 || cap(blocks[last])-len(blocks[last]) < len(r) {
		blocks = append(blocks, make([]byte, 0, min(blockBytes, 512<<min(len(blocks), 8))))
		last++
	}
	blocks[last] = append(blocks[last], r...)
	h.blocks = blocks
}

// take adds the lines of a shelf to others and forgets them; their hops get other
// numbers.
func (s *lineStore) take(to []line, at int, hops []int32) ([]line, error) {
	h := &s.shelves[at]
	for _, p := range h.spilled {
		block := make([]byte, p.Size())
		if err := s.file.Read(p, block); err != nil {
			return to, err
		}
		to = readLines(to, block, hops)
	}
	for _, block := range h.blocks {
		to = readLines(to, block, hops)
	}
	*h = shelf{}
	return to, nil
}

func readLines(to []line, block []byte, hops []int32) []line {
	for len(block) > 0 {
		var one line
		one, block = readLine(block)
		one.hop = hops[one.hop]
		to = append(to, one)
	}
	return to
}

// readLine reads what appendTo wrote.
func readLine(b []byte) (line, []byte) {
	l := line{id: spans.TraceID{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}}
	head := b[16]
	l.outcome, l.cutBy = spans.Outcome(head&3), spans.CutBy(head>>2&7)
	l.timed, l.retry, l.suspect = head&headTimed != 0, head&headRetry != 0, head&headSuspect != 0
	l.failure, l.span = spans.Failure(b[17]), -1
	hop, n := binary.Uvarint(b[18:])
	b = b[18+n:]
	duration, n := binary.Uvarint(b)
	b = b[n:]
	l.hop, l.duration = int32(hop), int64(duration)
	if l.timed {
		l.start, b = int64(binary.LittleEndian.Uint64(b)), b[8:]
	}
	return l, b
}

// sortLines brings the lines of each chain together. Lines that compare equal are
// the same, so no result depends on the order in which they came.
func sortLines(list []line) {
	slices.SortFunc(list, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.id.Hi, b.id.Hi), cmp.Compare(a.id.Lo, b.id.Lo), compareTries(a.try, b.try))
	})
}
