package spans

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// lane is a field of a record that becomes a column of spill files.
type lane[T int32 | int64 | uint8 | uint64 | float64] struct {
	name string
	of   func(*record) *T
}

// The lanes, by type. A new field of Span needs a line here.
var (
	wordLanes = []lane[uint64]{
		{"trace_hi", func(r *record) *uint64 { return &r.trace.Hi }},
		{"trace_lo", func(r *record) *uint64 { return &r.trace.Lo }},
		{"span", func(r *record) *uint64 { return (*uint64)(&r.span.ID) }},
		{"parent", func(r *record) *uint64 { return (*uint64)(&r.span.Parent) }},
		{"digest", func(r *record) *uint64 { return &r.span.Digest }},
	}
	timeLanes = []lane[int64]{
		{"start", func(r *record) *int64 { return &r.span.Start }},
		{"duration", func(r *record) *int64 { return &r.span.Duration }},
		{"timeout", func(r *record) *int64 { return &r.span.Timeout }},
		{"shift", func(r *record) *int64 { return &r.span.Shift }},
		{"line", func(r *record) *int64 { return &r.span.Line }},
		{"offset", func(r *record) *int64 { return &r.span.Offset }},
	}
	weightLanes = []lane[float64]{
		{"weight", func(r *record) *float64 { return &r.span.Weight }},
	}
	indexLanes = []lane[int32]{
		{"hop", func(r *record) *int32 { return &r.span.Hop }},
		{"host", func(r *record) *int32 { return &r.span.Host }},
		{"stratum", func(r *record) *int32 { return &r.span.Stratum }},
		{"file", func(r *record) *int32 { return &r.span.File }},
	}
	byteLanes = []lane[uint8]{
		{"outcome", func(r *record) *uint8 { return (*uint8)(&r.span.Outcome) }},
		{"cut_by", func(r *record) *uint8 { return (*uint8)(&r.span.CutBy) }},
		{"failure", func(r *record) *uint8 { return (*uint8)(&r.span.Failure) }},
		{"ties", func(r *record) *uint8 { return (*uint8)(&r.span.Ties) }},
		{"resolution", func(r *record) *uint8 { return &r.span.Resolution }},
		{"flags", func(r *record) *uint8 { return (*uint8)(&r.span.Flags) }},
	}
)

// spillSchema is the schema of spill files: the lanes, then the two texts.
func spillSchema() *arrow.Schema {
	fields := laneFields(nil, wordLanes, arrow.PrimitiveTypes.Uint64)
	fields = laneFields(fields, timeLanes, arrow.PrimitiveTypes.Int64)
	fields = laneFields(fields, weightLanes, arrow.PrimitiveTypes.Float64)
	fields = laneFields(fields, indexLanes, arrow.PrimitiveTypes.Int32)
	fields = laneFields(fields, byteLanes, arrow.PrimitiveTypes.Uint8)
	return arrow.NewSchema(append(fields,
		arrow.Field{Name: "trace_text", Type: arrow.BinaryTypes.Binary, Nullable: true},
		arrow.Field{Name: "span_text", Type: arrow.BinaryTypes.Binary, Nullable: true}), nil)
}

func laneFields[T int32 | int64 | uint8 | uint64 | float64](fields []arrow.Field, lanes []lane[T], kind arrow.DataType) []arrow.Field {
	for _, l := range lanes {
		fields = append(fields, arrow.Field{Name: l.name, Type: kind})
	}
	return fields
}

// toColumns turns rows of a pile into a record.
func (f *spillFile) toColumns(p *pile, from, to int) arrow.Record {
	f.rows = slices.Grow(f.rows[:0], to-from)
	for i := from; i < to; i++ {
		f.rows = append(f.rows, *p.row(i))
	}
	columns := fill(f.mem, nil, wordLanes, arrow.PrimitiveTypes.Uint64, f.rows)
	columns = fill(f.mem, columns, timeLanes, arrow.PrimitiveTypes.Int64, f.rows)
	columns = fill(f.mem, columns, weightLanes, arrow.PrimitiveTypes.Float64, f.rows)
	columns = fill(f.mem, columns, indexLanes, arrow.PrimitiveTypes.Int32, f.rows)
	columns = fill(f.mem, columns, byteLanes, arrow.PrimitiveTypes.Uint8, f.rows)
	columns = append(columns, fillTexts(f.mem, p, from, to)...)
	rec := array.NewRecord(spillSchema(), columns, int64(to-from))
	for _, c := range columns {
		c.Release()
	}
	return rec
}

func fill[T int32 | int64 | uint8 | uint64 | float64](mem memory.Allocator, columns []arrow.Array, lanes []lane[T], kind arrow.DataType, rows []record) []arrow.Array {
	for _, l := range lanes {
		c := fixed[T]{kind: kind}
		c.reserve(mem, len(rows))
		for i := range rows {
			c.values[i] = *l.of(&rows[i])
		}
		columns = append(columns, arrayOf(c.data(len(rows), nil)))
	}
	return columns
}

func fillTexts(mem memory.Allocator, p *pile, from, to int) []arrow.Array {
	var traceTexts, spanTexts blobs
	traceTexts.reserve(mem, to-from)
	spanTexts.reserve(mem, to-from)
	for i := from; i < to; i++ {
		traceText, spanText := p.captionsOf(i)
		traceTexts.set(mem, i-from, traceText)
		spanTexts.set(mem, i-from, spanText)
	}
	return []arrow.Array{arrayOf(traceTexts.data(to - from)), arrayOf(spanTexts.data(to - from))}
}

func arrayOf(d *array.Data) arrow.Array {
	defer d.Release()
	return array.MakeFromData(d)
}

// fromColumns is toColumns undone but for the texts; it reuses rows.
func fromColumns(rec arrow.Record, rows []record) []record {
	n := int(rec.NumRows())
	rows = slices.Grow(rows[:0], n)[:n]
	columns := rec.Columns()
	columns = drain(columns, wordLanes, rows)
	columns = drain(columns, timeLanes, rows)
	columns = drain(columns, weightLanes, rows)
	columns = drain(columns, indexLanes, rows)
	drain(columns, byteLanes, rows)
	return rows
}

func drain[T int32 | int64 | uint8 | uint64 | float64](columns []arrow.Array, lanes []lane[T], rows []record) []arrow.Array {
	if len(rows) == 0 {
		return columns
	}
	for i, l := range lanes {
		values := arrow.GetData[T](columns[i].Data().Buffers()[1].Bytes())
		for k := range rows {
			*l.of(&rows[k]) = values[k]
		}
	}
	return columns[len(lanes):]
}
