package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
)

var errNotObject = errors.New("not a JSON object")

// recordScanner reads the known fields of one JSON object into a record. It
// looks only into objects that may hold a known key.
type recordScanner struct {
	jsonScanner
	prefix []byte // dotted path of the open object, with its last dot
	keys   *keyCache
	rec    *record
}

// scan reads the object in b into the record.
func (s *recordScanner) scan(b []byte) error {
	s.b, s.i, s.depth, s.prefix = b, 0, 0, s.prefix[:0]
	s.keys.rewind()
	s.space()
	if s.peek() != '{' {
		return s.notObject()
	}
	if err := s.members(s.value); err != nil {
		return err
	}
	s.space()
	if s.i != len(s.b) {
		return s.fault("data after the object")
	}
	return nil
}

// notObject tells valid JSON of another kind from what is no JSON.
func (s *recordScanner) notObject() error {
	if json.Valid(s.b) {
		return errNotObject
	}
	return s.fault("not JSON")
}

// value reads the value of a key and notes it where the key is known.
func (s *recordScanner) value(name []byte) error {
	outer := len(s.prefix)
	s.prefix = append(s.prefix, name...)
	key := s.keys.get(s.prefix)
	err := s.valueOf(key)
	s.prefix = s.prefix[:outer]
	return err
}

// valueOf reads the value of the key whose path is in prefix.
func (s *recordScanner) valueOf(key *keyInfo) error {
	switch {
	case s.peek() == '{' && key.opens:
		s.prefix = append(s.prefix, '.')
		from := s.i
		if err := s.members(s.value); err != nil {
			return err
		}
		s.note(key, composite, s.b[from:s.i])
		return nil
	case len(key.uses) == 0:
		return s.skip()
	}
	kind, raw, err := s.any()
	if err == nil {
		s.note(key, kind, raw)
	}
	return err
}

// note puts a value into the record. An object or an array only says something
// as an error: that there was one, unless it is empty.
func (s *recordScanner) note(key *keyInfo, kind valueKind, raw []byte) {
	if kind == composite && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
		return
	}
	for i := range key.uses {
		u := &key.uses[i]
		if kind != composite || u.role == Error {
			s.rec.put(u, key, kind, raw)
		}
	}
}
