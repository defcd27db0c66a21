package spans

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tailscope/tailscope/internal/records"
)

// A fragment is spans of one trace that came together, packed: about 35 bytes a
// span instead of 112, so that little memory holds many and a file costs little.
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
	packedBytes = 8 + 12*8 + 3*8 + binary.MaxVarintLen64
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

// packer packs the spans of a trace into a fragment.
type packer struct {
	b      []byte
	before Span
	rows   uint32
}

// begin starts a fragment.
func (p *packer) begin(id TraceID, source int, text []byte) {
	p.b = append(p.b[:0], make([]byte, headBytes)...)
	binary.LittleEndian.PutUint64(p.b, id.Hi)
	binary.LittleEndian.PutUint64(p.b[8:], id.Lo)
	p.b = binary.AppendUvarint(p.b, uint64(source))
	p.b = binary.AppendUvarint(p.b, uint64(len(text)))
	p.b = append(p.b, text...)
	p.before, p.rows = Span{}, 0
}

// end returns the fragment, good until the next begins.
func (p *packer) end() fragment {
	binary.LittleEndian.PutUint32(p.b[16:], uint32(len(p.b)))
	binary.LittleEndian.PutUint32(p.b[20:], p.rows)
	return p.b
}

// add packs one more span.
func (p *packer) add(s *Span, text []byte) {
	if cap(p.b)-len(p.b) < packedBytes+len(text) {
		p.b = append(make([]byte, 0, 2*cap(p.b)+packedBytes+len(text)), p.b...)
	}
	w := lanes{b: p.b[:cap(p.b)], at: len(p.b) + 4}
	old := &p.before
	w.put(records.Zigzag(s.Start - old.Start))
	w.put(uint64(s.Duration))
	w.put(records.Zigzag(s.Line - old.Line))
	w.put(records.Zigzag(s.Offset - old.Offset))
	w.put(uint64(uint32(s.Hop)))
	w.put(uint64(uint32(s.Host)) | uint64(uint32(s.Instance))<<32) // most have none
	w.put(s.bytes() ^ old.bytes())
	control := w.widths
	control |= p.rare(&w, s)
	w.full(uint64(s.ID))
	w.full(s.Digest)
	control |= p.parent(&w, s) << parentShift
	if len(text) > 0 {
		control |= hasText
		w.at += binary.PutUvarint(w.b[w.at:], uint64(len(text)))
		w.at += copy(w.b[w.at:], text)
	}
	binary.LittleEndian.PutUint32(w.b[len(p.b):], control)
	p.b, p.before = w.b[:w.at], *s
	p.rows++
}

// rare packs what most spans do not have.
func (p *packer) rare(w *lanes, s *Span) uint32 {
	old := &p.before
	weight := math.Float64bits(s.Weight) ^ math.Float64bits(old.Weight)
	if uint64(s.Timeout|s.Shift)|weight == 0 && s.Stratum == old.Stratum && s.File == old.File {
		return 0
	}
	at := w.at
	w.at, w.widths, w.lane = w.at+4, 0, 0
	w.put(uint64(s.Timeout))
	w.put(records.Zigzag(s.Shift))
	w.put(weight)
	w.put(uint64(uint32(s.Stratum ^ old.Stratum)))
	w.put(uint64(uint32(s.File ^ old.File)))
	binary.LittleEndian.PutUint32(w.b[at:], w.widths)
	return hasRare
}

func (p *packer) parent(w *lanes, s *Span) uint32 {
	switch s.Parent {
	case 0:
		return noParentID
	case p.before.ID:
		return parentIsBefore
	case p.before.Parent:
		return parentAsBefore
	}
	w.full(uint64(s.Parent))
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

// bytes are a span's fields of one byte, those that change most lowest.
func (s *Span) bytes() uint64 {
	return uint64(s.Outcome) | uint64(s.Flags)<<8 | uint64(s.Ties)<<16 | uint64(s.CutBy)<<24 | uint64(s.Failure)<<32 | uint64(s.Resolution)<<40
}

func (s *Span) setBytes(v uint64) {
	s.Outcome, s.Flags, s.Ties = Outcome(v), Flags(v>>8), Ties(v>>16)
	s.CutBy, s.Failure, s.Resolution = CutBy(v>>24), Failure(v>>32), uint8(v>>40)
}

// fragment is a packed fragment.
type fragment []byte

func (f fragment) trace() TraceID {
	return TraceID{binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[8:])}
}

// length is that of the fragment whose head stands at the start of f.
func (f fragment) length() int { return int(binary.LittleEndian.Uint32(f[16:])) }

func (f fragment) rows() int { return int(binary.LittleEndian.Uint32(f[20:])) }

// unpacker reads the spans of a fragment.
type unpacker struct {
	b      []byte
	at     int
	source int    // who collected it
	text   []byte // of the trace id
	before Span
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
func (u *unpacker) next(s *Span) (text []byte) {
	old := &u.before
	control := u.word()
	s.Start = old.Start + records.Unzigzag(u.lane(control))
	s.Duration = int64(u.lane(control >> 4))
	s.Line = old.Line + records.Unzigzag(u.lane(control>>8))
	s.Offset = old.Offset + records.Unzigzag(u.lane(control>>12))
	s.Hop = int32(u.lane(control >> 16))
	places := u.lane(control >> 20)
	s.Host, s.Instance = int32(places), int32(places>>32)
	s.setBytes(old.bytes() ^ u.lane(control>>24))
	s.Timeout, s.Shift, s.Weight, s.Stratum, s.File = 0, 0, old.Weight, old.Stratum, old.File
	if control&hasRare != 0 {
		u.rare(s)
	}
	s.ID, s.Digest = SpanID(u.full()), u.full()
	s.Parent = u.parent(control >> parentShift & 3)
	if control&hasText != 0 {
		text = u.take(int(u.varint()))
	}
	u.before = *s
	return text
}

func (u *unpacker) rare(s *Span) {
	widths := u.word()
	s.Timeout = int64(u.lane(widths))
	s.Shift = records.Unzigzag(u.lane(widths >> 4))
	s.Weight = math.Float64frombits(math.Float64bits(s.Weight) ^ u.lane(widths>>8))
	s.Stratum ^= int32(u.lane(widths >> 12))
	s.File ^= int32(u.lane(widths >> 16))
}

func (u *unpacker) parent(how uint32) SpanID {
	switch how {
	case noParentID:
		return 0
	case parentIsBefore:
		return u.before.ID
	case parentAsBefore:
		return u.before.Parent
	}
	return SpanID(u.full())
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
