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

func (d *ndjson) decode(c *Chunk, t *Tally, emit func(*record, *spans.Row, []byte)) {
	d.tally = t
	data, line, offset := c.Data, c.Line, c.Offset
	for len(data) > 0 {
		raw, open := data, c.Open
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			raw, open = data[:i+1], false
		}
		data = data[len(raw):]
		d.row.Line, d.row.Offset = line, offset
		d.line(raw, open, emit)
		line++
		offset += int64(len(raw))
	}
}

// line decodes one line; open is the last one without a newline.
func (d *ndjson) line(raw []byte, open bool, emit func(*record, *spans.Row, []byte)) {
	line, offset := d.row.Line, d.row.Offset
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark))
	if len(raw) == 0 {
		d.tally.blank()
		return
	}
	d.rec.reset()
	if err := d.scanner.scan(raw); err != nil {
		d.tally.Incomplete = d.tally.Incomplete || open
		d.tally.reject(line, offset, jsonFault(err, open))
		return
	}
	hop, bad := d.attempts.row(&d.rec, &d.row)
	if bad != nil {
		d.tally.reject(line, offset, bad)
		return
	}
	d.row.Line, d.row.Offset = line, offset
	emit(&d.rec, &d.row, hop)
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

// sniffNDJSON looks for a hop log in the first lines of a file.
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
		if err := d.scanner.scan(line); err != nil && whole {
			continue
		}
		if s = s.judge(&d.rec, d.keys.seen); s.mine {
			return s
		}
	}
	return s
}

// judge says whether a record has what an attempt needs.
func (s sniffed) judge(rec *record, seen map[string]*keyInfo) sniffed {
	hop, duration := rec.has&(1<<Hop) != 0, rec.has&(1<<Duration) != 0
	if hop && (duration || rec.has&(1<<Start) != 0 && rec.has&(1<<End) != 0) {
		return sniffed{mine: true, unitless: unitless(rec)}
	}
	what := "a hop and a duration"
	if hop {
		what = "a duration"
	} else if duration {
		what = "a hop"
	}
	s.why = fmt.Sprintf("records without %s that is known by name (keys: %s): name it with --field", what, keyList(seen))
	return s
}

// unitless returns the key on which the duration rests if its unit is not known.
func unitless(rec *record) string {
	v := rec.get(Duration)
	if !v.empty() {
		if _, err := parseDuration(v.raw, v.use.unit); errors.Is(err, errNoUnit) {
			return v.key.path
		}
		return ""
	}
	for _, role := range [...]Role{Start, End} {
		if v := rec.get(role); !v.empty() {
			if _, err := parseMoment(v); errors.Is(err, errNoUnit) {
				return v.key.path
			}
		}
	}
	return ""
}
