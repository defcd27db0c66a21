package ingest

import (
	"cmp"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/wrap"
	"github.com/tailscope/tailscope/spans"
)

// Decoder turns chunks of any format into batches. Each worker has its own; the
// dictionaries of names live as long as it does. Attempts of hop logs and spans
// of traces come in batches of their own.
type Decoder struct {
	fields      *format.Settings
	attempts    *spans.Builder
	spans       *spans.Builder
	decoders    map[decoderKey]format.Decoder
	unwrapper   wrap.Unwrapper
	keepRejects bool
	usual       map[string]string   // the fields of the last chunk that had any
	key         []byte              // of a span's hop
	inspects    func(*format.Chunk) // is shown chunks without what they lay in, and has cuts counted
	callers     [2]callers          // of attempts, and of spans
	sample      format.Sample       // of the chunks of a file so far
	sampled     *format.File        // that it is of
}

// NewDecoder returns a decoder of batches with the given optional columns; those
// of spans have Links too. With keepRejects a Tally lists all rejects, else the
// first of each reason.
func NewDecoder(c Config, mem memory.Allocator, columns spans.Columns, keepRejects bool) *Decoder {
	d := &Decoder{
		fields:      c.Fields,
		attempts:    spans.NewBuilder(mem, columns),
		spans:       spans.NewBuilder(mem, columns|spans.Links),
		decoders:    map[decoderKey]format.Decoder{},
		keepRejects: keepRejects,
	}
	d.attempts.Use(c.Naming)
	d.spans.Use(c.Naming)
	return d
}

// Release frees what the decoder holds; rows that wait are lost.
func (d *Decoder) Release() {
	d.attempts.Release()
	d.spans.Release()
}

// Decode decodes one chunk. Each full batch goes to yield, which then owns it;
// rows may wait for the next chunk or for Flush.
func (d *Decoder) Decode(c *format.Chunk, yield func(*spans.Batch)) *format.Tally {
	t := &format.Tally{Chunk: c, KeepAll: d.keepRejects, Usual: d.usual}
	if c.Bad != nil {
		t.Reject(c.Line, c.Offset, c.Bad)
		return t
	}
	if plan, ok := c.File.Within.(*wrap.Plan); ok {
		c = d.unwrapper.Unwrap(c, plan)
		c.Note = c.File.Kind().LineNote
	}
	if d.inspects != nil {
		t.Cuts = map[string]int64{}
		d.inspects(c)
	}
	fields := cmp.Or(c.File.Settings, d.fields)
	key := decoderKey{c.File.Kind(), fields}
	dec := d.decoders[key]
	if dec == nil {
		dec = key.of.NewDecoder(fields, d.attempts.Columns())
		d.decoders[key] = dec
	}
	if d.sampled != c.File {
		d.sample, d.sampled = format.Sample{}, c.File
		if c.File.Index >= mostCompared {
			d.sample.LeaveOut()
		}
	}
	t.Sample.Under(&d.sample)
	dec.Decode(c, t, &output{
		Decoder: d, file: c.File.Index, tally: t, yield: yield,
		named: d.attempts.Columns()&(spans.Instances|spans.Strata) != 0, asksCallers: d.fields.Callers,
	})
	d.sample.Merge(&t.Sample)
	if len(field.Flagged(d.fields.Fields, t.Flags, false)) > 0 || d.fields.LacksBy(t.Flags) || fields.Selection.Missing(t.Selected) != nil {
		t.Seen = dec.(interface{ SeenKeys() []string }).SeenKeys()
	}
	if t.Fields != nil {
		d.usual = t.Fields
	}
	return t
}

// seenKeys lists the keys that the decoders met.
func (d *Decoder) seenKeys() (keys []string) {
	for _, dec := range d.decoders {
		if s, ok := dec.(interface{ SeenKeys() []string }); ok {
			keys = append(keys, s.SeenKeys()...)
		}
	}
	return keys
}

// decoderKey is what a decoder is for: a format, read by some settings.
type decoderKey struct {
	of *format.Format
	by *format.Settings
}

// output is where the decoder of one chunk puts its rows.
type output struct {
	*Decoder
	file  int32
	tally *format.Tally
	yield func(*spans.Batch)
	// named: attempts have instances or strata. asksCallers: what may name callers is counted.
	named, asksCallers bool
}

func (o *output) Attempt(row *spans.Row, hop, instance, stratum []byte) {
	row.Hop = o.attempts.Hop(o.bounded(hop))
	if o.named {
		row.Instance, row.Stratum = o.instance(o.attempts, instance), o.stratum(o.attempts, stratum)
	}
	if order := format.Order(row); o.tally.Sample.Counts(order) {
		o.tally.Sample.Add(order, row, hop)
	}
	o.append(o.attempts, row)
}

func (o *output) Span(row *spans.Row, name, service, operation []byte, kind spans.Kind) {
	name, service, operation = o.bounded(name), o.bounded(service), o.bounded(operation)
	o.key = format.AppendHopKey(o.key[:0], name, service, operation, kind)
	row.Hop = o.spans.SpanHop(o.key, func() spans.Hop { return o.fields.SpanHop(name, service, operation, kind) })
	o.append(o.spans, row)
}

// instance returns the index of an instance, 0 where there is none or nobody asked.
func (o *output) instance(b *spans.Builder, name []byte) int32 {
	if len(name) == 0 || !b.Columns().Has(spans.Instances) {
		return 0
	}
	return b.Instance(o.bounded(name))
}

func (o *output) Peer(name []byte) int32 { return o.instance(o.spans, name) }

func (o *output) Host(name []byte) int32 {
	if !o.spans.Columns().Has(spans.Hosts) {
		return 0
	}
	return o.spans.Host(o.bounded(name))
}

func (o *output) Stratum(name []byte) int32 { return o.stratum(o.spans, name) }

func (o *output) stratum(b *spans.Builder, name []byte) int32 {
	if !b.Columns().Has(spans.Strata) {
		return 0
	}
	return b.Stratum(o.bounded(name))
}

func (o *output) append(b *spans.Builder, row *spans.Row) {
	row.Trace, row.SpanText = o.bounded(row.Trace), o.bounded(row.SpanText)
	if b.Full(row) {
		o.yield(b.Batch())
	}
	row.File = o.file
	b.Append(row)
	if o.asksCallers && (b == o.attempts || row.Ties.Has(spans.LogLine)) {
		o.callersOf(b).add(row)
	}
}

// Flush hands out the rows that wait.
func (d *Decoder) Flush(yield func(*spans.Batch)) {
	for _, b := range [...]*spans.Builder{d.attempts, d.spans} {
		if batch := b.Batch(); batch != nil {
			yield(batch)
		}
	}
}
