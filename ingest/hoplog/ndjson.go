package hoplog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/spans"
)

// ndjson decodes hop logs of one JSON object a line.
type ndjson struct {
	attempts
	scanner recordScanner
	layouts layouts
}

func newNDJSON(f *format.Settings, c spans.Columns) *ndjson {
	d := &ndjson{attempts: newAttempts(f, c)}
	d.texts = outcome.NewListener(&d.keys)
	d.scanner.keys, d.scanner.rec = &d.keys, &d.rec
	d.listen = func() { d.texts.JSON(d.raw) }
	return d
}

func (d *ndjson) Decode(c *format.Chunk, t *format.Tally, s format.Sink) {
	d.decode(c, t, s, d)
	d.raw, d.scanner.B = nil, nil // else a worker that waits keeps the memory of its last chunk
}

func (d *ndjson) fast(_ *format.Chunk, data []byte) (n int, ordinary *fastRow) {
	return d.layouts.read(&d.scanner, data)
}

func (d *ndjson) end(_ *format.Chunk, data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}

func (d *ndjson) record(_ *format.Chunk, data []byte, n int, open bool) (hop []byte, bad *format.Fault) {
	raw := data[:n]
	d.rec.Reset()
	raw = bytes.TrimLeft(raw, "\x00") // which a log has that was cut to nothing while it was written
	d.raw = bytes.TrimPrefix(raw, format.ByteOrderMark)
	if err := d.scanner.scan(d.raw); err != nil {
		return nil, jsonFault(err, open)
	}
	hop, bad = d.fill()
	if bad == nil && d.tally.Fields != nil && len(data)-n > jsonscan.Slack { // so that layouts were tried
		d.layouts.miss(d, raw)
	}
	return hop, bad
}

func jsonFault(err error, open bool) *format.Fault {
	switch {
	case open:
		return format.NewFault(format.Incomplete, "the input ends inside the record: "+err.Error())
	case errors.Is(err, errNotObject):
		return format.NewFault(format.NotARecord, err.Error())
	}
	return format.NewFault(format.Malformed, err.Error())
}

// sniffNDJSON looks for a hop log in the first lines of a file, and for a first
// record that shows how its numbers are written.
func sniffNDJSON(head *format.Head, f *format.Settings) format.Sniffed {
	d, used := sniffers.Get().(*ndjson)
	if !used || d.fields != f {
		d = newNDJSON(f, 0)
	}
	defer sniffers.Put(d)
	s := d.sniff(head.Bytes)
	if !s.Mine { // a message shows the keys of this file only
		d = newNDJSON(f, 0)
		return d.sniff(head.Bytes)
	}
	return s
}

// sniffers know the usual keys: most files of a run have the same.
var sniffers sync.Pool

func (d *ndjson) sniff(head []byte) format.Sniffed {
	s := format.Sniffed{Why: "no line is a JSON object"}
	for line := range bytes.Lines(head) {
		whole := line[len(line)-1] == '\n'
		line = bytes.TrimSpace(bytes.TrimPrefix(line, format.ByteOrderMark))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		d.rec.Reset()
		err := d.scanner.scan(line)
		if err != nil && whole {
			continue
		}
		d.constant.name(&d.rec)
		cut := err != nil && len(head) == format.HeadSize
		if next := recognise(&d.rec, d.keys.Seen, d.fields.Fields); next.Mine || cut && clue(&d.rec) {
			s.Mine = true
		} else if !s.Mine {
			s = next
		}
		if s.Mine && measured(&d.rec) {
			s.Unitless = unitless(&d.rec)
			return s
		}
	}
	return s
}

// clue reports whether the part of a record that was looked at, its first line
// being longer, is like that of a hop log.
func clue(rec *field.Record) bool {
	return rec.Has&(1<<field.Hop|1<<field.Duration|1<<field.Start|1<<field.End|1<<field.Time) != 0
}

// measured reports whether a record has what the length of an attempt rests on.
func measured(rec *field.Record) bool {
	return len(rec.Get(field.Hop).Raw) > 0 && (rec.Known(field.Duration) || rec.Known(field.Start, field.End))
}

// recognise says whether a record has the keys that an attempt needs.
func recognise(rec *field.Record, seen map[string]*field.Key, named []field.Flag) format.Sniffed {
	hop, duration := rec.Has&(1<<field.Hop) != 0, rec.Has&(1<<field.Duration) != 0
	if hop && (duration || rec.Has&(1<<field.Start) != 0 && rec.Has&(1<<field.End) != 0) {
		return format.Sniffed{Mine: true}
	}
	what := "a hop and a duration"
	if hop {
		what = "a duration"
	} else if duration {
		what = "a hop"
	}
	return format.Sniffed{Why: fmt.Sprintf("records without %s that is known by name (keys: %s): name it with --field%s", what, keyList(seen), meant(named, seen))}
}

// meant names, for the keys that the user named and that are not there, those that are
// most like them.
func meant(named []field.Flag, seen map[string]*field.Key) (text string) {
	for _, f := range named {
		if seen[f.Key] != nil {
			continue
		}
		if name := nearest.Name(f.Key, slices.Collect(maps.Keys(seen))); name != "" {
			text += fmt.Sprintf("; there is no %s: did you mean %s?", f.Key, name)
		}
	}
	return text
}

// unitless returns the value on which the length of an attempt rests if its
// unit is not known.
func unitless(rec *field.Record) *format.UnitError {
	if v := rec.Get(field.Duration); !v.Empty() {
		_, err := moment.ParseDuration(v.Raw, v.Use.Unit)
		return unitError(v, err)
	}
	for _, role := range [...]field.Role{field.Start, field.End} {
		v := rec.Get(role)
		if _, err := unguessed(v); errors.Is(err, moment.ErrNoUnit) {
			return unitError(v, err)
		}
	}
	return nil
}

func unitError(v *field.Value, err error) *format.UnitError {
	if errors.Is(err, moment.ErrNoUnit) {
		return &format.UnitError{Key: v.Key.Path, Role: v.Use.Role}
	}
	return nil
}

// keyList shows the keys that were seen, for a message.
func keyList(seen map[string]*field.Key) string {
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, field.Shown(k))
	}
	slices.Sort(keys)
	const most = 12
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return strings.Join(keys, ", ")
}
