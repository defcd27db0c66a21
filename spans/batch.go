package spans

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Batch is up to BatchRows attempts, column by column. The slices are views of
// Arrow memory: read them only until Release. A column that was not asked for
// is nil.
type Batch struct {
	Hop      []int32 // index into Hops
	Duration []int64 // ns; 0 where HasDuration is false
	Timeout  []int64 // ns; 0 where unknown
	Outcome  []uint8 // Outcome
	CutBy    []uint8 // CutBy
	Failure  []uint8 // Failure
	Stratum  []int32 // index into Strata

	File         []int32
	Line, Offset []int64
	Resolution   []uint8
	Instance     []int32 // index into Instances, 0 for none

	// Of Links.
	TraceHi, TraceLo, Span, Parent, Digest []uint64
	Shift                                  []int64 // ns
	Weight                                 []float64
	Host                                   []int32 // index into Hosts
	Ties                                   []uint8 // Ties

	// Hops, Strata, Hosts and Instances are those seen so far. Lineage tells builders
	// apart: while it stays the same, an index keeps its meaning.
	Hops          []Hop
	Strata, Hosts []string
	Instances     []string
	Lineage       *Builder

	record        arrow.Record
	retry, marked *array.Boolean
	trace         *array.Binary
	duration      *array.Int64
	timeout       *array.Int64
	start         *array.Timestamp
	starts        []int64 // of start
	attempt       *array.Int64
	spanText      *array.Binary
}

func newBatch(rec arrow.Record, b *Builder) *Batch {
	t := &Batch{record: rec, Hops: b.hops.list, Strata: b.strata.names, Hosts: b.hosts.names, Instances: b.instances.names, Lineage: b}
	for i, f := range rec.Schema().Fields() {
		t.bind(f.Name, rec.Column(i))
	}
	return t
}

func (t *Batch) bind(name string, a arrow.Array) {
	switch name {
	case "hop":
		t.Hop = indices(a)
	case "duration_ns":
		t.duration = a.(*array.Int64)
		t.Duration = t.duration.Int64Values()
	case "timeout_ns":
		t.timeout = a.(*array.Int64)
		t.Timeout = t.timeout.Int64Values()
	case "outcome":
		t.Outcome = a.(*array.Uint8).Uint8Values()
	case "cut_by":
		t.CutBy = a.(*array.Uint8).Uint8Values()
	case "failure":
		t.Failure = a.(*array.Uint8).Uint8Values()
	case "retry":
		t.retry = a.(*array.Boolean)
	case "marked":
		t.marked = a.(*array.Boolean)
	case "trace":
		t.trace = a.(*array.Binary)
	case "start":
		t.start = a.(*array.Timestamp)
		t.starts = arrow.GetData[int64](a.Data().Buffers()[1].Bytes())
	default:
		t.bindOptional(name, a)
	}
}

func (t *Batch) bindOptional(name string, a arrow.Array) {
	switch name {
	case "file":
		t.File = a.(*array.Int32).Int32Values()
	case "line":
		t.Line = a.(*array.Int64).Int64Values()
	case "offset":
		t.Offset = a.(*array.Int64).Int64Values()
	case "stratum":
		t.Stratum = indices(a)
	case "attempt":
		t.attempt = a.(*array.Int64)
	case "resolution":
		t.Resolution = a.(*array.Uint8).Uint8Values()
	case "instance":
		t.Instance = indices(a)
	default:
		t.bindLink(name, a)
	}
}

func (t *Batch) bindLink(name string, a arrow.Array) {
	switch name {
	case "trace_hi":
		t.TraceHi = a.(*array.Uint64).Uint64Values()
	case "trace_lo":
		t.TraceLo = a.(*array.Uint64).Uint64Values()
	case "span":
		t.Span = a.(*array.Uint64).Uint64Values()
	case "parent":
		t.Parent = a.(*array.Uint64).Uint64Values()
	case "digest":
		t.Digest = a.(*array.Uint64).Uint64Values()
	case "shift_ns":
		t.Shift = a.(*array.Int64).Int64Values()
	case "weight":
		t.Weight = a.(*array.Float64).Float64Values()
	case "host":
		t.Host = indices(a)
	case "ties":
		t.Ties = a.(*array.Uint8).Uint8Values()
	case "span_text":
		t.spanText = a.(*array.Binary)
	}
}

func indices(a arrow.Array) []int32 {
	return a.(*array.Dictionary).Indices().(*array.Int32).Int32Values()
}

// Len returns the number of rows.
func (t *Batch) Len() int { return int(t.record.NumRows()) }

// Record returns the Arrow record; it lives as long as the batch.
func (t *Batch) Record() arrow.Record { return t.record }

// Retry reports whether row i is a retry.
func (t *Batch) Retry(i int) bool { return t.retry.Value(i) }

// Marked reports whether the source said how row i ended.
func (t *Batch) Marked(i int) bool { return t.marked.Value(i) }

// HasDuration reports whether row i has a duration.
func (t *Batch) HasDuration(i int) bool { return t.duration.IsValid(i) }

// HasTimeout reports whether the timeout of row i is known.
func (t *Batch) HasTimeout(i int) bool { return t.timeout.IsValid(i) }

// AnyStart reports whether the start of any row is known.
func (t *Batch) AnyStart() bool { return t.start.NullN() < t.start.Len() }

// AllStarts returns the starts of all rows in ns since the Unix epoch, nil where
// some are not known.
func (t *Batch) AllStarts() []int64 {
	if t.start.NullN() > 0 {
		return nil
	}
	return t.starts[:t.Len()]
}

// Start returns the start of row i in ns since the Unix epoch, and whether it
// is known.
func (t *Batch) Start(i int) (int64, bool) {
	return int64(t.start.Value(i)), t.start.IsValid(i)
}

// Trace returns the trace id of row i, nil where there is none.
func (t *Batch) Trace(i int) []byte {
	if t.trace.IsNull(i) {
		return nil
	}
	return t.trace.Value(i)
}

// SpanText returns the text of a span id that is no number, else nil.
func (t *Batch) SpanText(i int) []byte {
	if t.spanText == nil || t.spanText.IsNull(i) {
		return nil
	}
	return t.spanText.Value(i)
}

// Attempt returns the attempt number of row i as logged, and whether there is
// one.
func (t *Batch) Attempt(i int) (int64, bool) {
	if t.attempt == nil || t.attempt.IsNull(i) {
		return 0, false
	}
	return t.attempt.Value(i), true
}

// Release gives the batch's memory back; call it exactly once.
func (t *Batch) Release() { t.record.Release() }

// Linked reports whether the rows are spans of traces.
func (t *Batch) Linked() bool { return t.Span != nil }
