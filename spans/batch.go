package spans

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
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
	Tries    []uint8 // of the call that the row is, 255 for more; 0 where they are not counted
	Stratum  []int32 // index into Strata

	File         []int32
	Line, Offset []int64
	Resolution   []uint8
	Instance     []int32 // index into Instances, 0 for none

	// Of Links.
	TraceHi, TraceLo, Span, Parent, Digest []uint64
	Weight                                 []float64
	Host                                   []int32 // index into Hosts
	Ties                                   []uint8 // Ties

	// Hops, Strata, Hosts and Instances are those seen so far. Lineage tells builders
	// apart: while it stays the same, an index keeps its meaning.
	Hops          []Hop
	Strata, Hosts []string
	Instances     []string
	Lineage       *Builder

	record                            arrow.Record
	retry, marked, speaks             []byte // bitmaps
	spoken                            int    // rows of which speaks is set
	hasDuration, hasTimeout, hasStart known
	start                             []int64
	limited                           int // rows whose timeout is known
	starts                            int // that are known
	trace, spanText                   texts
}

// view returns the rows of a builder as a batch that has no record yet.
func (b *Builder) view(n int) *Batch {
	return &Batch{
		Hop: b.hop.first(n), Duration: b.duration.first(n), Timeout: b.timeout.first(n),
		Outcome: b.outcome.first(n), CutBy: b.cutBy.first(n), Failure: b.failure.first(n), Tries: b.tries.first(n), Stratum: b.stratum.first(n),
		File: b.file.first(n), Line: b.line.first(n), Offset: b.offset.first(n), Resolution: b.resolution.first(n), Instance: b.instance.first(n),
		TraceHi: b.traceHi.first(n), TraceLo: b.traceLo.first(n), Span: b.span.first(n), Parent: b.parent.first(n),
		Digest: b.digest.first(n), Weight: b.weight.first(n), Host: b.host.first(n), Ties: b.ties.first(n),
		Hops: b.hops.list, Strata: b.strata.list, Hosts: b.hosts.list, Instances: b.instances.list, Lineage: b,

		retry: b.retry.bytes, marked: b.marked.bytes, speaks: b.speaks.bytes, spoken: b.speaks.given,
		limited: b.timeout.bitmap.given, start: b.start.first(n), starts: b.start.bitmap.given,
		hasDuration: b.duration.bitmap.known(n), hasTimeout: b.timeout.bitmap.known(n), hasStart: b.start.bitmap.known(n),
		trace: b.trace.first(n), spanText: b.spanText.first(n),
	}
}

// Len returns the number of rows.
func (t *Batch) Len() int { return len(t.Hop) }

// Record returns the Arrow record; it lives as long as the batch.
func (t *Batch) Record() arrow.Record { return t.record }

// Retry reports whether row i is a retry.
func (t *Batch) Retry(i int) bool { return bitutil.BitIsSet(t.retry, i) }

// Marked reports whether the source said how row i ended.
func (t *Batch) Marked(i int) bool { return bitutil.BitIsSet(t.marked, i) }

// Speaks reports whether a message of row i that does not count speaks of a timeout or a
// cancellation.
func (t *Batch) Speaks(i int) bool { return t.spoken > 0 && bitutil.BitIsSet(t.speaks, i) }

// HasDuration reports whether row i has a duration.
func (t *Batch) HasDuration(i int) bool { return t.hasDuration.has(i) }

// HasTimeout reports whether the timeout of row i is known.
func (t *Batch) HasTimeout(i int) bool { return t.hasTimeout.has(i) }

// AnyStart reports whether the start of any row is known.
func (t *Batch) AnyStart() bool { return t.starts > 0 }

// AllStarts returns the starts of all rows in ns since the Unix epoch, nil where
// some are not known.
func (t *Batch) AllStarts() []int64 {
	if t.starts < t.Len() {
		return nil
	}
	return t.start
}

// Start returns the start of row i in ns since the Unix epoch, 0 where it is not
// known, and whether it is.
func (t *Batch) Start(i int) (int64, bool) { return t.start[i], t.hasStart.has(i) }

// TraceID returns the trace id of row i as a number, with Links.
func (t *Batch) TraceID(i int32) TraceID { return TraceID{t.TraceHi[i], t.TraceLo[i]} }

// WithoutTrace is how many rows name no trace.
func (t *Batch) WithoutTrace() int { return t.Len() - t.trace.given }

// Trace returns the trace id of row i, nil where there is none.
func (t *Batch) Trace(i int) []byte { return t.trace.at(i) }

// SpanText returns the text of a span id that is no number, else nil.
func (t *Batch) SpanText(i int) []byte { return t.spanText.at(i) }

// Release gives the batch's memory back; call it exactly once.
func (t *Batch) Release() { t.record.Release() }

// Linked reports whether the rows are spans of traces.
func (t *Batch) Linked() bool { return t.Span != nil }
