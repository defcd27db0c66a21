package hoplog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// maxQuoted is how long a record with newlines in its quotes may be. A quote
// that is not closed by then is a fault of its line, not the loss of all lines
// after it.
const maxQuoted = 1 << 20

var (
	errBareQuote  = errors.New("a quote inside a field that does not start with one")
	errAfterQuote = errors.New("text after a closing quote")
	errNoClosing  = errors.New("a quote that is not closed, or not within the 1 MiB that a cell with line breaks may have")
)

// cutter finds the ends of CSV records.
type cutter struct {
	comma byte
	limit int // of a record of several lines
}

func newCutter(comma byte, maxLine int) cutter { return cutter{comma, min(maxQuoted, maxLine)} }

// recordEnd returns the length of the record at the start of b, with its
// newline. It returns 0 if that depends on bytes that are still to come; at the
// end of the input (final) it never does. Where quotes go wrong the record ends
// with its first line.
func (c cutter) recordEnd(b []byte, final bool) int {
	line := bytes.IndexByte(b, '\n') + 1
	if line == 0 {
		if final {
			return len(b)
		}
		return 0
	}
	if bytes.IndexByte(b[:line], '"') < 0 {
		return line
	}
	n, decided := c.quotedEnd(b[:min(len(b), c.limit)], final && len(b) < c.limit)
	switch {
	case n > 0:
		return n
	case decided || final || len(b) >= c.limit:
		return line
	}
	return 0
}

// quotedEnd returns the length of a record with quotes. It is 0 if b ends before
// the record does, or, decided, if its quotes are wrong. A quote opens a field
// only as its first byte.
func (c cutter) quotedEnd(b []byte, final bool) (n int, decided bool) {
	start := true
	for i := len(b) - len(bytes.TrimPrefix(b, format.ByteOrderMark)); i < len(b); i++ {
		switch {
		case start && b[i] == '"':
			n := closing(b[i+1:])
			if n < 0 {
				return 0, false
			}
			i += n + 1
			if ends, decided := c.endsField(b[i+1:], final); !ends {
				return 0, decided
			}
			start = false
		case b[i] == '\n':
			return i + 1, true
		default:
			start = b[i] == c.comma
		}
	}
	if final {
		return len(b), true
	}
	return 0, false
}

// endsField reports whether b may follow a closing quote.
func (c cutter) endsField(b []byte, final bool) (ends, decided bool) {
	switch {
	case len(b) == 0:
		return final, final
	case b[0] == c.comma || b[0] == '\n':
		return true, true
	case b[0] != '\r':
		return false, true
	case len(b) == 1:
		return final, final
	}
	return b[1] == '\n', true
}

// closing returns the index of the quote that ends a field whose opening quote
// stood before b, -1 if it is not there. A doubled quote is a quote, so that one
// at the end of b closes the field only if nothing follows.
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

// boundary returns the length of the longest run of whole records.
func (c cutter) boundary(b []byte) int {
	if bytes.IndexByte(b, '"') < 0 {
		return format.LastNewline(b)
	}
	whole := 0
	for {
		n := c.recordEnd(b[whole:], false)
		if n == 0 {
			return whole
		}
		whole += n
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
	if bytes.IndexByte(field, '\r') >= 0 {
		field = bytes.ReplaceAll(field, []byte("\r\n"), format.Newline)
	}
	switch {
	case len(after) == 0:
		return field, nil, nil
	case after[0] == comma:
		return field, after[1:], nil
	}
	return nil, nil, errAfterQuote
}

// delimited decodes hop logs in CSV and TSV.
type delimited struct {
	attempts
	cells    [][]byte
	header   *header // of the record at hand
	fastRows fastRows
}

func newDelimited(f *format.Settings, c spans.Columns) *delimited {
	d := &delimited{attempts: newAttempts(f, c)}
	d.table = true
	d.listen, d.texts = d.hear, outcome.NewListener(&d.keys)
	return d
}

func (d *delimited) Decode(c *format.Chunk, t *format.Tally, s format.Sink) { d.decode(c, t, s, d) }

func (d *delimited) end(c *format.Chunk, data []byte) int {
	return c.Note.(*header).recordEnd(data, true)
}

func (d *delimited) record(c *format.Chunk, data []byte, n int, open bool) (hop []byte, bad *format.Fault) {
	d.rec.Reset()
	if open && c.Cut {
		return nil, format.NewFault(format.Incomplete, "the input breaks off inside the record")
	}
	h, raw := c.Note.(*header), trimLineEnd(bytes.TrimPrefix(data[:n], format.ByteOrderMark))
	cells, err := splitFields(raw, h.comma, d.cells[:0])
	d.cells, d.header = cells, h
	if bad := h.check(raw, cells, err, open); bad != nil {
		return nil, bad
	}
	h.read(cells, &d.rec)
	if hop, bad = d.fill(); bad == nil && open {
		d.tally.Odd[format.OpenRows]++
	}
	return hop, bad
}

// SeenKeys lists the columns.
func (d *delimited) SeenKeys() (names []string) {
	if d.fastRows.header != nil {
		d.header = d.fastRows.header
	}
	if d.header == nil {
		return nil
	}
	for _, key := range d.header.keys {
		names = append(names, key.Path)
	}
	return names
}

// hear hands on the cells that can be messages.
func (d *delimited) hear() {
	for i, key := range d.header.keys {
		if outcome.Listens(key) {
			d.texts.Text(d.cells[i])
		}
	}
}

// check says what is wrong with a row's form.
func (h *header) check(raw []byte, cells [][]byte, err error, open bool) *format.Fault {
	switch {
	case open && (err != nil || len(cells) < len(h.keys)):
		return format.NewFault(format.Incomplete, "the input ends inside the record")
	case err != nil:
		return format.NewFault(format.Malformed, err.Error())
	case bytes.Equal(raw, h.raw):
		return format.NewFault(format.RepeatedHeader, "the header once more")
	case len(cells) != len(h.keys):
		return format.NewFault(format.WrongFieldCount, fmt.Sprintf("%s where the header has %d", note.Count(len(cells), "field"), len(h.keys)))
	}
	return nil
}
