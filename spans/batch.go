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

	// Hops and Strata are the names so far. Lineage tells dictionaries apart:
	// while it stays the same, an index keeps its meaning.
	Hops, Strata []string
	Lineage      *Dictionary

	record        arrow.Record
	retry, marked *array.Boolean
	trace         *array.Binary
	duration      *array.Int64
	timeout       *array.Int64
	start         *array.Timestamp
	attempt       *array.Int64
}

func newBatch(rec arrow.Record, b *Builder) *Batch {
	t := &Batch{record: rec, Hops: b.hops.names, Strata: b.strata.names, Lineage: b.hops}
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
