package spans

import "github.com/apache/arrow/go/v15/arrow"

// Columns selects the optional columns of a batch. Decoding and keeping one that
// nobody reads costs time on every row, so each analysis says what it reads, and a
// run fills what all of them together ask for. Columns without a bit are always
// there; trace and start are null where the decoder left them out.
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
	// Links adds what makes spans a trace: ids, parent, kind of tie, digest and
	// weight. The trace id is then a number; the trace column holds only the text
	// of ids that are none.
	Links
	// Hosts adds to Links whose clock a span was measured by.
	Hosts
	// Texts adds to Links the text of span ids that are no numbers, and keeps that
	// of such trace ids: for the names of spans and traces.
	Texts
	// Resolutions adds the power of ten, in nanoseconds, of the last digit
	// that the source wrote.
	Resolutions
	// Instances adds the instance that an attempt went to, where the source names
	// one: the peer of a call, the pod or host of a line.
	Instances
)

// Has reports whether all of want are selected.
func (c Columns) Has(want Columns) bool { return c&want == want }

var (
	dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	instantType    = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
)

// fields are the columns in the order of the record, as in Builder.inOrder, each
// with what asks for it.
var fields = [...]struct {
	name     string
	kind     arrow.DataType
	nullable bool
	need     Columns
}{
	{"hop", dictionaryType, false, 0},
	{"duration_ns", arrow.PrimitiveTypes.Int64, true, 0},
	{"timeout_ns", arrow.PrimitiveTypes.Int64, true, 0},
	{"outcome", arrow.PrimitiveTypes.Uint8, false, 0},
	{"cut_by", arrow.PrimitiveTypes.Uint8, false, 0},
	{"failure", arrow.PrimitiveTypes.Uint8, false, 0},
	{"retry", arrow.FixedWidthTypes.Boolean, false, 0},
	{"marked", arrow.FixedWidthTypes.Boolean, false, 0},
	{"speaks_of_timeout", arrow.FixedWidthTypes.Boolean, false, 0},
	{"tries", arrow.PrimitiveTypes.Uint8, false, 0},
	{"trace", arrow.BinaryTypes.Binary, true, 0},
	{"start", instantType, true, 0},
	{"file", arrow.PrimitiveTypes.Int32, false, Positions},
	{"line", arrow.PrimitiveTypes.Int64, false, Positions},
	{"offset", arrow.PrimitiveTypes.Int64, false, Positions},
	{"stratum", dictionaryType, false, Strata},
	{"trace_hi", arrow.PrimitiveTypes.Uint64, false, Links},
	{"trace_lo", arrow.PrimitiveTypes.Uint64, false, Links},
	{"span", arrow.PrimitiveTypes.Uint64, false, Links},
	{"parent", arrow.PrimitiveTypes.Uint64, false, Links},
	{"digest", arrow.PrimitiveTypes.Uint64, false, Links},
	{"weight", arrow.PrimitiveTypes.Float64, false, Links},
	{"ties", arrow.PrimitiveTypes.Uint8, false, Links},
	{"host", dictionaryType, false, Links | Hosts},
	{"span_text", arrow.BinaryTypes.Binary, true, Links | Texts},
	{"resolution", arrow.PrimitiveTypes.Uint8, false, Resolutions},
	{"instance", dictionaryType, true, Instances},
}

// Schema returns the Arrow schema of batches with the given optional columns.
// Durations and timeouts are int64 nanoseconds, start is a UTC timestamp in
// nanoseconds, outcome, cut_by and failure are the numbers of this package's
// constants. A hop is its name there.
func Schema(c Columns) *arrow.Schema {
	var list []arrow.Field
	for _, f := range fields {
		if c.Has(f.need) {
			list = append(list, arrow.Field{Name: f.name, Type: f.kind, Nullable: f.nullable})
		}
	}
	return arrow.NewSchema(list, nil)
}
