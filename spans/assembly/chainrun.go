package assembly

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/tailscope/tailscope/internal/records"

	"github.com/tailscope/tailscope/spans"
)

// A run is written as how the id of its chain was spelled, the id, as its text if it is
// no number, and its lines. A line is a byte of flags, the number of its site where the
// flags do not hold it, how it ended unless it completed, its duration, and its start
// as the distance to that of the line before; for the first line of a run, of the run
// before in the same partition.

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
	id         spans.TraceID
	partition  int
	text       []byte // of the id; nil: nothing is being written
	bytes      []byte
	flags      int   // where those of the last line are
	start      int64 // of the line before, in ns
	first      bool  // no line has a start yet
	firstStart int64 // of the first line that has one
}

// begin starts the record of a chain's next run.
func (r *runWriter) begin(text []byte) {
	id, opaque := spans.ParseTraceID(text)
	r.id, r.text, r.first = id, text, true
	if opaque {
		r.bytes = append(records.Append(append(r.bytes[:0], byte(notNumber)), uint64(len(text))), text...)
		return
	}
	r.bytes = append(r.bytes[:0], byte(spellingOf(text)))
	r.bytes = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(r.bytes, id.Hi), id.Lo)
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
		if r.start = start; r.first {
			r.first, r.firstStart = false, start
		}
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

// chainRun is a run that was read: attempts of one chain.
type chainRun struct {
	id       spans.TraceID
	text     []byte // of an id that is no number
	spelling spelling
	from, to int32
}

// join takes over what another run tells of the whole chain, whichever came first.
func (r *chainRun) join(o *chainRun) {
	r.spelling = max(r.spelling, o.spelling)
	if bytes.Compare(o.text, r.text) < 0 {
		r.text = o.text
	}
}

// Name is the chain's id as it is printed.
func (r *chainRun) Name() string {
	if r.spelling == notNumber {
		return string(r.text)
	}
	return r.spelling.of(r.id)
}

// unpackRun reads what stands before the lines.
func unpackRun(b []byte) (r chainRun, rest []byte) {
	r.spelling, b = spelling(b[0]), b[1:]
	if r.spelling == notNumber {
		n, text := records.Take(b)
		r.text = text[:n:n]
		r.id, _ = spans.ParseTraceID(r.text)
		return r, text[n:]
	}
	r.id = spans.TraceID{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
	return r, b[16:]
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

// spelling is how the id of a chain was written, so that it is printed the same:
// the number of its hexadecimal digits, and whether the letters are capitals; 0
// where it is no run of them alone.
type spelling byte

const (
	capitals  = 1 << 7
	notNumber = spelling(1 << 6)
)

func spellingOf(text []byte) spelling {
	lower, upper := false, false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'f':
			lower = true
		case c >= 'A' && c <= 'F':
			upper = true
		default:
			return 0
		}
	}
	switch {
	case len(text) > 32 || lower && upper:
		return 0
	case upper:
		return spelling(len(text)) | capitals
	}
	return spelling(len(text))
}

// of spells a number.
func (s spelling) of(id spans.TraceID) string {
	text := id.String()
	if n := int(s &^ capitals); n > 0 {
		text = text[len(text)-n:]
	}
	if s&capitals != 0 {
		return strings.ToUpper(text)
	}
	return text
}
