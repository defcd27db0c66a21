package wrap

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// TimeKey is the key under which a record gets the time of its wrapper. It is the last
// of those that are read as a time, so that the record's own counts.
const TimeKey = "@wrapper_time"

// Unwrapper takes records out of chunks. Each worker has its own.
type Unwrapper struct {
	plan    *Plan
	out     []byte
	places  []format.Origin
	pending [2]part
}

// part is the start of a record whose lines are not all there yet.
type part struct {
	text, at []byte
	origin   format.Place
}

// Unwrap returns the records of a chunk, one a line, with the places where they stood. It
// is good until the next call.
func (u *Unwrapper) Unwrap(c *format.Chunk, p *Plan) *format.Chunk {
	var before []byte
	if len(c.Before) > 0 {
		outer := &format.Chunk{File: c.File, Line: 1, Data: c.Before}
		before = bytes.Clone(u.Unwrap(outer, p).Data)
	}
	u.plan, u.out, u.places = p, u.out[:0], u.places[:0]
	if p.isDoc {
		u.elements(c)
	} else {
		u.lines(c)
	}
	if n := len(u.out); c.Open && n > 0 {
		u.out = u.out[:n-1]
	}
	return &format.Chunk{File: c.File, Seq: c.Seq, Line: c.Line, Offset: c.Offset, Data: u.out, Open: c.Open, Cut: c.Cut, Places: u.places, Before: before}
}

func (u *Unwrapper) elements(c *format.Chunk) {
	at := format.Place{Line: c.Line, Offset: c.Offset}
	passed := 0
	eachRecord(c.Data, func(from int, record []byte) {
		at.Line += int64(bytes.Count(c.Data[passed:from], format.Newline))
		at.Offset, passed = c.Offset+int64(from), from
		u.record(record, record, nil, 0, at)
	})
}

func (u *Unwrapper) lines(c *format.Chunk) {
	at := format.Place{Line: c.Line, Offset: c.Offset}
	for line := range bytes.Lines(c.Data) {
		u.line(line, at, c.File)
		at.Line++
		at.Offset += int64(len(line))
	}
	for i := range u.pending {
		if p := &u.pending[i]; p.text != nil {
			u.record(p.text, p.text, p.at, 1, p.origin)
			*p = part{}
		}
	}
}

// line takes the record out of a line, or keeps its part.
func (u *Unwrapper) line(line []byte, at format.Place, f *format.File) {
	raw := trim(line)
	if len(raw) == 0 || f.TooLong(line) {
		u.emit(bytes.TrimRight(line, "\r\n"), nil, at)
		return
	}
	outer := &u.plan.layers[0]
	inner, stamp, ok := outer.peel(raw)
	if ok && inner == nil {
		return
	}
	if !ok || outer.partial == nil {
		u.record(raw, inner, stamp, first(ok), at)
		return
	}
	stream, _ := outer.partial(raw, false)
	p := &u.pending[stream]
	_, partial := outer.partial(raw, p.text != nil)
	switch {
	case p.text != nil:
		inner, stamp, at = append(p.text, inner...), p.at, p.origin
	case partial:
		inner = bytes.Clone(inner) // what comes is appended
	}
	if *p = (part{}); partial {
		*p = part{inner, stamp, at}
		return
	}
	u.record(raw, inner, stamp, 1, at)
}

// first is the layer to go on with after the outermost one.
func first(peeled bool) int {
	if peeled {
		return 1
	}
	return -1
}

// record takes off the layers from one on and writes what is in them. What has no such
// layer stays as it is: whoever reads records says what is wrong with it.
func (u *Unwrapper) record(raw, inner, stamp []byte, from int, at format.Place) {
	if from < 0 {
		u.emit(oneLine(raw), nil, at)
		return
	}
	for i := from; i < len(u.plan.layers); i++ {
		next, own, ok := u.plan.layers[i].peel(trim(oneLine(inner)))
		if !ok {
			break
		}
		inner = next
		if own != nil {
			stamp = own
		}
	}
	u.objects(inner, stamp, at)
}

// objects writes the objects in a text: several may be glued together.
func (u *Unwrapper) objects(text, stamp []byte, at format.Place) {
	text = bytes.TrimSpace(text)
	for len(text) > 0 && text[0] == '{' {
		n := jsonscan.Balanced(text)
		rest := bytes.TrimLeft(text[n:], jsonscan.Blanks+",")
		if n == 0 || len(rest) > 0 && rest[0] != '{' {
			break
		}
		u.emit(text[:n], stamp, at)
		at.Offset++ // a place of its own, within the same text
		if text = rest; len(text) == 0 {
			return
		}
	}
	u.emit(text, nil, at)
}

// emit writes one record as a line.
func (u *Unwrapper) emit(record, stamp []byte, at format.Place) {
	u.places = append(u.places, format.Origin{From: len(u.out), Place: at})
	from := len(u.out)
	u.out = append(u.out, record...)
	for i := from; i < len(u.out); i++ {
		if u.out[i] == '\n' || u.out[i] == '\r' {
			u.out[i] = ' '
		}
	}
	if u.plan.Timed && stamp != nil && bytes.IndexByte(record, '"') >= 0 {
		u.out = append(u.out[:len(u.out)-1], `,"`+TimeKey+`":"`...)
		u.out = append(append(u.out, stamp...), `"}`...)
	}
	u.out = append(u.out, '\n')
}
