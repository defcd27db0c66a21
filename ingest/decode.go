package ingest

import (
	"github.com/tailscope/tailscope/spans"
)

// Decoder turns chunks of any format into batches. Each worker has its own; the
// dictionary of hop names lives as long as the decoder's builder.
type Decoder struct {
	fields      *Fields
	builder     *spans.Builder
	decoders    map[*format]decoder
	keepRejects bool
}

// NewDecoder returns a decoder that fills b. With keepRejects a Tally lists all
// rejects, else the first of each reason.
func NewDecoder(c Config, b *spans.Builder, keepRejects bool) *Decoder {
	return &Decoder{c.Fields, b, map[*format]decoder{}, keepRejects}
}

// Decode decodes one chunk. Each full batch goes to yield, which then owns it;
// rows may wait for the next chunk or for Flush.
func (d *Decoder) Decode(c *Chunk, yield func(*spans.Batch)) *Tally {
	t := &Tally{Chunk: c, keepAll: d.keepRejects}
	if c.skipped > 0 {
		t.reject(c.Line, c.Offset, overlong(c.skipped))
		return t
	}
	dec := d.decoders[c.File.format]
	if dec == nil {
		dec = c.File.format.newDecoder(d.fields, d.builder.Columns())
		d.decoders[c.File.format] = dec
	}
	dec.decode(c, t, func(rec *record, row *spans.Row, hop []byte) {
		t.accept(rec)
		d.append(c.File.Index, rec, row, hop, yield)
	})
	return t
}

func (d *Decoder) append(file int32, rec *record, row *spans.Row, hop []byte, yield func(*spans.Batch)) {
	if d.builder.Full(row) {
		yield(d.builder.Batch())
	}
	row.Hop = d.builder.Hop(hop)
	row.File = file
	if d.builder.Columns().Has(spans.Strata) {
		row.Stratum = d.builder.Stratum(rec.get(Stratum).raw)
	}
	d.builder.Append(row)
}

// Flush hands out the rows that wait.
func (d *Decoder) Flush(yield func(*spans.Batch)) {
	if b := d.builder.Batch(); b != nil {
		yield(b)
	}
}
