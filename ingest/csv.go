package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

// maxQuoted is how far a quoted field may run. A quote that is not closed by
// then is a fault of its line, not the loss of all lines after it.
const maxQuoted = 1 << 20

var (
	errBareQuote  = errors.New("a quote inside a field that does not start with one")
	errAfterQuote = errors.New("text after a closing quote")
	errNoClosing  = errors.New("a quote that is never closed")
)

// recordEnd returns the length of the CSV record at the start of b, with its
// newline. It returns 0 if that depends on bytes that are still to come; at the
// end of the input (final) it never does. A record with an unclosed quote ends
// with its line.
func recordEnd(b []byte, comma byte, final bool) int {
	line := bytes.IndexByte(b, '\n') + 1
	if line == 0 {
		if final || len(b) > maxQuoted {
			return len(b)
		}
		return 0
	}
	if bytes.IndexByte(b[:line], '"') < 0 {
		return line
	}
	return quotedEnd(b, comma, line, final)
}

// quotedEnd is recordEnd for a record whose first line has quotes. A quote
// opens a field only as its first byte.
func quotedEnd(b []byte, comma byte, line int, final bool) int {
	for i, start := 0, true; i < len(b); i++ {
		switch c := b[i]; {
		case start && c == '"':
			n := closing(b[i+1 : min(len(b), i+maxQuoted)])
			if n < 0 {
				if final || len(b)-i >= maxQuoted {
					return line
				}
				return 0
			}
			i += n + 1
			start = false
		case c == '\n':
			return i + 1
		default:
			start = c == comma
		}
	}
	if final {
		return len(b)
	}
	return 0
}

// closing returns the index of the quote that ends a field whose opening quote
// stood before b, -1 if it is not there. A doubled quote is a quote. At the end
// of b a quote is taken as closing only by luck of the next byte, so the caller
// sees it as undecided unless more follows.
func closing(b []byte) int {
	for i := 0; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		if i+1 >= len(b) || b[i+1] != '"' {
			return i
		}
		i++
	}
	return -1
}

// csvBoundary returns the boundary function for one delimiter.
func csvBoundary(comma byte) func([]byte) int {
	return func(b []byte) int {
		if bytes.IndexByte(b, '"') < 0 {
			return lastNewline(b)
		}
		whole := 0
		for {
			n := recordEnd(b[whole:], comma, false)
			if n == 0 {
				return whole
			}
			whole += n
		}
	}
}

// splitFields appends the fields of one record, without its newline, to into.
func splitFields(b []byte, comma byte, into [][]byte) ([][]byte, error) {
	for {
		field, rest, err := firstField(b, comma)
		if err != nil {
			return into, err
		}
		into = append(into, field)
		if rest == nil {
			return into, nil
		}
		b = rest
	}
}

// firstField cuts the first field off; rest is nil after the last one.
func firstField(b []byte, comma byte) (field, rest []byte, err error) {
	if len(b) > 0 && b[0] == '"' {
		return quotedField(b, comma)
	}
	end := bytes.IndexByte(b, comma)
	if end < 0 {
		end = len(b)
	} else {
		rest = b[end+1:]
	}
	if bytes.IndexByte(b[:end], '"') >= 0 {
		return nil, nil, errBareQuote
	}
	return b[:end], rest, nil
}

func quotedField(b []byte, comma byte) (field, rest []byte, err error) {
	n := closing(b[1:])
	if n < 0 {
		return nil, nil, errNoClosing
	}
	field, after := b[1:n+1], b[n+2:]
	if bytes.IndexByte(field, '"') >= 0 {
		field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	switch {
	case len(after) == 0:
		return field, nil, nil
	case after[0] == comma:
		return field, after[1:], nil
	}
	return nil, nil, errAfterQuote
}

// header is the first record of a CSV file: what its columns mean.
type header struct {
	lines, bytes int64  // of the file up to the end of the header
	raw          []byte // as it stands in the file, without the line's end
	comma        byte
	keys         []*keyInfo
}

func newHeader(raw []byte, comma byte, f *Fields) (*header, error) {
	raw = trimLineEnd(bytes.TrimPrefix(raw, byteOrderMark))
	names, err := splitFields(raw, comma, nil)
	if err != nil {
		return nil, err
	}
	h := &header{raw: bytes.Clone(raw), comma: comma}
	for _, n := range names {
		name := string(bytes.TrimSpace(n))
		h.keys = append(h.keys, &keyInfo{path: name, uses: f.look(name)})
	}
	return h, nil
}

func trimLineEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, newline)
	return bytes.TrimSuffix(b, []byte{'\r'})
}

// read puts the known columns of a row into rec.
func (h *header) read(cells [][]byte, rec *record) {
	for i, key := range h.keys {
		for _, u := range key.uses {
			if len(cells[i]) > 0 || u.role == Hop {
				rec.put(u, key, text, cells[i])
			} else if 1<<u.role&evidenceRoles != 0 {
				rec.put(u, key, null, nil)
			}
		}
	}
}

// delimited decodes hop logs in CSV and TSV.
type delimited struct {
	attempts
	rec   record
	row   spans.Row
	cells [][]byte
}

func newDelimited(f *Fields, c spans.Columns) *delimited {
	return &delimited{attempts: attempts{fields: f, columns: c}}
}

func (d *delimited) decode(c *Chunk, t *Tally, emit func(*record, *spans.Row, []byte)) {
	d.tally = t
	h := c.File.header
	data, line, offset := c.Data, c.Line, c.Offset
	for len(data) > 0 {
		raw := data[:recordEnd(data, h.comma, true)]
		data = data[len(raw):]
		open := c.Open && len(data) == 0
		if hop, bad := d.record(h, raw, open, c.Cut); bad != nil {
			t.Incomplete = t.Incomplete || bad.reason == Incomplete
			t.reject(line, offset, bad)
		} else if hop != nil {
			d.row.Line, d.row.Offset = line, offset
			emit(&d.rec, &d.row, hop)
		}
		line += int64(bytes.Count(raw, newline))
		offset += int64(len(raw))
	}
}

// record decodes one record; it returns neither hop nor fault for a blank line.
func (d *delimited) record(h *header, raw []byte, open, cut bool) (hop []byte, bad *fault) {
	raw = trimLineEnd(bytes.TrimPrefix(raw, byteOrderMark))
	if len(bytes.TrimSpace(raw)) == 0 {
		d.tally.blank()
		return nil, nil
	}
	if open && cut {
		return nil, &fault{Incomplete, "the input breaks off inside the record"}
	}
	cells, err := splitFields(raw, h.comma, d.cells[:0])
	d.cells = cells
	if bad := h.check(raw, cells, err, open); bad != nil {
		return nil, bad
	}
	d.rec.reset()
	h.read(cells, &d.rec)
	return d.attempts.row(&d.rec, &d.row)
}

// check says what is wrong with a row's form.
func (h *header) check(raw []byte, cells [][]byte, err error, open bool) *fault {
	switch {
	case open && (err != nil || len(cells) < len(h.keys)):
		return &fault{Incomplete, "the input ends inside the record"}
	case err != nil:
		return &fault{Malformed, err.Error()}
	case bytes.Equal(raw, h.raw):
		return &fault{RepeatedHeader, "the header once more"}
	case len(cells) != len(h.keys):
		return &fault{WrongFieldCount, fmt.Sprintf("%d fields where the header has %d", len(cells), len(h.keys))}
	}
	return nil
}

// sniffDelimited looks for a header with a hop and a duration.
func sniffDelimited(comma byte) func([]byte, *Fields) sniffed {
	return func(head []byte, f *Fields) sniffed {
		h, rest, err := findHeader(head, comma, f)
		if err != nil {
			return sniffed{why: err.Error()}
		}
		if len(h.keys) < 2 {
			return sniffed{why: "the first line has only one column"}
		}
		rec, seen := &record{}, map[string]*keyInfo{}
		for i, key := range h.keys {
			seen[key.path] = h.keys[i]
		}
		h.read(h.firstRow(rest), rec)
		return sniffed{}.judge(rec, seen)
	}
}

// firstRow returns the cells of the first row that fits the header, to see how
// values are written. Cells without a value say only that the column is there.
func (h *header) firstRow(b []byte) [][]byte {
	cells := make([][]byte, len(h.keys))
	for len(b) > 0 {
		n := recordEnd(b, h.comma, true)
		row, err := splitFields(trimLineEnd(b[:n]), h.comma, nil)
		if err == nil && len(row) == len(h.keys) {
			cells = row
			break
		}
		b = b[n:]
	}
	for i, c := range cells {
		if len(c) == 0 {
			cells[i] = []byte("0s")
		}
	}
	return cells
}

// findHeader parses the first record that is not blank and returns what follows
// it.
func findHeader(head []byte, comma byte, f *Fields) (*header, []byte, error) {
	for len(head) > 0 {
		n := recordEnd(head, comma, true)
		if len(bytes.TrimSpace(bytes.TrimPrefix(head[:n], byteOrderMark))) > 0 {
			h, err := newHeader(head[:n], comma, f)
			return h, head[n:], err
		}
		head = head[n:]
	}
	return nil, nil, errors.New("there is no first line")
}
