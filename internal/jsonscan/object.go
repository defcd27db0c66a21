package jsonscan

import (
	"bytes"
	"encoding/binary"
)

// Object reads objects by a table of their members. A writer of objects writes
// all of them alike, so that the key that comes next is mostly the one that came
// next before: it is compared, not read.
type Object struct {
	s       *Scanner
	members map[string]*member
	first   member  // stands before the first one
	last    *member // that was read
	// General has every key read, for tests to hold the comparing against.
	General bool
	each    func() error // the method member, made a value once
}

// member is one member of an object, with the one that came after it when it was
// last read.
type member struct {
	key  Phrase // with its quotes and its colon
	read func() error
	next *member
}

// NewObject makes a reader of objects at s: table has what reads the value of each
// key. Others are passed over.
func NewObject(s *Scanner, table map[string]func() error) *Object {
	o := &Object{s: s, members: map[string]*member{}}
	for key, read := range table {
		o.members[key] = &member{key: NewPhrase([]byte(`"` + key + `":`)), read: read}
	}
	o.each = o.member
	return o
}

// Read reads the object that starts here.
func (o *Object) Read() error {
	o.last = &o.first
	if o.s.Peek() != '{' {
		return o.s.Fault("expected an object")
	}
	return o.s.List('}', "expected , or }", o.each)
}

func (o *Object) member() error {
	s := o.s
	if m := o.last.next; m != nil && len(s.B)-s.I > Slack+len(m.key.Long) && m.key.Starts(s.B[s.I:]) {
		o.last = m
		if s.I += m.key.N; s.B[s.I] <= ' ' {
			s.Space()
		}
		return m.read()
	}
	name, err := s.Name()
	if err != nil {
		return err
	}
	m := o.members[string(name)]
	if m == nil {
		return s.Skip()
	}
	if !o.General {
		o.last.next, o.last = m, m
	}
	return m.read()
}

// Slack is how many bytes must follow a place to compare a phrase there.
const Slack = 24

// Phrase is fixed text. Up to Slack bytes are compared as words.
type Phrase struct {
	words, masks [Slack / 8]uint64
	N            int    // its length
	Long         []byte // the text, where it is longer
}

// NewPhrase makes a phrase of b.
func NewPhrase(b []byte) Phrase {
	p := Phrase{N: len(b)}
	if len(b) > Slack {
		p.Long = bytes.Clone(b)
		return p
	}
	var padded, mask [Slack]byte
	copy(padded[:], b)
	for i := range b {
		mask[i] = 0xff
	}
	for i := range p.words {
		p.words[i] = binary.LittleEndian.Uint64(padded[8*i:])
		p.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
	}
	return p
}

// Starts reports whether b, of Slack bytes or more, starts with the phrase.
func (p *Phrase) Starts(b []byte) bool {
	if p.Long != nil {
		return bytes.HasPrefix(b, p.Long)
	}
	_ = b[Slack-1]
	differs := (binary.LittleEndian.Uint64(b)^p.words[0])&p.masks[0] | (binary.LittleEndian.Uint64(b[8:])^p.words[1])&p.masks[1]
	return differs == 0 && (p.N <= 16 || (binary.LittleEndian.Uint64(b[16:])^p.words[2])&p.masks[2] == 0)
}
