package spans

import "github.com/apache/arrow/go/v15/arrow"

// Columns selects the optional columns of a batch. Decoding one that nobody
// reads costs time on every row, so a command asks for what it needs. Hop,
// duration, outcome, cut_by, failure, retry, marked, timeout and trace are
// always there; trace and start are null where the decoder left them out.
type Columns uint16

const (
	// Traces asks for the trace id of every row, not only of those that were
	// cut or failed.
	Traces Columns = 1 << iota
	// Starts asks for the start of every row, not only of those that were cut
	// or failed.
	Starts
	// Positions adds file, line and offset.
	Positions
	// Strata adds the value of the key that --by names.
	Strata
	// Attempts adds the attempt's number as logged.
	Attempts
	// Links adds what makes spans a trace: ids, parent, kind of tie, host, shift,
	// digest and weight. The trace id is then a number; the trace column holds
	// only the text of ids that are none.
	Links
	// Resolutions adds the power of ten, in nanoseconds, of the last digit
	// that the source wrote.
	Resolutions
	// Instances adds the instance that an attempt went to, where the source names
	// one: the peer of a call, the pod or host of a line. The host of Links says
	// whose clock a span was measured by; this does not.
	Instances
)

// Has reports whether all of want are selected.
func (c Columns) Has(want Columns) bool { return c&want == want }

var (
	dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	instantType    = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
)

// linkFields are the columns of Links. service, operation and kind share the
// hop's indices.
var linkFields = []arrow.Field{
	{Name: "service", Type: dictionaryType},
	{Name: "operation", Type: dictionaryType},
	{Name: "kind", Type: dictionaryType},
	{Name: "trace_hi", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "trace_lo", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "span", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "parent", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "digest", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "shift_ns", Type: arrow.PrimitiveTypes.Int64},
	{Name: "weight", Type: arrow.PrimitiveTypes.Float64},
	{Name: "host", Type: dictionaryType},
	{Name: "ties", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "span_text", Type: arrow.BinaryTypes.Binary, Nullable: true},
}

// Schema returns the Arrow schema of batches with the given optional columns.
// Durations and timeouts are int64 nanoseconds, start is a UTC timestamp in
// nanoseconds, outcome, cut_by and failure are the numbers of this package's
// constants.
func Schema(c Columns) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "hop", Type: dictionaryType},
		{Name: "duration_ns", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "timeout_ns", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "outcome", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "cut_by", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "failure", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "retry", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "marked", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "trace", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "start", Type: instantType, Nullable: true},
	}
	if c.Has(Positions) {
		fields = append(fields,
			arrow.Field{Name: "file", Type: arrow.PrimitiveTypes.Int32},
			arrow.Field{Name: "line", Type: arrow.PrimitiveTypes.Int64},
			arrow.Field{Name: "offset", Type: arrow.PrimitiveTypes.Int64})
	}
	if c.Has(Strata) {
		fields = append(fields, arrow.Field{Name: "stratum", Type: dictionaryType})
	}
	if c.Has(Attempts) {
		fields = append(fields, arrow.Field{Name: "attempt", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	}
	if c.Has(Links) {
		fields = append(fields, linkFields...)
	}
	if c.Has(Resolutions) {
		fields = append(fields, arrow.Field{Name: "resolution", Type: arrow.PrimitiveTypes.Uint8})
	}
	if c.Has(Instances) {
		fields = append(fields, arrow.Field{Name: "instance", Type: dictionaryType, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}
