package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// signature is one way to know what a JSON value is: an object that has all of
// these keys. A key "a.b" is the key b of the first object in a. Case matters:
// traceID is Jaeger's, traceId is not. Hop logs may have any keys, so that a
// single common word never decides.
type signature struct {
	keys []string
	// only lists further keys; with it, the object has no other than these, and no object
	// is in those of keys.
	only []string
}

func keys(all ...string) signature { return signature{keys: all} }

// sniff looks for the dialect in the head of a file.
func (d *dialect) sniff(head *format.Head, _ *format.Settings) format.Sniffed {
	if head.Keys == nil {
		head.Keys = firstKeys(bytes.TrimPrefix(head.Bytes, format.ByteOrderMark))
	}
	keys := head.Keys
	for _, r := range refused {
		if r.fits(keys) {
			return format.Sniffed{Refused: &format.RefusedError{What: r.what, Why: r.why}}
		}
	}
	switch {
	case dialectOf(keys) == d:
		return format.Sniffed{Mine: true}
	case len(keys) == 0:
		return format.Sniffed{Why: "it does not start with a JSON object"}
	}
	return format.Sniffed{Why: "the first object has none of its keys"}
}

// dialectOf is the dialect of an object with these keys, nil for none: the one
// that asks for the most of them.
func dialectOf(keys map[string]bool) (best *dialect) {
	most := 0
	for _, d := range dialects {
		for _, s := range d.signatures {
			if len(s.keys) > most && s.fits(keys) {
				best, most = d, len(s.keys)
			}
		}
	}
	return best
}

// firstKeys are the keys of the first value of head, or of the first element of
// an array. head may end anywhere.
func firstKeys(head []byte) (keys map[string]bool) {
	var s jsonscan.Scanner
	s.At(head)
	for s.Peek() == '[' {
		s.I++
		s.Space()
	}
	keys = map[string]bool{}
	if s.Peek() == '{' {
		keysInto(&s, keys, "", 2)
	}
	return keys
}

func (s signature) fits(keys map[string]bool) bool {
	for _, k := range s.keys {
		if !keys[k] {
			return false
		}
	}
	if s.only == nil {
		return true
	}
	for k := range keys {
		if of, _, inner := strings.Cut(k, "."); inner && slices.Contains(s.keys, of) || !inner && !slices.Contains(s.only, k) {
			return false
		}
	}
	return true
}

// keysInto notes the keys of an object, and those of the first object in each
// of its values. What is cut off or malformed ends it; what was seen counts.
func keysInto(s *jsonscan.Scanner, keys map[string]bool, prefix string, levels int) {
	_ = s.Members(func(name []byte) error {
		key := prefix + string(name)
		keys[key] = true
		if levels > 1 {
			inner := jsonscan.Scanner{B: s.B, I: s.I}
			for inner.Peek() == '[' {
				inner.I++
				inner.Space()
			}
			if inner.Peek() == '{' {
				keysInto(&inner, keys, key+".", levels-1)
			}
		}
		return s.Skip()
	})
}
