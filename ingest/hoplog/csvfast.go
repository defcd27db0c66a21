package hoplog

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// fastRows is the fast path of the rows of one file: those without quotes whose
// attempts are ordinary.
type fastRows struct {
	header *header
	row    *fastRow // nil where the record is needed
}

func (d *delimited) fast(c *format.Chunk, data []byte) (n int, ordinary *fastRow) {
	if h := c.Note.(*header); d.fastRows.header != h {
		d.fastRows = d.fastFor(h)
	}
	return d.fastRows.read(data), d.fastRows.row
}

func (d *delimited) fastFor(h *header) fastRows {
	cells := make([][]byte, len(h.keys))
	for i := range cells {
		cells[i] = []byte("there")
	}
	var rec field.Record
	h.read(cells, &rec)
	return fastRows{h, d.newFastRow(h.keys, timeBasis(d.fields, &rec))}
}

// read reads the row at the start of b and returns its length with its newline, 0
// for one that takes the general path.
func (r *fastRows) read(b []byte) int {
	if r.row == nil || len(b) == 0 || b[0] == format.ByteOrderMark[0] {
		return 0
	}
	r.row.begin()
	i, last := 0, len(r.row.fields)-1
	for k := range last {
		end := r.cell(&r.row.fields[k], b, i)
		if end < 0 || b[end] != r.header.comma {
			return 0
		}
		i = end + 1
	}
	end := r.cell(&r.row.fields[last], b, i)
	if end < 0 {
		return 0
	}
	n := end + lineEnd(b[end:])
	if n == end || bytes.Equal(b[:end], r.header.raw) || !r.row.done() {
		return 0
	}
	return n
}

// lineEnd is the length of the line end at the start of b, 0 if there is none.
func lineEnd(b []byte) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	}
	return 0
}

// cell reads the cell at b[i:] and returns where it ends, -1 where it is not
// ordinary.
func (r *fastRows) cell(f *fastField, b []byte, i int) int {
	if f.counts() {
		if n, digits := fastWhole(b, i); digits > 0 && r.ends(b[i+digits]) && r.row.whole(f, n) {
			return i + digits
		}
	}
	if f.part == timePart {
		if end := r.row.sameTime(b, i); end > 0 && r.ends(b[end]) {
			return end
		}
	}
	end := r.cellEnd(b, i)
	if end < 0 || r.header.decimalCommas() && (f.counts() || f.part == timePart) && bytes.IndexByte(b[i:end], ',') >= 0 || !r.row.other(f, jsonscan.Text, b[i:end]) {
		return -1
	}
	return end
}

func (r *fastRows) ends(c byte) bool { return c == r.header.comma || c < ' ' }

// cellEnd returns the index of the first comma, quote or control character, -1
// where there is none; as jsonscan.UnescapedRun does it.
func (r *fastRows) cellEnd(b []byte, i int) int {
	separators := jsonscan.LowBits * uint64(r.header.comma)
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		commas := word ^ separators
		if found := jsonscan.QuoteOrControl(word) | (commas-jsonscan.LowBits)&^commas&jsonscan.HighBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return -1
}
