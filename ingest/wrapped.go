package ingest

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/ingest/wrap"
	"github.com/tailscope/tailscope/internal/note"
)

// wrapped looks for what the records lie in, where the head is of no format by itself,
// or only by the chance that some of its lines look like records; found tells that the
// file was started.
func (f opener) wrapped(head []byte, as *format.Format, err error) (found bool, wrong error) {
	var unit *UnitError
	var refused *RefusedError
	f.hopLogsOnly = errors.As(err, &refused)
	var unknown *UnknownFormatError
	switch {
	case errors.As(err, &unit):
		return false, nil
	case errors.As(err, &unknown):
		return f.unwrapOrSay(head, unknown)
	case err != nil:
		return f.unwrap(head, wrap.Find)
	case as != hoplog.NDJSON:
		return false, nil
	case wrap.IsDocument(head):
		return f.unwrap(head, wrap.FindDocument)
	case f.config.Format != "" && !f.config.settings(head).mine(as, head), wrap.MostlyText(head):
		return f.unwrap(head, wrap.Find)
	}
	return false, nil
}

// unwrap starts a file whose records lie in something that find knows. The error says
// that they are known, but have no unit.
func (f opener) unwrap(head []byte, find finder) (found bool, err error) {
	as, plan, err := f.look(head, find)
	if plan == nil || err != nil {
		return false, err
	}
	f.startIn(as, plan)
	return true, nil
}

// unwrapOrSay is unwrap, which else says what the records lack that it took out of
// something.
func (f opener) unwrapOrSay(head []byte, unknown *UnknownFormatError) (found bool, err error) {
	nearest := ""
	f.nearest = &nearest
	found, err = f.unwrap(head, wrap.Find)
	if !found && err == nil && nearest != "" {
		unknown.Whys = append(unknown.Whys, "ndjson inside other lines: "+nearest)
	}
	return found, err
}

// finder is wrap.Find or wrap.FindDocument.
type finder = func(head []byte, accept wrap.Accept) *wrap.Plan

func (f opener) look(head []byte, find finder) (as *format.Format, plan *wrap.Plan, err error) {
	var by *format.Settings
	plan = find(head, func(lines []byte, elements bool) bool {
		var why string
		as, by, why, err = match(f.Path, lines, f.config)
		if f.nearest != nil && *f.nearest == "" {
			*f.nearest = why
		}
		if (elements || f.hopLogsOnly) && as != hoplog.NDJSON {
			as = nil
		}
		if f.hopLogsOnly && (elements || err != nil) {
			as, err = nil, nil // its parts are no records: what was refused stays so
		}
		return as != nil || err != nil
	})
	if as != nil {
		f.Settings = by
	}
	return as, plan, err
}

// startIn starts a file whose records lie in something.
func (f opener) startIn(as *format.Format, plan *wrap.Plan) {
	plan.Timed = as == hoplog.NDJSON
	f.Within, f.Wrapper = plan, plan.Name()
	f.StartWith(as, plan.Chunker(f.File))
}

// match finds the format of lines that were taken out of something, nil for none. why
// says what the records of a hop log lack.
func match(path string, lines []byte, c Config) (as *format.Format, by *format.Settings, why string, err error) {
	look, own := &format.Head{Bytes: lines}, c.settings(lines)
	for _, f := range formats {
		if !f.Wrapped || c.Format != "" && c.Format != f.Name {
			continue
		}
		switch s, fields := own.sniff(f, look); {
		case s.Unitless != nil:
			s.Unitless.Path = path
			return nil, nil, "", s.Unitless
		case s.Refused != nil:
			return nil, nil, "", nil
		case s.Mine:
			return f, fields, "", nil
		case strings.Contains(s.Why, "(keys: "):
			why = s.Why
		}
	}
	return nil, nil, why, nil
}

// fewestZeros is how many NULs at the start of a file are no text in another encoding.
const fewestZeros = 8

// skipZeros passes the NULs that a log starts with which was cut to nothing while its
// writer went on where it was.
func (f opener) skipZeros() {
	for {
		head, err := f.Head.Peek(format.HeadSize)
		n := len(head) - len(bytes.TrimLeft(head, "\x00"))
		if n < fewestZeros && f.Skipped == 0 || n == 0 {
			break
		}
		_, _ = f.Head.Discard(n)
		f.Skipped += int64(n)
		if err != nil {
			break
		}
	}
	if f.Skipped > 0 {
		f.Warn("nul_bytes", f.Path+" starts with "+note.Count(f.Skipped, "NUL byte")+", as a log does that was emptied while it was written: what stood there is lost")
	}
}

// farthestHead is how far the first record is looked for behind other lines.
const farthestHead = 4 << 20

// readOn looks for the first record further on: other lines may come before it. unknown
// is what is wrong with the head.
func (f opener) readOn(head []byte, unknown error) error {
	rest, read := f.Rest(), make([]byte, 0, 2*len(head))
	block := make([]byte, format.HeadSize)
	for len(read) < farthestHead {
		from := len(read)
		n, err := io.ReadFull(rest, block)
		read = append(read, block[:n]...)
		start := bytes.LastIndexByte(read[:from], '\n') + 1
		if from > 0 && bytes.IndexByte(block[:n], '{') >= 0 {
			if done, wrong := f.startAt(read[start:], io.MultiReader(bytes.NewReader(read), rest)); done || wrong != nil {
				return wrong
			}
		}
		if err != nil {
			break
		}
	}
	return unknown
}

// startAt starts the file, all of which all reads, if its format shows in a part.
func (f opener) startAt(part []byte, all io.Reader) (done bool, err error) {
	part = part[:min(len(part), format.HeadSize)]
	as, by, _, err := match(f.Path, part, f.config)
	var plan *wrap.Plan
	if as == nil && err == nil {
		as, plan, err = f.look(part, wrap.Find)
	}
	if err != nil || as == nil {
		return false, err
	}
	f.SetContent(all)
	if plan != nil {
		f.startIn(as, plan)
		return true, nil
	}
	return true, f.Start(as, by)
}
