package hoplog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// header is the first record of a CSV file: what its columns mean.
type header struct {
	cutter
	raw  []byte // as it stands in the file, without the line's end
	keys []*field.Key
}

func newHeader(raw []byte, c cutter, f *format.Settings) (*header, error) {
	raw = trimLineEnd(bytes.TrimPrefix(raw, format.ByteOrderMark))
	names, err := splitFields(raw, c.comma, nil)
	if err != nil {
		return nil, err
	}
	h := &header{cutter: c, raw: bytes.Clone(raw)}
	for _, n := range names {
		name := string(bytes.TrimSpace(n))
		h.keys = append(h.keys, f.Lines.Key(name))
	}
	return h, nil
}

// tail is tailFor for the rows.
func (h *header) tail() int {
	var has uint64
	for _, key := range h.keys {
		for _, u := range key.Uses {
			has |= 1 << u.Role
		}
	}
	return tailFor(has)
}

func trimLineEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, format.Newline)
	return bytes.TrimSuffix(b, []byte{'\r'})
}

// read puts the known columns of a row into rec.
func (h *header) read(cells [][]byte, rec *field.Record) {
	for i, key := range h.keys {
		cell := cells[i]
		if h.decimalCommas() && len(key.Uses) > 0 && key.Uses[0].Role.HasUnit() {
			cell = moment.Pointed(cell)
		}
		rec.Note(key, jsonscan.Text, cell)
	}
}

// decimalCommas reports whether numbers may be written with decimal commas: where
// cells are separated by semicolons, it is because they are.
func (h *header) decimalCommas() bool { return h.comma == ';' }

// sniffDelimited looks for a header with a hop and a duration, and for a first
// row that shows how its numbers are written.
func sniffDelimited(commas []byte) func(*format.Head, *format.Settings) format.Sniffed {
	return func(head *format.Head, f *format.Settings) (best format.Sniffed) {
		for i, comma := range commas {
			s := sniffHeader(head.Bytes, newCutter(comma, maxQuoted), f)
			if s.Mine || s.Refused != nil {
				return s
			}
			if i == 0 || best.Why == oneColumn {
				best = s
			}
		}
		return best
	}
}

const oneColumn = "the first line has only one column"

func sniffHeader(head []byte, c cutter, f *format.Settings) format.Sniffed {
	h, rest, err := findHeader(head, c, f)
	if err != nil {
		return format.Sniffed{Why: err.Error()}
	}
	if len(h.keys) < 2 {
		return format.Sniffed{Why: oneColumn}
	}
	seen := map[string]*field.Key{}
	for i, key := range h.keys {
		seen[key.Path] = h.keys[i]
	}
	rec := &field.Record{}
	h.read(make([][]byte, len(h.keys)), rec)
	constant := newConstantHop(&f.Config)
	constant.name(rec)
	s := recognise(rec, seen, f.Fields)
	switch {
	case s.Mine && cutOff(head, rest):
		return format.Sniffed{Refused: longHeader()}
	case !s.Mine && h.isData(rest):
		s.Refused = &format.RefusedError{What: "a table without a header", Why: h.remedy()}
	case h.firstMeasured(rest, rec, constant):
		s.Unitless = unitless(rec)
	}
	return s
}

// longHeader is a header of which only the start can be looked at.
func longHeader() *format.RefusedError {
	return &format.RefusedError{
		What: fmt.Sprintf("a table whose header is longer than %d KiB", format.HeadSize>>10),
		Why:  "the columns beyond are not known; leave only the columns that are needed in the header and its rows",
	}
}

// cutOff reports whether a header goes on beyond the head of the file: nothing is
// left of it, not even the end of the line.
func cutOff(head, rest []byte) bool {
	return len(head) >= format.HeadSize && len(rest) == 0 && !bytes.HasSuffix(head, format.Newline)
}

// isData reports whether what stands in place of a header is a row: no cell of it is
// called as a column is, and one is a number or a time, there and in the row after it.
func (h *header) isData(rest []byte) bool {
	row, err := splitFields(trimLineEnd(rest[:h.recordEnd(rest, true)]), h.comma, nil)
	if err != nil || len(row) != len(h.keys) || slices.ContainsFunc(h.keys, func(k *field.Key) bool { return len(k.Uses) > 0 }) {
		return false
	}
	for i, key := range h.keys {
		if measures(key.Path) && measures(string(row[i])) {
			return true
		}
	}
	return false
}

func measures(cell string) bool {
	if _, err := moment.ParseDuration([]byte(cell), moment.Milliseconds); err == nil {
		return true
	}
	_, err := moment.ParseInstant([]byte(cell), moment.NoUnitGiven)
	return err == nil
}

// remedy shows how to name the columns: with a header of the right length put in front.
func (h *header) remedy() string {
	names := make([]string, len(h.keys))
	for i := range names {
		names[i] = fmt.Sprintf("column%d", i+1)
	}
	names[0] = "hop"
	for i, key := range h.keys {
		if measures(key.Path) {
			names[i] = "duration_ms"
			break
		}
	}
	const most = 30
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return fmt.Sprintf("its columns have no names: put them in front, as in (echo '%s'; cat FILE) | tailscope quantiles -", strings.Join(names, string(h.comma)))
}

// firstMeasured reads the first row that can be an attempt into rec.
func (h *header) firstMeasured(b []byte, rec *field.Record, constant constantHop) bool {
	var cells [][]byte
	for len(b) > 0 {
		n := h.recordEnd(b, true)
		row, err := splitFields(trimLineEnd(b[:n]), h.comma, cells[:0])
		b, cells = b[n:], row
		if err != nil || len(row) != len(h.keys) {
			continue
		}
		rec.Reset()
		h.read(row, rec)
		constant.name(rec)
		if measured(rec) {
			return true
		}
	}
	return false
}

// findHeader parses the first record that is not blank and returns what follows
// it. Excel's line "sep=;" is none.
func findHeader(head []byte, c cutter, f *format.Settings) (*header, []byte, error) {
	for len(head) > 0 {
		n := c.recordEnd(head, true)
		if line := trimLineEnd(bytes.TrimPrefix(head[:n], format.ByteOrderMark)); !format.Blank(line) && !(len(line) == 5 && bytes.HasPrefix(line, []byte("sep="))) {
			h, err := newHeader(head[:n], c, f)
			return h, head[n:], err
		}
		head = head[n:]
	}
	return nil, nil, errors.New("there is no first line")
}

// takeHeader consumes the header of a file and returns what cuts the rows. Of several
// separators the first one counts that makes a header of a hop log, else of columns.
func takeHeader(f *format.File, commas []byte, s *format.Settings) (format.Chunker, error) {
	head, _ := f.Head.Peek(format.HeadSize)
	comma := commas[0]
	for _, other := range commas[1:] {
		best, another := sniffHeader(head, newCutter(comma, f.MaxLine), s), sniffHeader(head, newCutter(other, f.MaxLine), s)
		if !best.Mine && (another.Mine || best.Why == oneColumn && another.Why != oneColumn) {
			comma = other
		}
	}
	c := newCutter(comma, f.MaxLine)
	h, rest, err := findHeader(head, c, s)
	if err != nil {
		return nil, err
	}
	if cutOff(head, rest) {
		refused := longHeader()
		refused.Path = f.Path
		return nil, refused
	}
	used := len(head) - len(rest)
	lines := int64(bytes.Count(head[:used], format.Newline))
	if _, err := f.Head.Discard(used); err != nil {
		return nil, err
	}
	rows := format.NewSplitter(f, c.boundary)
	rows.Note = h
	rows.Tail = h.tail
	rows.Line, rows.Offset = rows.Line+lines, f.Skipped+int64(used)
	return rows, nil
}
