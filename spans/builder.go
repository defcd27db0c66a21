package spans

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// BatchRows is the most rows that a Batch holds.
const BatchRows = 16 << 10

// Row is one attempt on its way into a Builder. Durations, timeouts and starts
// are nanoseconds; starts count from the Unix epoch.
type Row struct {
	Hop         int32 // from Builder.Hop
	Stratum     int32 // from Builder.Stratum
	Instance    int32 // from Builder.Instance; 0: none
	Outcome     Outcome
	CutBy       CutBy
	Failure     Failure
	Resolution  uint8 // power of ten, in ns, of the duration's last digit as written
	Retry       bool
	Marked      bool // the source said how the attempt ended
	HasDuration bool
	HasTimeout  bool
	HasStart    bool
	HasAttempt  bool
	File        int32 // index of the input file
	Duration    int64
	Timeout     int64
	Start       int64
	Attempt     int64
	Line        int64  // 1-based
	Offset      int64  // of the record's first byte in the decompressed input
	Trace       []byte // with Links only for ids that are no number
	Link
}

// Link is what makes spans a trace.
type Link struct {
	TraceID  TraceID
	Span     SpanID // 0: none
	Parent   SpanID // 0: a root
	Ties     Ties
	Host     int32   // from Builder.Host
	Digest   uint64  // of the whole content, whatever the order of tags
	Shift    int64   // ns by which an exporter had moved the span; Start is moved back
	Weight   float64 // of the trace, 0 where not known
	SpanText []byte  // only for ids that are no number
}

// Builder fills batches. Not safe for concurrent use: each worker has its own.
type Builder struct {
	mem     memory.Allocator
	pool    *recycler // of columns
	columns Columns
	schema  *arrow.Schema
	hops    *hopTable
	strata  *Dictionary
	hosts   *Dictionary
	// instances has the name "", none, at 0.
	instances *Dictionary
	rows      int
	ready     bool // buffers are reserved

	hop, file, stratum      fixed[int32]
	duration, line, offset  fixed[int64]
	timeout, start, attempt sparse[int64]
	instance                sparse[int32]
	outcome, cutBy, failure fixed[uint8]
	resolution              fixed[uint8]
	retry, marked           flags
	trace                   blobs

	service, operation, kind fixed[int32]
	host                     fixed[int32]
	traceHi, traceLo         fixed[uint64]
	span, parent, digest     fixed[uint64]
	shift                    fixed[int64]
	weight                   fixed[float64]
	ties                     fixed[uint8]
	spanText                 blobs
}

// NewBuilder returns a builder of batches with the given optional columns.
func NewBuilder(mem memory.Allocator, c Columns) *Builder {
	b := &Builder{mem: mem, pool: newRecycler(mem), columns: c, schema: Schema(c), hops: newHopTable(), strata: newDictionary(), hosts: newDictionary(), instances: newDictionary()}
	b.instances.Index(nil)
	b.file.kind = arrow.PrimitiveTypes.Int32
	b.start.kind = instantType
	b.weight.kind = arrow.PrimitiveTypes.Float64
	for _, c := range []*fixed[int32]{&b.hop, &b.stratum, &b.service, &b.operation, &b.kind, &b.host, &b.instance.fixed} {
		c.kind = dictionaryType
	}
	for _, c := range []*fixed[int64]{&b.duration, &b.timeout.fixed, &b.line, &b.offset, &b.attempt.fixed, &b.shift} {
		c.kind = arrow.PrimitiveTypes.Int64
	}
	for _, c := range []*fixed[uint8]{&b.outcome, &b.cutBy, &b.failure, &b.resolution, &b.ties} {
		c.kind = arrow.PrimitiveTypes.Uint8
	}
	for _, c := range []*fixed[uint64]{&b.traceHi, &b.traceLo, &b.span, &b.parent, &b.digest} {
		c.kind = arrow.PrimitiveTypes.Uint64
	}
	return b
}

// Columns returns the optional columns that the builder fills.
func (b *Builder) Columns() Columns { return b.columns }

// Hop returns the index of a hop that has only a name.
func (b *Builder) Hop(name []byte) int32 {
	if i, ok := b.hops.find(name); ok {
		return i
	}
	return b.hops.add(name, Hop{Name: string(name)})
}

// SpanHop returns the index of the hop with that key, which must tell all hops
// of the builder apart; where the key is new, describe gives the hop.
func (b *Builder) SpanHop(key []byte, describe func() Hop) int32 {
	if i, ok := b.hops.find(key); ok {
		return i
	}
	return b.hops.add(key, describe())
}

// Host returns the index of a host, process or instance.
func (b *Builder) Host(name []byte) int32 { return b.hosts.Index(name) }

// MostInstances is how many instances there may be. A field with more names
// something else, such as the request, and would fill the memory.
const MostInstances = 1 << 16

// Instance returns the index of an instance, 0 for the empty name. After one more
// than MostInstances, which shows that they are too many, new ones are 0 too.
func (b *Builder) Instance(name []byte) int32 {
	if len(name) == 0 {
		return 0
	}
	return b.instances.within(name, MostInstances+2)
}

// Stratum returns the index of a stratum's name.
func (b *Builder) Stratum(name []byte) int32 { return b.strata.Index(name) }

// Rows returns how many rows wait for the next Batch.
func (b *Builder) Rows() int { return b.rows }

// Full reports whether Batch must be called before r can be appended.
func (b *Builder) Full(r *Row) bool {
	return b.rows == BatchRows || b.rows > 0 && !(b.trace.fits(len(r.Trace)) && b.spanText.fits(len(r.SpanText)))
}

// Append adds a row; the builder must not be full.
func (b *Builder) Append(r *Row) {
	if !b.ready {
		b.reserve()
	}
	i := b.rows
	b.hop.set(i, r.Hop)
	if r.HasDuration {
		b.duration.set(i, r.Duration)
	} else {
		b.duration.setNull(b.pool, i)
	}
	if r.HasTimeout {
		b.timeout.set(i, r.Timeout)
	}
	if r.HasStart {
		b.start.set(i, r.Start)
	}
	b.outcome.set(i, uint8(r.Outcome))
	b.cutBy.set(i, uint8(r.CutBy))
	b.failure.set(i, uint8(r.Failure))
	b.retry.set(i, r.Retry)
	b.marked.set(i, r.Marked)
	b.trace.set(i, r.Trace)
	b.appendOptional(r)
	b.rows++
}

func (b *Builder) appendOptional(r *Row) {
	i := b.rows
	if b.columns.Has(Positions) {
		b.file.set(i, r.File)
		b.line.set(i, r.Line)
		b.offset.set(i, r.Offset)
	}
	if b.columns.Has(Strata) {
		b.stratum.set(i, r.Stratum)
	}
	if b.columns.Has(Attempts) && r.HasAttempt {
		b.attempt.set(i, r.Attempt)
	}
	if b.columns.Has(Links) {
		b.appendLink(i, r)
	}
	if b.columns.Has(Resolutions) {
		b.resolution.set(i, r.Resolution)
	}
	if b.columns.Has(Instances) && r.Instance != 0 {
		b.instance.set(i, r.Instance)
	}
}

func (b *Builder) appendLink(i int, r *Row) {
	b.service.set(i, r.Hop)
	b.operation.set(i, r.Hop)
	b.kind.set(i, r.Hop)
	b.traceHi.set(i, r.TraceID.Hi)
	b.traceLo.set(i, r.TraceID.Lo)
	b.span.set(i, uint64(r.Span))
	b.parent.set(i, uint64(r.Parent))
	b.digest.set(i, r.Digest)
	b.shift.set(i, r.Shift)
	b.weight.set(i, r.Weight)
	b.host.set(i, r.Host)
	b.ties.set(i, uint8(r.Ties))
	b.spanText.set(i, r.SpanText)
}

// Batch returns the rows appended since the last call; the caller owns it. It
// returns nil where there are none.
func (b *Builder) Batch() *Batch {
	if b.rows == 0 {
		return nil
	}
	columns := b.finish()
	rec := array.NewRecord(b.schema, columns, int64(b.rows))
	for _, c := range columns {
		c.Release()
	}
	b.rows, b.ready = 0, false
	return newBatch(rec, b)
}

// Release frees what the builder still holds; rows not yet in a Batch are lost.
func (b *Builder) Release() {
	for _, c := range b.all() {
		c.release()
	}
	b.hops.release()
	b.strata.release()
	b.hosts.release()
	b.instances.release()
	b.pool.close()
	b.rows, b.ready = 0, false
}

// column is what all columns being filled have in common.
type column interface {
	reserve(mem memory.Allocator, rows int)
	release()
}

// all lists the columns that this builder fills.
func (b *Builder) all() []column {
	cols := []column{&b.hop, &b.duration, &b.timeout, &b.outcome, &b.cutBy, &b.failure, &b.retry, &b.marked, &b.trace, &b.start}
	if b.columns.Has(Positions) {
		cols = append(cols, &b.file, &b.line, &b.offset)
	}
	if b.columns.Has(Strata) {
		cols = append(cols, &b.stratum)
	}
	if b.columns.Has(Attempts) {
		cols = append(cols, &b.attempt)
	}
	if b.columns.Has(Links) {
		cols = append(cols, &b.service, &b.operation, &b.kind, &b.traceHi, &b.traceLo, &b.span, &b.parent,
			&b.digest, &b.shift, &b.weight, &b.host, &b.ties, &b.spanText)
	}
	if b.columns.Has(Resolutions) {
		cols = append(cols, &b.resolution)
	}
	if b.columns.Has(Instances) {
		cols = append(cols, &b.instance)
	}
	return cols
}

func (b *Builder) reserve() {
	for _, c := range b.all() {
		c.reserve(b.pool, BatchRows)
	}
	b.ready = true
}

// finish turns the filled columns into arrays, in the order of the schema.
func (b *Builder) finish() []arrow.Array {
	arrays := make([]arrow.Array, 0, b.schema.NumFields())
	for _, c := range b.all() {
		arrays = append(arrays, b.array(c))
	}
	return arrays
}

func (b *Builder) array(c column) arrow.Array {
	var d *array.Data
	switch c := c.(type) {
	case *fixed[int32]:
		d = c.data(b.rows, b.dictionaryOf(c))
	case *fixed[int64]:
		d = c.data(b.rows, nil)
	case *fixed[uint8]:
		d = c.data(b.rows, nil)
	case *fixed[uint64]:
		d = c.data(b.rows, nil)
	case *fixed[float64]:
		d = c.data(b.rows, nil)
	case *sparse[int64]:
		d = c.data(b.rows, nil)
	case *sparse[int32]:
		d = c.data(b.rows, b.instances.data(b.mem))
	case *flags:
		d = c.data(b.rows)
	case *blobs:
		d = c.data(b.rows)
	}
	defer d.Release()
	return array.MakeFromData(d)
}

func (b *Builder) dictionaryOf(c *fixed[int32]) *array.Data {
	switch c {
	case &b.hop:
		return b.hops.parts[0].data(b.mem)
	case &b.service:
		return b.hops.parts[1].data(b.mem)
	case &b.operation:
		return b.hops.parts[2].data(b.mem)
	case &b.kind:
		return b.hops.parts[3].data(b.mem)
	case &b.stratum:
		return b.strata.data(b.mem)
	case &b.host:
		return b.hosts.data(b.mem)
	default:
		return nil
	}
}
