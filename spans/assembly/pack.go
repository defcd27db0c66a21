package assembly

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"

	"github.com/tailscope/tailscope/internal/records"

	"github.com/tailscope/tailscope/spans"
)

// A fragment is spans of one trace that came together, packed: about 35 bytes a
// span instead of 104, so that little memory holds many and a file costs little.
// It stands for itself, wherever it is moved.
//
// Its head is fixed: the trace id, the length of all in bytes, how many spans.
// Then come who collected it (whose tables the indices are of), the text of a
// trace id that is no number, and the spans. A span is 32 bits that say how many
// bytes its values take, the values, then id and digest. A value is what changed
// since the span before: most then take a byte or two, or none.

const (
	headBytes = 24
	// packedBytes is the most that a span takes without its text: control words,
	// lanes, id, digest, parent, length of the text.
	packedBytes = 8 + 11*8 + 3*8 + binary.MaxVarintLen64
	// fragmentBytes ends a fragment: a trace may come in any number of them.
	fragmentBytes = 32 << 10
)

// Bits of a control word, above those of seven lanes.
const (
	parentShift = 28
	hasRare     = 1 << 30
	hasText     = 1 << 31
)

// How a span's parent is written.
const (
	noParentID     = iota
	parentIsBefore // the span before
	parentAsBefore // the parent of the span before
	parentInFull
)

// previous is what of a span the next one is written as a change from.
type previous struct {
	id, parent          spans.SpanID
	start, line, offset int64
	bytes, weight       uint64
	stratum, file       int32
}

// packer packs the spans of a trace into a fragment.
type packer struct {
	b      []byte
	before previous
	rows   uint32
}

// begin starts a fragment.
func (p *packer) begin(id spans.TraceID, source int, text []byte) {
	p.b = append(p.b[:0], make([]byte, headBytes)...)
	binary.LittleEndian.PutUint64(p.b, id.Hi)
	binary.LittleEndian.PutUint64(p.b[8:], id.Lo)
	p.b = binary.AppendUvarint(p.b, uint64(source))
	p.b = binary.AppendUvarint(p.b, uint64(len(text)))
	p.b = append(p.b, text...)
	p.before, p.rows = previous{}, 0
}

// end returns the fragment, good until the next begins.
func (p *packer) end() fragment {
	binary.LittleEndian.PutUint32(p.b[16:], uint32(len(p.b)))
	binary.LittleEndian.PutUint32(p.b[20:], p.rows)
	return p.b
}

// add packs the span of row i.
func (p *packer) add(v *vectors, i int) {
	text, old := v.SpanText(i), &p.before
	start, timed := v.Start(i)
	w := p.room(len(text))
	w.put(records.Zigzag(start - old.start))
	w.put(uint64(v.Duration[i]))
	w.put(records.Zigzag(v.line[i] - old.line))
	w.put(records.Zigzag(v.offset[i] - old.offset))
	w.put(uint64(uint32(v.names.hops[v.Hop[i]])))
	w.put(uint64(uint32(at(v.names.hosts, v.host[i]))) | uint64(uint32(at(v.names.instances, v.instance[i])))<<32) // most have none
	bytes := v.bytes(i, timed)
	w.put(bytes ^ old.bytes)
	control := w.widths
	control |= p.rare(&w, v, i)
	w.full(v.Span[i])
	w.full(v.Digest[i])
	control |= p.parent(&w, spans.SpanID(v.Parent[i])) << parentShift
	if len(text) > 0 {
		control |= hasText
		w.at += binary.PutUvarint(w.b[w.at:], uint64(len(text)))
		w.at += copy(w.b[w.at:], text)
	}
	binary.LittleEndian.PutUint32(w.b[len(p.b):], control)
	old.id, old.parent, old.start, old.line, old.offset, old.bytes = spans.SpanID(v.Span[i]), spans.SpanID(v.Parent[i]), start, v.line[i], v.offset[i], bytes
	p.b = w.b[:w.at]
	p.rows++
}

// room returns lanes behind the control word of the next span.
func (p *packer) room(text int) lanes {
	if cap(p.b)-len(p.b) < packedBytes+text {
		p.b = append(make([]byte, 0, 2*cap(p.b)+packedBytes+text), p.b...)
	}
	return lanes{b: p.b[:cap(p.b)], at: len(p.b) + 4}
}

// rare packs what most spans do not have.
func (p *packer) rare(w *lanes, v *vectors, i int) uint32 {
	old, weight, stratum := &p.before, math.Float64bits(v.Weight[i]), at(v.names.strata, v.stratum[i])
	if v.Timeout[i] == 0 && weight == old.weight && stratum == old.stratum && v.file[i] == old.file {
		return 0
	}
	start := w.at
	w.at, w.widths, w.lane = w.at+4, 0, 0
	w.put(uint64(v.Timeout[i]))
	w.put(weight ^ old.weight)
	w.put(uint64(uint32(stratum ^ old.stratum)))
	w.put(uint64(uint32(v.file[i] ^ old.file)))
	binary.LittleEndian.PutUint32(w.b[start:], w.widths)
	old.weight, old.stratum, old.file = weight, stratum, v.file[i]
	return hasRare
}

func (p *packer) parent(w *lanes, id spans.SpanID) uint32 {
	switch id {
	case 0:
		return noParentID
	case p.before.id:
		return parentIsBefore
	case p.before.parent:
		return parentAsBefore
	}
	w.full(uint64(id))
	return parentInFull
}

// lanes writes values into memory that has room for them.
type lanes struct {
	b      []byte
	at     int
	widths uint32 // four bits a value
	lane   int
}

func (w *lanes) put(v uint64) {
	n := (bits.Len64(v) + 7) / 8
	binary.LittleEndian.PutUint64(w.b[w.at:], v)
	w.at += n
	w.widths |= uint32(n) << (w.lane & 31)
	w.lane += 4
}

func (w *lanes) full(v uint64) {
	binary.LittleEndian.PutUint64(w.b[w.at:], v)
	w.at += 8
}

func setBytes(s *spans.Span, v uint64) {
	s.Outcome, s.Flags, s.Ties = spans.Outcome(v), spans.Flags(v>>8), spans.Ties(v>>16)
	s.CutBy, s.Failure, s.Resolution, s.Tries = spans.CutBy(v>>24), spans.Failure(v>>32), uint8(v>>40), uint8(v>>48)
}

// fragment is a packed fragment.
type fragment []byte

func (f fragment) trace() spans.TraceID {
	return spans.TraceID{Hi: binary.LittleEndian.Uint64(f), Lo: binary.LittleEndian.Uint64(f[8:])}
}

// length is that of the fragment whose head stands at the start of f.
func (f fragment) length() int { return int(binary.LittleEndian.Uint32(f[16:])) }

func (f fragment) rows() int { return int(binary.LittleEndian.Uint32(f[20:])) }

// fragments yields the fragments of a block.
func fragments(block []byte) iter.Seq[fragment] {
	return func(yield func(fragment) bool) {
		for f := fragment(block); len(f) > 0; {
			n := f.length()
			if !yield(f[:n:n]) {
				return
			}
			f = f[n:]
		}
	}
}

// unpacker reads the spans of a fragment.
type unpacker struct {
	b      []byte
	at     int
	source int    // who collected it
	text   []byte // of the trace id
	before previous
}

func (f fragment) open() unpacker {
	u := unpacker{b: f, at: headBytes}
	u.source = int(u.varint())
	u.text = u.take(int(u.varint()))
	return u
}

func (u *unpacker) varint() uint64 {
	v, n := binary.Uvarint(u.b[u.at:])
	u.at += n
	return v
}

func (u *unpacker) take(n int) []byte {
	u.at += n
	return u.b[u.at-n : u.at]
}

// next writes the next span to s and returns the text of its id.
func (u *unpacker) next(s *spans.Span) (text []byte) {
	old := &u.before
	control := u.word()
	old.start += records.Unzigzag(u.lane(control))
	s.Duration = int64(u.lane(control >> 4))
	old.line += records.Unzigzag(u.lane(control >> 8))
	old.offset += records.Unzigzag(u.lane(control >> 12))
	s.Start, s.Line, s.Offset = old.start, old.line, old.offset
	s.Hop = int32(u.lane(control >> 16))
	places := u.lane(control >> 20)
	s.Host, s.Instance = int32(places), int32(places>>32)
	old.bytes ^= u.lane(control >> 24)
	setBytes(s, old.bytes)
	s.Timeout = 0
	if control&hasRare != 0 {
		s.Timeout = u.rare()
	}
	s.Weight, s.Stratum, s.File = math.Float64frombits(old.weight), old.stratum, old.file
	s.ID, s.Digest = spans.SpanID(u.full()), u.full()
	s.Parent = u.parent(control >> parentShift & 3)
	if control&hasText != 0 {
		text = u.take(int(u.varint()))
	}
	old.id, old.parent = s.ID, s.Parent
	return text
}

// rare reads what most spans do not have, and returns the timeout.
func (u *unpacker) rare() (timeout int64) {
	old, widths := &u.before, u.word()
	timeout = int64(u.lane(widths))
	old.weight ^= u.lane(widths >> 4)
	old.stratum ^= int32(u.lane(widths >> 8))
	old.file ^= int32(u.lane(widths >> 12))
	return timeout
}

func (u *unpacker) parent(how uint32) spans.SpanID {
	switch how {
	case noParentID:
		return 0
	case parentIsBefore:
		return u.before.id
	case parentAsBefore:
		return u.before.parent
	}
	return spans.SpanID(u.full())
}

func (u *unpacker) word() uint32 {
	v := binary.LittleEndian.Uint32(u.b[u.at:])
	u.at += 4
	return v
}

// lane reads a value of as many bytes as the lowest four bits of widths say.
// Id and digest come after every lane, so that there are always eight.
func (u *unpacker) lane(widths uint32) uint64 {
	n := widths & 15
	v := binary.LittleEndian.Uint64(u.b[u.at:]) & laneMask[n]
	u.at += int(n)
	return v
}

var laneMask = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, math.MaxUint64}

func (u *unpacker) full() uint64 {
	v := binary.LittleEndian.Uint64(u.b[u.at:])
	u.at += 8
	return v
}
