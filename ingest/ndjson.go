package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

// ndjson decodes hop logs of one JSON object a line.
type ndjson struct {
	attempts
	keys    keyCache
	scanner jsonScanner
	layouts layouts
	rec     record
	row     spans.Row
}

func newNDJSON(f *Fields, c spans.Columns) *ndjson {
	d := &ndjson{attempts: attempts{fields: f, columns: c}, keys: newKeyCache(f)}
	d.scanner.keys, d.scanner.rec = &d.keys, &d.rec
	return d
}

// byteOrderMark may stand at the start of a file, and so inside files that were
// put together.
var byteOrderMark = []byte("\xef\xbb\xbf")

func (d *ndjson) decode(c *Chunk, t *Tally, s sink) {
	d.tally = t
	data, line, offset := c.Data, c.Line, c.Offset
	for len(data) > 0 {
		if n := d.short(c, data, line, offset, s); n > 0 {
			data = data[n:]
			line++
			offset += int64(n)
			continue
		}
		raw, open := data, c.Open
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			raw, open = data[:i+1], false
		}
		data = data[len(raw):]
		hop, bad := d.line(c, raw, open)
		switch {
		case bad != nil:
			t.reject(line, offset, bad)
		case hop != nil:
			d.row.Line, d.row.Offset = line, offset
			tried := t.Fields != nil && len(data) > slack
			s.attempt(&d.rec, &d.row, hop)
			if tried {
				d.layouts.miss(d, raw)
			}
		default:
			t.blank()
		}
		line++
		offset += int64(len(raw))
	}
}

// short reads a line that is laid out like one before it and returns its length,
// else 0. The first accepted line of a chunk names its fields, so it goes the long
// way.
func (d *ndjson) short(c *Chunk, data []byte, line, offset int64, s sink) int {
	if d.tally.Fields == nil {
		return 0
	}
	n, plain := d.layouts.read(&d.scanner, data)
	switch {
	case n == 0 || n > c.File.maxLine:
		return 0
	case plain != nil:
		plain.row.Line, plain.row.Offset = line, offset
		plain.accept(d.tally)
		s.plain(&plain.row, plain.hop, plain.instance)
		return n
	}
	hop, bad := d.attempts.row(&d.rec, &d.row)
	if bad != nil {
		d.tally.reject(line, offset, bad)
		return n
	}
	d.row.Line, d.row.Offset = line, offset
	s.attempt(&d.rec, &d.row, hop)
	return n
}

// line decodes one line; it returns neither hop nor fault for a blank one. An
// open line is the last one, without a newline.
func (d *ndjson) line(c *Chunk, raw []byte, open bool) (hop []byte, bad *fault) {
	switch {
	case blank(raw):
		return nil, nil
	case c.File.tooLong(raw):
		return nil, tooLong(raw)
	}
	d.rec.reset()
	if err := d.scanner.scan(bytes.TrimPrefix(raw, byteOrderMark)); err != nil {
		return nil, jsonFault(err, open)
	}
	return d.attempts.row(&d.rec, &d.row)
}

func jsonFault(err error, open bool) *fault {
	switch {
	case open:
		return &fault{Incomplete, "the input ends inside the record: " + err.Error()}
	case errors.Is(err, errNotObject):
		return &fault{NotARecord, err.Error()}
	}
	return &fault{Malformed, err.Error()}
}

// sniffNDJSON looks for a hop log in the first lines of a file, and for a first
// record that shows how its numbers are written.
func sniffNDJSON(head []byte, f *Fields) sniffed {
	d := newNDJSON(f, 0)
	s := sniffed{why: "no line is a JSON object"}
	for line := range bytes.Lines(head) {
		whole := line[len(line)-1] == '\n'
		line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		d.rec.reset()
		err := d.scanner.scan(line)
		if err != nil && whole {
			continue
		}
		cut := err != nil && len(head) == headSize
		if next := judge(&d.rec, d.keys.seen); next.mine || cut && d.rec.clue() {
			s.mine = true
		} else if !s.mine {
			s = next
		}
		if s.mine && d.rec.measured() {
			s.unitless = unitless(&d.rec)
			return s
		}
	}
	return s
}

// clue reports whether the part of a record that was looked at, its first line
// being longer, is like that of a hop log.
func (r *record) clue() bool {
	return r.has&(1<<Hop|1<<Duration|1<<Start|1<<End|1<<Time) != 0
}

// judge says whether a record has the keys that an attempt needs.
func judge(rec *record, seen map[string]*keyInfo) sniffed {
	hop, duration := rec.has&(1<<Hop) != 0, rec.has&(1<<Duration) != 0
	if hop && (duration || rec.has&(1<<Start) != 0 && rec.has&(1<<End) != 0) {
		return sniffed{mine: true}
	}
	what := "a hop and a duration"
	if hop {
		what = "a duration"
	} else if duration {
		what = "a hop"
	}
	return sniffed{why: fmt.Sprintf("records without %s that is known by name (keys: %s): name it with --field", what, keyList(seen))}
}

// unitless returns the value on which the length of an attempt rests if its
// unit is not known.
func unitless(rec *record) *UnitError {
	if v := rec.get(Duration); !v.empty() {
		_, err := parseDuration(v.raw, v.use.unit)
		return unitError(v, err)
	}
	for _, role := range [...]Role{Start, End} {
		v := rec.get(role)
		if _, err := unguessed(v); errors.Is(err, errNoUnit) {
			return unitError(v, err)
		}
	}
	return nil
}

func unitError(v *value, err error) *UnitError {
	if errors.Is(err, errNoUnit) {
		return &UnitError{Key: v.key.path, Role: v.use.role}
	}
	return nil
}
