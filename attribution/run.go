package attribution

import (
	"encoding/binary"

	"github.com/tailscope/tailscope/spans"
)

// A run is written as the upper half of the hash of its chain's id, the id, how the
// id was spelled, and its lines. A line is a byte of flags, the number of its hop at its instance where the flags do not hold it,
// how it ended unless it completed, its duration, and its start as the distance
// to that of the line before; for the first line of a run, of the run before on
// the same shelf.

// The flags of a line.
const (
	flagLast   = 1 << iota // of its run
	flagTimed              // it has a start
	flagMicros             // the duration is written in whole microseconds
	flagEnded              // how it ended follows
	partShift  = iota      // where the number of the hop at its instance begins
)

// retryBit stands with how a line ended: the source says that it is a retry.
const retryBit = 1 << 7

// farPart is what the flags hold of a number that, less this, follows.
const farPart = 1<<(8-partShift) - 1

// runRecord is a record that is being written.
type runRecord struct {
	shelf *shelf // nil: none is
	id    []byte
	bytes []byte
	flags int   // where those of the last line are
	start int64 // of the line before, in ns
	first bool  // no line has a start yet
}

// begin starts the record of a chain's next run.
func (r *runRecord) begin(s *lineStore, text []byte) {
	id, opaque := spans.ParseTraceID(text)
	hash := hashOf(id)
	r.shelf, r.id = &s.shelves[hash%shelves], text
	r.start, r.first = r.shelf.start, true
	r.bytes = appendID(binary.LittleEndian.AppendUint32(r.bytes[:0], uint32(hash>>32)), id, opaque, text)
	r.bytes = append(r.bytes, byte(spellingOf(text)))
}

// appendID writes an id: 0 and its number, or its text behind one more than its
// length. Equal ids are equal bytes.
func appendID(b []byte, id spans.TraceID, opaque bool, text []byte) []byte {
	if !opaque {
		b = append(b, 0)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, id.Hi), id.Lo)
	}
	return append(appendUvarint(b, uint64(len(text))+1), text...)
}

// line adds a line of a batch to the record.
func (r *runRecord) line(batch *spans.Batch, i int, part int32) {
	r.flags = len(r.bytes)
	flags, duration := byte(0), batch.Duration[i]
	b := append(r.bytes, 0)
	if part < farPart {
		flags = byte(part) << partShift
	} else {
		flags = farPart << partShift
		b = appendUvarint(b, uint64(part-farPart))
	}
	ended := byte(batch.Outcome[i] | batch.CutBy[i]<<2)
	if batch.Retry(i) {
		ended |= retryBit
	}
	if ended != 0 || batch.Failure[i] != 0 {
		flags |= flagEnded
		b = append(b, ended, batch.Failure[i])
	}
	if duration%1000 == 0 {
		flags |= flagMicros
		duration /= 1000
	}
	b = appendUvarint(b, uint64(duration))
	if start, timed := batch.Start(i); timed {
		flags |= flagTimed
		b = appendUvarint(b, zigzag(start-r.start)) // where it overflows, so does its inverse
		r.begun(start)
	}
	b[r.flags] = flags
	r.bytes = b
}

// begun notes the start of a line for the next.
func (r *runRecord) begun(start int64) {
	r.start = start
	if r.first {
		r.first, r.shelf.start = false, start
	}
}

// lineRun is one that was read: lines of one chain, and the next run of that chain.
type lineRun struct {
	id             []byte // as it was written
	hash           uint32
	spelling       spelling
	from, to, next int32 // next: -1 for none
}

// group is that of the chain, as groupOf gives it.
func (r *lineRun) group() uint16 { return uint16(r.hash >> 16) }

// name is the chain's id as it is printed.
func (r *lineRun) name() string {
	n, text := uvarint(r.id)
	if n > 0 {
		return string(text)
	}
	return r.spelling.of(spans.TraceID{Hi: binary.LittleEndian.Uint64(text), Lo: binary.LittleEndian.Uint64(text[8:])})
}

// loaded is what one shelf holds of all watches.
type loaded struct {
	runs  []lineRun
	lines []line
	room  []byte // for blocks from files

	slots, firsts []int32 // see link
}

// forget makes room for another shelf.
func (l *loaded) forget() {
	clear(l.runs) // the blocks of their ids
	l.runs, l.lines, l.room = l.runs[:0], l.lines[:0], l.room[:0]
}

// take returns room of n bytes. What was taken before stays where it is.
func (l *loaded) take(n int) []byte {
	if cap(l.room)-len(l.room) < n {
		l.room = make([]byte, 0, max(n, 2*cap(l.room)))
	}
	at := len(l.room)
	l.room = l.room[:at+n]
	return l.room[at:]
}

// read adds the runs of a block; their parts get other numbers. start is that of
// the last run of the block before, and then of this one.
func (l *loaded) read(block []byte, parts []member, start int64) int64 {
	for len(block) > 0 {
		r := lineRun{hash: binary.LittleEndian.Uint32(block), from: int32(len(l.lines)), next: -1}
		r.id, block = cutID(block[4:])
		r.spelling, block = spelling(block[0]), block[1:]
		block, start = l.readLines(block, parts, start)
		r.to = int32(len(l.lines))
		l.runs = append(l.runs, r)
	}
	return start
}

// cutID takes an id as it was written off the front.
func cutID(b []byte) (id, rest []byte) {
	n, text := uvarint(b)
	size := 16
	if n > 0 {
		size = int(n) - 1
	}
	at := len(b) - len(text) + size
	return b[:at:at], b[at:]
}

// readLines adds the lines of a run and returns the start of its first.
func (l *loaded) readLines(b []byte, parts []member, start int64) (rest []byte, first int64) {
	before, begun := start, false
	for {
		var one line
		flags := b[0]
		b = one.read(b, parts)
		if flags&flagTimed != 0 {
			var distance uint64
			distance, b = uvarint(b)
			before += unzigzag(distance)
			one.start, one.timed = before, true
			if !begun {
				start, begun = before, true
			}
		}
		l.lines = append(l.lines, one)
		if flags&flagLast != 0 {
			return b, start
		}
	}
}

// read reads what stands before the start.
func (l *line) read(b []byte, parts []member) (rest []byte) {
	flags := b[0]
	b = b[1:]
	part := uint64(flags >> partShift)
	if part == farPart {
		part, b = uvarint(b)
		part += farPart
	}
	l.part, l.hop = parts[part].part, parts[part].hop
	if flags&flagEnded != 0 {
		l.outcome, l.cutBy, l.failure = spans.Outcome(b[0]&3), spans.CutBy(b[0]&^retryBit>>2), spans.Failure(b[1])
		l.retry = b[0]&retryBit != 0
		b = b[2:]
	}
	n, b := uvarint(b)
	l.duration = int64(n)
	if flags&flagMicros != 0 {
		l.duration *= 1000
	}
	return b
}
