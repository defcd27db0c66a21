package spans

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// BatchRows is the most rows that a Batch holds.
const BatchRows = 16 << 10

// CallerKeys is under how many keys a line may name its caller.
const CallerKeys = 3

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
	Marked      bool  // the source said how the attempt ended
	Tries       uint8 // that the row covers, 255 for more; 0 where it does not count them
	Speaks      bool  // a message that does not count speaks of a timeout or a cancellation
	HasDuration bool
	HasTimeout  bool
	HasStart    bool
	File        int32 // index of the input file
	Duration    int64
	Timeout     int64
	Start       int64
	Line        int64  // 1-based
	Offset      int64  // of the record's first byte in the decompressed input
	Trace       []byte // with Links only for ids that are no number
	// Callers is what a line of a hop log has under each key that may name the hop that
	// made the call, nil where nobody asks. It is in no column.
	Callers [CallerKeys][]byte
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
	Weight   float64 // of the trace, 0 where not known
	SpanText []byte  // only for ids that are no number
}

// Builder fills batches. Not safe for concurrent use: each worker has its own.
type Builder struct {
	pool    *recycler // of columns
	columns Columns
	schema  *arrow.Schema
	filled  []column // in the order of the schema
	hops    *hopTable
	naming  *Naming
	strata  *dictionary
	hosts   *dictionary
	// instances has the name "", none, at 0.
	instances *dictionary
	rows      int

	hop                      fixed[int32]
	duration, timeout, start nullable[int64]
	outcome, cutBy, failure  fixed[uint8]
	tries                    fixed[uint8]
	retry, marked, speaks    flags
	trace                    blobs
	file, stratum            fixed[int32]
	line, offset             fixed[int64]
	traceHi, traceLo         fixed[uint64]
	span, parent, digest     fixed[uint64]
	weight                   fixed[float64]
	ties                     fixed[uint8]
	host                     fixed[int32]
	spanText                 blobs
	resolution               fixed[uint8]
	instance                 nullable[int32]
}

// NewBuilder returns a builder of batches with the given optional columns.
func NewBuilder(mem memory.Allocator, c Columns) *Builder {
	b := &Builder{
		pool: newRecycler(mem), columns: c, schema: Schema(c),
		hops: newHopTable(mem), strata: newDictionary(mem), hosts: newDictionary(mem), instances: newDictionary(mem),
	}
	b.instances.at(nil)
	b.hop.names, b.stratum.names, b.host.names, b.instance.names = &b.hops.shown, &b.strata.names, &b.hosts.names, &b.instances.names
	for i, column := range b.inOrder() {
		if c.Has(fields[i].need) {
			b.filled = append(b.filled, column)
		}
	}
	return b
}

// inOrder lists all columns in the order of fields.
func (b *Builder) inOrder() [len(fields)]column {
	return [...]column{
		&b.hop, &b.duration, &b.timeout, &b.outcome, &b.cutBy, &b.failure, &b.retry, &b.marked, &b.speaks, &b.tries, &b.trace, &b.start,
		&b.file, &b.line, &b.offset, &b.stratum,
		&b.traceHi, &b.traceLo, &b.span, &b.parent, &b.digest, &b.weight, &b.ties, &b.host, &b.spanText,
		&b.resolution, &b.instance,
	}
}

// Use sets what hops are called; without it, as they come.
func (b *Builder) Use(n *Naming) { b.naming = n }

// Hops returns the hops by their indices, those seen so far.
func (b *Builder) Hops() []Hop { return b.hops.list }

// Columns returns the optional columns that the builder fills.
func (b *Builder) Columns() Columns { return b.columns }

// Hop returns the index of a hop that has only a name.
func (b *Builder) Hop(name []byte) int32 {
	if i, ok := b.hops.keys.find(name); ok {
		return i
	}
	return b.newHop(name, func() Hop { return Hop{Name: string(name)} })
}

// SpanHop returns the index of the hop with that key, which must distinguish all hops
// of the builder apart; where the key is new, describe gives the hop.
func (b *Builder) SpanHop(key []byte, describe func() Hop) int32 {
	if i, ok := b.hops.keys.find(key); ok {
		return i
	}
	return b.newHop(key, describe)
}

// newHop returns the index of a hop with a key that is new, or was not kept.
func (b *Builder) newHop(key []byte, describe func() Hop) int32 {
	if !b.naming.Folds() {
		h := describe()
		b.naming.meet(h)
		return b.hops.add(key, h)
	}
	if i, ok := b.hops.aliases[string(key)]; ok {
		return i
	}
	i, fresh := b.hops.addFolded(key, describe(), b.naming)
	if fresh {
		b.naming.meet(b.hops.list[i])
	}
	return i
}

// Host returns the index of a host, process or instance.
func (b *Builder) Host(name []byte) int32 { return b.hosts.at(name) }

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
func (b *Builder) Stratum(name []byte) int32 { return b.strata.at(name) }

// Full reports whether Batch must be called before r can be appended.
func (b *Builder) Full(r *Row) bool {
	return b.rows == BatchRows || b.rows > 0 && !(b.trace.fits(len(r.Trace)) && b.spanText.fits(len(r.SpanText)))
}

// Append adds a row; the builder must not be full.
func (b *Builder) Append(r *Row) {
	if b.rows == 0 {
		for _, c := range b.filled {
			c.reserve(b.pool, BatchRows)
		}
	}
	i := b.rows
	b.hop.set(i, r.Hop)
	b.duration.set(i, r.Duration, r.HasDuration)
	b.timeout.set(i, r.Timeout, r.HasTimeout)
	b.start.set(i, r.Start, r.HasStart)
	b.outcome.set(i, uint8(r.Outcome))
	b.cutBy.set(i, uint8(r.CutBy))
	b.failure.set(i, uint8(r.Failure))
	b.retry.set(i, r.Retry)
	b.marked.set(i, r.Marked)
	b.speaks.set(i, r.Speaks)
	b.tries.set(i, r.Tries)
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
	if b.columns.Has(Links) {
		b.appendLink(i, &r.Link)
	}
	if b.columns.Has(Resolutions) {
		b.resolution.set(i, r.Resolution)
	}
	if b.columns.Has(Instances) {
		b.instance.set(i, r.Instance, r.Instance != 0)
	}
}

func (b *Builder) appendLink(i int, l *Link) {
	b.traceHi.set(i, l.TraceID.Hi)
	b.traceLo.set(i, l.TraceID.Lo)
	b.span.set(i, uint64(l.Span))
	b.parent.set(i, uint64(l.Parent))
	b.digest.set(i, l.Digest)
	b.weight.set(i, l.Weight)
	b.ties.set(i, uint8(l.Ties))
	if b.columns.Has(Hosts) {
		b.host.set(i, l.Host)
	}
	if b.columns.Has(Texts) {
		b.spanText.set(i, l.SpanText)
	}
}

// Batch returns the rows appended since the last call; the caller owns it. It
// returns nil where there are none.
func (b *Builder) Batch() *Batch {
	if b.rows == 0 {
		return nil
	}
	batch := b.view(b.rows)
	batch.record = b.record(b.rows)
	b.rows = 0
	return batch
}

// record hands the buffers of all columns over to Arrow.
func (b *Builder) record(rows int) arrow.Record {
	arrays := make([]arrow.Array, len(b.filled))
	for i, c := range b.filled {
		d := c.data(b.schema.Field(i).Type, rows)
		arrays[i] = array.MakeFromData(d)
		d.Release()
		defer arrays[i].Release()
	}
	return array.NewRecord(b.schema, arrays, int64(rows))
}

// Release frees what the builder still holds; rows not yet in a Batch are lost.
func (b *Builder) Release() {
	for _, c := range b.filled {
		c.release()
	}
	for _, n := range [...]*names{&b.hops.shown, &b.strata.names, &b.hosts.names, &b.instances.names} {
		n.release()
	}
	b.pool.close()
	b.rows = 0
}
