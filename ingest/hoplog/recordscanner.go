package hoplog

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

var errNotObject = errors.New("not a JSON object")

// recordScanner reads the known fields of one JSON object into a record. It
// looks only into objects that may hold a known key.
type recordScanner struct {
	jsonscan.Scanner
	prefix []byte // dotted path of the open object, with its last dot
	keys   *field.Keys
	rec    *field.Record
}

// longName is from how many bytes on a name is no key that anybody asks for: it is not
// copied, which each worker would need the room for.
const longName = 64 << 10

// scan reads the object in b into the record.
func (s *recordScanner) scan(b []byte) error {
	s.B, s.I, s.Depth, s.prefix = b, 0, 0, s.prefix[:0]
	s.keys.Rewind()
	s.Space()
	if s.Peek() != '{' {
		return s.notObject()
	}
	if err := s.Members(s.value); err != nil {
		return err
	}
	s.Space()
	if s.I != len(s.B) {
		return s.Fault("data after the object")
	}
	return nil
}

// notObject tells valid JSON of another kind from what is no JSON.
func (s *recordScanner) notObject() error {
	if json.Valid(s.B) {
		return errNotObject
	}
	return s.Fault("not JSON")
}

// value reads the value of a key and notes it where the key is known.
func (s *recordScanner) value(name []byte) error {
	if len(name) > longName {
		return s.Skip()
	}
	outer := len(s.prefix)
	s.prefix = append(s.prefix, name...)
	key := s.keys.Next(s.prefix)
	s.rec.Signs |= key.Signs
	s.rec.Flags |= key.Flags
	err := s.valueOf(key)
	s.prefix = s.prefix[:outer]
	return err
}

// valueOf reads the value of the key whose path is in prefix.
func (s *recordScanner) valueOf(key *field.Key) error {
	switch {
	case s.Peek() == '{' && key.Opens:
		s.prefix = append(s.prefix, '.')
		from := s.I
		if err := s.Members(s.value); err != nil {
			return err
		}
		s.note(key, jsonscan.Composite, s.B[from:s.I])
		return nil
	case len(key.Uses) == 0 && key.Conditions == nil:
		return s.Skip()
	}
	kind, raw, err := s.Any()
	if err == nil {
		s.note(key, kind, raw)
	}
	return err
}

// note puts a value into the record. An object or an array only says something
// as an error: that there was one, unless it is empty.
func (s *recordScanner) note(key *field.Key, kind jsonscan.Kind, raw []byte) {
	s.rec.Signs |= key.Signs
	s.rec.Flags |= key.Flags
	s.rec.Select(key, raw)
	if kind == jsonscan.Composite && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
		return
	}
	for i := range key.Uses {
		u := &key.Uses[i]
		if kind != jsonscan.Composite || u.Role == field.Error {
			s.rec.Put(u, key, kind, raw)
		}
	}
}
