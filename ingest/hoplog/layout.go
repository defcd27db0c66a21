package hoplog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// layout is how a line of JSON was laid out: the text around its values, and what
// each value is. The lines of a log are mostly laid out alike, so that a line
// costs a comparison for each key and one look at each value. What a layout reads,
// the scanner reads with the same result; whatever is not as expected it leaves to
// the scanner.
type layout struct {
	slots []slot
	tail  jsonscan.Phrase // after the last value, with the newline
	fast  *fastRow        // nil where the record is needed
}

// slot is a value and the text before it, from the end of the value before.
type slot struct {
	before jsonscan.Phrase
	key    *field.Key
	kind   jsonscan.Kind // boolFalse for both
	depth  int           // objects that are open around it
}

// layouts are the last few that a log's lines had.
type layouts struct {
	list   [4]*layout
	likely int // the one of the last line
	misses int // lines of another layout
	wait   int // so many of them before another is learned
}

// learnAgain is how many lines no layout must fit before another is learned in
// place of an old one: learning costs a second look at the line. Where lines have
// no layout to learn, the wait doubles.
const learnAgain, learnRarely = 64, 1 << 16

// read tries the layouts, the likeliest first, and returns the length of the line,
// 0 where none fits. An attempt that is ordinary is read by the fast path, any other into the
// scanner's record.
func (a *layouts) read(s *recordScanner, b []byte) (n int, fast *fastRow) {
	for range a.list {
		if l := a.list[a.likely]; l != nil {
			if n := l.read(s, l.fast, b); n > 0 {
				return n, l.fast
			}
			if n := l.read(s, nil, b); n > 0 && l.fast != nil {
				return n, nil
			}
		}
		a.likely = (a.likely + 1) % len(a.list)
	}
	return 0, nil
}

// miss is told of an accepted line that no layout fitted.
func (a *layouts) miss(d *ndjson, line []byte) {
	if a.misses++; a.misses < a.wait || len(line) > longestLine {
		return
	}
	a.misses = 0
	l := d.layoutOf(line)
	if l == nil {
		a.wait = min(max(1, 2*a.wait), learnRarely)
		return
	}
	copy(a.list[1:], a.list[:])
	a.list[0], a.likely, a.wait = l, 0, 0
	if a.list[len(a.list)-1] != nil {
		a.wait = learnAgain
	}
}

// layoutOf learns the layout of a line that was accepted, of which rec is the
// record; nil where the next line would not be read the same way by it.
func (d *ndjson) layoutOf(line []byte) *layout {
	l := learner{s: &d.scanner.Scanner, keys: &d.keys, line: line}
	l.s.At(line)
	if err := l.s.Members(l.member); err != nil || repeated(l.slots) {
		return nil
	}
	keys := make([]*field.Key, len(l.slots))
	for i := range l.slots {
		keys[i] = l.slots[i].key
	}
	return &layout{l.slots, jsonscan.NewPhrase(line[l.from:]), d.newFastRow(keys, timeBasis(d.fields, &d.rec))}
}

// learner goes over a line and notes its values. Objects that may hold known keys
// are looked into: their braces belong to the text between values.
type learner struct {
	s      *jsonscan.Scanner
	keys   *field.Keys
	line   []byte
	prefix []byte // dotted path of the open object, with its last dot
	from   int    // the end of the last value
	slots  []slot
}

func (l *learner) member(name []byte) error {
	outer := len(l.prefix)
	defer func() { l.prefix = l.prefix[:outer] }()
	l.prefix = append(l.prefix, name...)
	key := l.keys.Find(l.prefix)
	composite := l.s.Peek() == '{' || l.s.Peek() == '['
	switch {
	case composite && slices.ContainsFunc(key.Uses, compositeCounts):
		return errCounts
	case l.s.Peek() == '{' && key.Opens:
		l.prefix = append(l.prefix, '.')
		return l.s.Members(l.member)
	}
	if composite && len(key.Uses) > 0 && key.Uses[0].Role != field.InstanceKey {
		key = &field.Key{Path: key.Path, Signs: key.Signs} // what is no scalar has no meaning
	}
	return l.value(key)
}

// compositeCounts reports whether a key with that meaning may count by holding an object or
// an array.
func compositeCounts(u field.Use) bool {
	switch u.Role {
	case field.InstanceKey, field.Code, field.ErrorCode, field.Level, field.Tries, field.Success, field.RPCSystem,
		field.CallerKey, field.UpstreamKey, field.SourceKey:
		return false
	}
	return true
}

func (l *learner) value(key *field.Key) error {
	if len(l.slots) == mostSlots {
		return errTooMany
	}
	before := jsonscan.NewPhrase(l.line[l.from:l.s.I])
	kind, _, err := l.s.Any()
	if kind == jsonscan.True {
		kind = jsonscan.False
	}
	l.from = l.s.I
	l.slots = append(l.slots, slot{before, key, kind, l.s.Depth})
	return err
}

// A line with more values, or longer in bytes, is not of a log whose lines are
// alike.
const (
	mostSlots   = 256
	longestLine = 64 << 10
)

var (
	errCounts  = errors.New("an object or array that counts by being there")
	errTooMany = errors.New("too many values")
)

// repeated reports whether a key comes twice.
func repeated(slots []slot) bool {
	for i := range slots {
		for k := range i {
			if slots[k].key.Path == slots[i].key.Path {
				return true
			}
		}
	}
	return false
}

// read reads the line at the start of b into the row of p or, where that is nil,
// into the scanner's record. It returns the length of the line, 0 for one that is
// laid out otherwise or is not ordinary.
func (l *layout) read(s *recordScanner, p *fastRow, b []byte) int {
	if p != nil {
		p.begin()
	} else {
		s.rec.Reset()
	}
	i := 0
	for k := range l.slots {
		at := &l.slots[k]
		if i+jsonscan.Slack+len(at.before.Long) >= len(b) || !at.before.Starts(b[i:]) {
			return 0
		}
		if i = at.value(s, p, k, b, i+at.before.N); i == 0 {
			return 0
		}
	}
	if i+jsonscan.Slack+len(l.tail.Long) >= len(b) || !l.tail.Starts(b[i:]) || p != nil && !p.done() {
		return 0
	}
	return i + l.tail.N
}

// value reads the value of slot k at b[i:] and returns where it ends, 0 where
// it is not as expected.
func (at *slot) value(s *recordScanner, p *fastRow, k int, b []byte, i int) (end int) {
	if p != nil && at.kind == jsonscan.Number {
		if n, digits := fastWhole(b, i); digits > 0 && !goesOn(b[i+digits]) && p.whole(&p.fields[k], n) {
			return i + digits
		}
	}
	if p != nil && p.fields[k].part == timePart && at.kind == jsonscan.Text && b[i] == '"' {
		if end := p.sameTime(b, i+1); end > 0 && b[end] == '"' {
			return end + 1
		}
	}
	kind, raw, end := at.scan(s, b, i)
	switch {
	case end == 0:
		return 0
	case p == nil:
		s.note(at.key, kind, raw)
		return end
	case p.other(&p.fields[k], kind, raw):
		return end
	}
	return 0
}

// scan reads a value of the slot's kind.
func (at *slot) scan(s *recordScanner, b []byte, i int) (kind jsonscan.Kind, raw []byte, end int) {
	if at.kind == jsonscan.Text {
		if b[i] != '"' {
			return jsonscan.Text, nil, 0
		}
		if end = i + 1 + jsonscan.UnescapedRun(b[i+1:]); end == len(b) || b[end] != '"' {
			return jsonscan.Text, nil, 0
		}
		return jsonscan.Text, b[i+1 : end], end + 1
	}
	if at.kind == jsonscan.False {
		return mark(b[i:], i)
	}
	if at.kind == jsonscan.Composite { // blanks in it must not reach into the next line
		b = b[:i+bytes.IndexByte(b[i:min(len(b), i+longestLine)], '\n')+1]
	}
	s.B, s.I, s.Depth = b, i, at.depth
	kind, raw, err := s.Any()
	if err != nil || kind != at.kind {
		return kind, nil, 0
	}
	return kind, raw, s.I
}

// mark reads true or false at the start of b, which is at i.
func mark(b []byte, i int) (kind jsonscan.Kind, raw []byte, end int) {
	switch {
	case len(b) >= 5 && string(b[:5]) == "false":
		return jsonscan.False, jsonscan.FalseText, i + 5
	case len(b) >= 4 && string(b[:4]) == "true":
		return jsonscan.True, jsonscan.TrueText, i + 4
	}
	return jsonscan.False, nil, 0
}

// goesOn reports whether a number does not end before c.
func goesOn(c byte) bool { return c == '.' || c|0x20 == 'e' }

// fastWhole reads a whole number of one to seven digits, as JSON writes it. It
// looks at eight bytes at once: those less '0', and what is no digit then has its
// top bit set or gets it by adding 0x76. digits is 0 where there is none or more.
func fastWhole(b []byte, i int) (n int64, digits int) {
	if i+8 > len(b) {
		return 0, 0
	}
	const zeros, tens, high = 0x3030303030303030, 0x7676767676767676, 0x8080808080808080
	word := binary.LittleEndian.Uint64(b[i:]) ^ zeros
	others := (word&^high + tens | word) & high
	digits = bits.TrailingZeros64(others) / 8
	if digits == 8 || digits == 0 || digits > 1 && b[i] == '0' {
		return 0, 0
	}
	word <<= 64 - 8*digits // first digits that are not there count as 0
	word = word*10 + word>>8
	const pairs, hundreds, tenThousands = 0x000000FF000000FF, 100 + 1000000<<32, 1 + 10000<<32
	word = (word&pairs*hundreds + word>>16&pairs*tenThousands) >> 32
	return int64(word), digits
}
