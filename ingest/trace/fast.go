package trace

import (
	"math/bits"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// Fast paths of the readers of traces. A writer of spans writes all of them
// alike, so that what comes next is mostly known: it is compared, not read. What
// is not as expected is left to the general reader, which goes on at the same
// byte and so decides alone what is right and what is wrong.

// fastTime is parseTime for whole numbers that need neither rounding nor care.
func fastTime(v *field.Value) (moment.Length, bool) {
	n, ok := moment.Digits(v.Raw)
	if !ok || v.Use.Unit == moment.NoUnitGiven {
		return moment.Length{}, false
	}
	hi, ns := bits.Mul64(n, moment.Pow10[v.Use.Unit])
	if hi != 0 || ns > 1<<63-1 || n >= moment.Wrapped {
		return moment.Length{}, false
	}
	return moment.Length{NS: int64(ns), Resolution: uint8(v.Use.Unit)}, true
}

// tagMemo is what is known of a tag's key as it is written, and of the one that
// came after it when it was last read.
type tagMemo struct {
	written string // the key without quotes, if it has no escapes
	info    *field.Key
	hash    uint64
	next    *tagMemo
	listens bool   // its texts may be messages
	silent  []byte // the last text, if it is none
}

// tagMemos finds the memos of keys: mostly the next one is the one needed.
type tagMemos struct {
	seen map[string]*tagMemo
	last *tagMemo // that was used
	root tagMemo  // stands before the first tag of a span
}

func (m *tagMemos) rewind() { m.last = &m.root }

// expected returns the memo of the key that is written at the start of b up to
// its quote, if it is the one that is expected.
func (m *tagMemos) expected(b []byte) *tagMemo {
	k := m.last.next
	if k == nil {
		return nil
	}
	n := len(k.written)
	if len(b) <= n || b[n] != '"' || string(b[:n]) != k.written {
		return nil
	}
	m.last = k
	return k
}

// remember notes that the key came next; keys has what is known of it. The key of
// warnings has no memo: an OTLP span reads it as more than a tag.
func (m *tagMemos) remember(key []byte, keys *field.Keys) {
	k := m.seen[string(key)]
	if k == nil {
		if len(m.seen) >= field.MaxCachedKeys || len(key) > field.LongestKey || jsonscan.UnescapedRun(key) < len(key) || string(key) == warningsKey {
			m.last = &m.root
			return
		}
		info := keys.Next(key)
		k = &tagMemo{written: info.Path, info: info, hash: digest.Sum(0, key), listens: outcome.Listens(info)}
		if m.seen == nil {
			m.seen = map[string]*tagMemo{}
		}
		m.seen[info.Path] = k
	}
	m.last.next, m.last = k, k
}

// fastTag reads {"key":…, and with value the rest, if the key is the expected one and
// the value no object; else s stays where it is.
func (r *spanReader) fastTag(s *jsonscan.Scanner, value func(*jsonscan.Scanner) (jsonscan.Kind, []byte, bool)) bool {
	from := s.I
	if !r.general && s.Pass(`{"key":"`) {
		if k := r.memos.expected(s.B[s.I:]); k != nil {
			s.I += len(k.written) + 1
			if kind, raw, ok := value(s); ok {
				r.rec.Note(k.info, kind, raw)
				r.has.add(k.hash, raw)
				if k.listens && kind == jsonscan.Text && string(raw) != string(k.silent) {
					r.hearTag(k, raw)
				}
				return true
			}
		}
	}
	s.I = from
	return false
}

// hearTag is hear for a tag whose last text is known.
func (r *spanReader) hearTag(k *tagMemo, raw []byte) {
	if m := r.ear.Hear(raw); m > outcome.Silent {
		r.has.heard = max(r.has.heard, m)
	} else if len(raw) <= longestSilent {
		k.silent = append(k.silent[:0], raw...)
	}
}

// longestSilent is the longest text worth being compared with.
const longestSilent = 256

// remembered notes a tag of the span, whose key may come next in another.
func (r *spanReader) remembered(key []byte, kind jsonscan.Kind, raw []byte) {
	r.tag(key, kind, raw)
	r.memos.remember(key, &r.tags)
}

// A fast path that reads many spans at once hands none of them on before it has
// seen the end of all: where something is wrong, the general reader begins anew.

// waiting is a span that was read and not handed on.
type waiting struct {
	row spans.Row
	nameFields
}

// waiting hands on the spans for which read called wait, unless it returns false:
// then nothing was done.
func (r *spanReader) waiting(read func() bool) bool {
	if r.general || r.partial != nil || r.rest != nil {
		return false
	}
	before := *r.tally
	r.waits = r.waits[:0]
	if !read() {
		*r.tally, r.partial = before, nil
		return false
	}
	for i := range r.waits {
		r.release(&r.waits[i])
	}
	return true
}

// wait makes a row of the span that was read; false where something is wrong
// with it.
func (r *spanReader) wait(at int) bool {
	if len(r.waits) == cap(r.waits) {
		r.waits = append(r.waits, waiting{})
	} else {
		r.waits = r.waits[:len(r.waits)+1]
	}
	w := &r.waits[len(r.waits)-1]
	r.row = &w.row
	defer func() { r.row = &r.own }()
	if r.measure(at) != nil || !r.has.named {
		return false
	}
	r.judge()
	w.nameFields = r.has.nameFields
	return true
}

// release hands on a span that waited.
func (r *spanReader) release(w *waiting) {
	r.row, r.has.nameFields = &w.row, w.nameFields
	_ = r.name() // whose faults wait has seen
	r.handOn()
	r.row = &r.own
}
