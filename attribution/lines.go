package attribution

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its watches.
type Config struct {
	// Memory is in bytes, for the lines of hop logs that one watch holds until
	// their chains are whole; 0 sets no limit. Beyond it they go to a file.
	Memory int64
	// TempDir is where that file is made; "" is the system's folder.
	TempDir string
}

// shelves is into how many parts lines are sorted by their chain. One part of all
// watches is put together at a time, by each worker.
const shelves = 256

// lineStore keeps lines of hop logs, some 30 bytes each, until all are there.
type lineStore struct {
	config  Config
	shelves [shelves]shelf
	held    int64 // bytes in memory
	spill   *spill
	record  []byte
	lastRaw []byte // the id seen last, and what it is
	last    lineID
}

// lineID is a chain's id.
type lineID struct {
	id     spans.TraceID
	opaque bool
}

// shelf has lines in memory, and pieces of the file.
type shelf struct {
	arena
	spilled []piece
}

func newLineStore(c Config) lineStore {
	if c.Memory <= 0 {
		c.Memory = math.MaxInt64
	}
	return lineStore{config: c}
}

// AddLines keeps what it needs of a batch of a hop log with the columns Traces
// and Starts; the batch stays the caller's. An error is one of writing the file.
func (w *Watch) AddLines(b *spans.Batch) error {
	w.table.use(b.Hops, nil)
	for i := range b.Len() {
		w.counts.lines++
		id := b.Trace(i)
		if id == nil {
			w.counts.loneLines++
			continue
		}
		if b.HasDuration(i) && b.Duration[i] >= 0 {
			w.lines.add(id, b, i, w.table.hopAt(b.Hops, b.Hop[i]))
		}
	}
	if w.lines.held > w.lines.config.Memory {
		return w.lines.spillAll()
	}
	return nil
}

// add writes a line as a record. Lines of a chain often come together, so its id
// is read once.
func (s *lineStore) add(raw []byte, b *spans.Batch, i int, hop int32) {
	if s.lastRaw == nil || !bytes.Equal(raw, s.lastRaw) {
		s.lastRaw = append(s.lastRaw[:0], raw...)
		s.last.id, s.last.opaque = spans.ParseTraceID(raw)
	}
	start, timed := b.Start(i)
	r := s.last.append(s.record[:0], raw)
	ended := b.Outcome[i] | b.CutBy[i]<<2
	if timed {
		ended |= 1 << 7
	}
	r = append(r, ended, b.Failure[i])
	r = binary.AppendUvarint(r, uint64(hop))
	r = binary.AppendUvarint(r, uint64(b.Duration[i]))
	if timed {
		r = binary.LittleEndian.AppendUint64(r, uint64(start))
	}
	s.record = r
	s.held += int64(len(r))
	s.shelves[shelfOf(s.last.id)].append(r)
}

// append writes an id: 0 and its number, or its text behind its length.
func (l lineID) append(r, raw []byte) []byte {
	if !l.opaque {
		r = append(r, 0)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(r, l.id.Hi), l.id.Lo)
	}
	return append(binary.AppendUvarint(r, uint64(len(raw))), raw...)
}

func shelfOf(id spans.TraceID) int {
	return int(groupOf(spans.TraceID{Hi: id.Lo, Lo: id.Hi}) % shelves)
}

// loaded is what one shelf holds: lines, and the blocks that their texts lie in.
type loaded struct {
	lines  []line
	blocks [][]byte
	last   lineID // of the text read last
	raw    []byte

	slots, firsts, next []int32 // see group
}

// textRef is where the text of an id lies: a block, and a place in it with the
// length before it. The zero value is none.
type textRef struct{ block, at uint32 }

// read adds the lines of a block; their hops get other numbers.
func (l *loaded) read(block []byte, hops []int32) {
	l.blocks = append(l.blocks, block)
	for rest := block; len(rest) > 0; {
		var one line
		if rest[0] == 0 {
			one.id = spans.TraceID{Hi: binary.LittleEndian.Uint64(rest[1:]), Lo: binary.LittleEndian.Uint64(rest[9:])}
			rest = rest[17:]
		} else {
			one.text = textRef{uint32(len(l.blocks)), uint32(len(block) - len(rest))}
			one.id, rest = l.textID(rest)
		}
		rest = one.read(rest)
		one.hop = hops[one.hop]
		l.lines = append(l.lines, one)
	}
}

// textID reads an id that is no number; often it is that of the line before.
func (l *loaded) textID(b []byte) (spans.TraceID, []byte) {
	n, b := uvarint(b)
	if raw := b[:n]; !bytes.Equal(raw, l.raw) {
		l.raw = raw
		l.last.id, _ = spans.ParseTraceID(raw)
	}
	return l.last.id, b[n:]
}

// text returns the text at a place, "" for none.
func (l *loaded) text(at textRef) string {
	if at.block == 0 {
		return ""
	}
	n, b := uvarint(l.blocks[at.block-1][at.at:])
	return string(b[:n])
}

// read reads what follows the id.
func (l *line) read(b []byte) (rest []byte) {
	l.outcome, l.cutBy, l.timed = spans.Outcome(b[0]&3), spans.CutBy(b[0]>>2&7), b[0]>>7 != 0
	l.failure = spans.Failure(b[1])
	hop, b := uvarint(b[2:])
	duration, b := uvarint(b)
	l.hop, l.duration = int32(hop), int64(duration)
	if l.timed {
		l.start, b = int64(binary.LittleEndian.Uint64(b)), b[8:]
	}
	return b
}

// addChains brings the lines of each chain together, in a table by the hash of
// their ids, and looks at it.
func (w *Watch) addChains(shelf *loaded) {
	shelf.group()
	for _, first := range shelf.firsts {
		c := w.chain.lines[:0]
		for i := first; i >= 0; i = shelf.next[i] {
			c = append(c, shelf.lines[i])
		}
		w.chain.lines = c
		w.addChain(c[0].id, func() string { return shelf.nameOf(c) })
	}
}

// group links the lines of each chain: firsts holds one line of each, next the one
// after it, -1 at the end.
func (l *loaded) group() {
	slots := 1 << bits.Len(uint(2*len(l.lines)))
	l.slots = append(l.slots[:0], make([]int32, slots)...) // one more than the first line
	l.firsts, l.next = l.firsts[:0], l.next[:0]
	for i := range l.lines {
		slot := l.slotOf(l.lines[i].id)
		first := *slot - 1
		if first < 0 {
			*slot = int32(i) + 1
			l.firsts = append(l.firsts, int32(i))
			l.next = append(l.next, -1)
			continue
		}
		l.next = append(l.next, l.next[first])
		l.next[first] = int32(i)
	}
}

// slotOf returns the slot of a chain, or the free one where it belongs.
func (l *loaded) slotOf(id spans.TraceID) *int32 {
	mask := len(l.slots) - 1
	for at := int(hashOf(id)>>16) & mask; ; at = (at + 1) & mask {
		if first := l.slots[at] - 1; first < 0 || l.lines[first].id == id {
			return &l.slots[at]
		}
	}
}

// nameOf is a chain's id as it is printed: of several texts the smallest, so that
// it does not matter which came first.
func (l *loaded) nameOf(lines []line) string {
	name := ""
	for _, one := range lines {
		if text := l.text(one.text); name == "" || text != "" && text < name {
			name = text
		}
	}
	if name == "" {
		return lines[0].id.String()
	}
	return name
}
