package assembly

import (
	"encoding/binary"

	"github.com/tailscope/tailscope/internal/records"

	"github.com/tailscope/tailscope/spans"
)

// A run is written as the upper half of the hash of its chain's id, the id, how the
// id was spelled, and its lines. A line is a byte of flags, the number of its site
// where the flags do not hold it, how it ended unless it completed, its duration,
// and its start as the distance to that of the line before; for the first line of a
// run, of the run before in the same part.

// The flags of a line.
const (
	flagLast   = 1 << iota // of its run
	flagTimed              // it has a start
	flagMicros             // the duration is written in whole microseconds
	flagEnded              // how it ended follows
	siteShift  = iota      // where the number of its site begins
)

// These stand with how a line ended.
const (
	bitMayBeCut = 1 << 6
	bitRetry    = 1 << 7
)

// farSite is what the flags hold of a number that, less this, follows.
const farSite = 1<<(8-siteShift) - 1

// runWriter is a record that is being written.
type runWriter struct {
	part  *chainPart // nil: none is
	id    []byte
	bytes []byte
	flags int   // where those of the last line are
	start int64 // of the line before, in ns
	first bool  // no line has a start yet
}

// begin starts the record of a chain's next run.
func (r *runWriter) begin(c *ChainCollector, text []byte) {
	id, opaque := spans.ParseTraceID(text)
	hash := id.Hash()
	r.part, r.id = &c.parts[hash%chainParts], text
	r.start, r.first = r.part.start, true
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
	return append(records.Append(b, uint64(len(text))+1), text...)
}

// line adds a line of a batch to the record.
func (r *runWriter) line(batch *spans.Batch, i int, site int32, mayBeCut bool) {
	r.flags = len(r.bytes)
	flags, duration := byte(0), batch.Duration[i]
	b := append(r.bytes, 0)
	if site < farSite {
		flags = byte(site) << siteShift
	} else {
		flags = farSite << siteShift
		b = records.Append(b, uint64(site-farSite))
	}
	if ended := endingOf(batch, i, mayBeCut); ended != 0 || batch.Failure[i] != 0 {
		flags |= flagEnded
		b = append(b, ended, batch.Failure[i])
	}
	if duration%1000 == 0 {
		flags |= flagMicros
		duration /= 1000
	}
	b = records.Append(b, uint64(duration))
	if start, timed := batch.Start(i); timed {
		flags |= flagTimed
		b = records.Append(b, records.Zigzag(start-r.start)) // where it overflows, so does its inverse
		r.begun(start)
	}
	b[r.flags] = flags
	r.bytes = b
}

func endingOf(b *spans.Batch, i int, mayBeCut bool) byte {
	ended := byte(b.Outcome[i] | b.CutBy[i]<<2)
	if b.Retry(i) {
		ended |= bitRetry
	}
	if mayBeCut {
		ended |= bitMayBeCut
	}
	return ended
}

// begun notes the start of a line for the next.
func (r *runWriter) begun(start int64) {
	r.start = start
	if r.first {
		r.first, r.part.start = false, start
	}
}

// chainRun is a run that was read: attempts of one chain, and the next run of that
// chain.
type chainRun struct {
	id             []byte // as it was written
	hash           uint32
	spelling       spelling
	anyCut         bool  // an attempt was cut
	untimed        bool  // an attempt has no start
	from, to, next int32 // next: -1 for none
}

// join takes over what another run tells of the whole chain, whichever came first.
func (r *chainRun) join(o *chainRun) {
	r.spelling = max(r.spelling, o.spelling)
	r.anyCut, r.untimed = r.anyCut || o.anyCut, r.untimed || o.untimed
}

// group is that of the chain.
func (r *chainRun) group() uint16 { return uint16(r.hash >> 16) }

// Name is the chain's id as it is printed.
func (r *chainRun) Name() string {
	n, text := records.Take(r.id)
	if n > 0 {
		return string(text)
	}
	return r.spelling.of(spans.TraceID{Hi: binary.LittleEndian.Uint64(text), Lo: binary.LittleEndian.Uint64(text[8:])})
}

// cutID takes an id as it was written off the front.
func cutID(b []byte) (id, rest []byte) {
	n, text := records.Take(b)
	size := 16
	if n > 0 {
		size = int(n) - 1
	}
	at := len(b) - len(text) + size
	return b[:at:at], b[at:]
}

// unpackLine reads what stands before the start of a line.
func unpackLine(a *spans.Attempt, b []byte, sites []site) (rest []byte) {
	flags := b[0]
	b = b[1:]
	at := uint64(flags >> siteShift)
	if at == farSite {
		at, b = records.Take(b)
		at += farSite
	}
	a.Hop, a.Instance, a.Parent = sites[at].hop, sites[at].instance, -1
	if flags&flagEnded != 0 {
		a.Outcome, a.CutBy, a.Failure = spans.Outcome(b[0]&3), spans.CutBy(b[0]>>2&7), spans.Failure(b[1])
		a.Retry, a.MayBeCut = b[0]&bitRetry != 0, b[0]&bitMayBeCut != 0
		b = b[2:]
	}
	n, b := records.Take(b)
	a.Duration = int64(n)
	if flags&flagMicros != 0 {
		a.Duration *= 1000
	}
	return b
}
