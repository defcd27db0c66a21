package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/spans"
)

// ndjson decodes hop logs of one JSON object a line.
type ndjson struct {
	attempts
	keys    keyCache
	scanner recordScanner
	layouts layouts
	rec     record
	row     spans.Row
}

func newNDJSON(f *Settings, c spans.Columns) *ndjson {
	d := &ndjson{attempts: newAttempts(f, c), keys: newKeyCache(f.Lines)}
	d.scanner.keys, d.scanner.rec = &d.keys, &d.rec
	return d
}

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
			d.handOn(&d.rec, &d.row, hop, c.File.Index, s)
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
	case n == 0 || n > c.File.MaxLine:
		return 0
	case plain != nil:
		plain.row.Line, plain.row.Offset = line, offset
		plain.accept(d.tally)
		s.attempt(&plain.row, plain.hop, plain.instance, nil)
		return n
	}
	hop, bad := d.attempts.row(&d.rec, &d.row)
	if bad != nil {
		d.tally.reject(line, offset, bad)
		return n
	}
	d.row.Line, d.row.Offset = line, offset
	d.handOn(&d.rec, &d.row, hop, c.File.Index, s)
	return n
}

// line decodes one line; it returns neither hop nor fault for a blank one. An
// open line is the last one, without a newline.
func (d *ndjson) line(c *Chunk, raw []byte, open bool) (hop []byte, bad *fault) {
	switch {
	case Blank(raw):
		return nil, nil
	case c.File.TooLong(raw):
		return nil, TooLong(raw)
	}
	d.rec.reset()
	if err := d.scanner.scan(bytes.TrimPrefix(raw, ByteOrderMark)); err != nil {
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
func sniffNDJSON(head []byte, f *Settings) sniffed {
	d := newNDJSON(f, 0)
	s := sniffed{why: "no line is a JSON object"}
	for line := range bytes.Lines(head) {
		whole := line[len(line)-1] == '\n'
		line = bytes.TrimSpace(bytes.TrimPrefix(line, ByteOrderMark))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		d.rec.reset()
		err := d.scanner.scan(line)
		if err != nil && whole {
			continue
		}
		cut := err != nil && len(head) == HeadSize
		if next := recognise(&d.rec, d.keys.seen); next.mine || cut && clue(&d.rec) {
			s.mine = true
		} else if !s.mine {
			s = next
		}
		if s.mine && measured(&d.rec) {
			s.unitless = unitless(&d.rec)
			return s
		}
	}
	return s
}

// clue reports whether the part of a record that was looked at, its first line
// being longer, is like that of a hop log.
func clue(rec *record) bool {
	return rec.has&(1<<Hop|1<<Duration|1<<Start|1<<End|1<<Time) != 0
}

// measured reports whether a record has what the length of an attempt rests on.
func measured(rec *record) bool {
	return len(rec.get(Hop).raw) > 0 && (rec.known(Duration) || rec.known(Start, End))
}

// recognise says whether a record has the keys that an attempt needs.
func recognise(rec *record, seen map[string]*keyInfo) sniffed {
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

// keyList shows the keys that were seen, for a message.
func keyList(seen map[string]*keyInfo) string {
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	const most = 12
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return strings.Join(keys, ", ")
}
