package spans

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// fixed is a column of fixed-width values being filled. It writes straight
// into the buffer that the finished array wraps, so nothing is copied and an
// append is one store.
type fixed[T int32 | int64 | uint8 | uint64 | float64] struct {
	kind   arrow.DataType
	buffer *memory.Buffer
	values []T
	valid  validity
}

func (c *fixed[T]) reserve(mem memory.Allocator, rows int) {
	var zero T
	c.buffer = memory.NewResizableBuffer(mem)
	c.buffer.Resize(rows * len(arrow.GetBytes([]T{zero})))
	c.values = arrow.GetData[T](c.buffer.Bytes())
	c.valid.reset()
}

func (c *fixed[T]) set(row int, v T) { c.values[row] = v }

func (c *fixed[T]) setNull(mem memory.Allocator, row int) {
	c.values[row] = 0
	c.valid.clear(mem, row, len(c.values))
}

// data hands the buffers over; dict is nil but for dictionary columns.
func (c *fixed[T]) data(rows int, dict *array.Data) *array.Data {
	d := array.NewDataWithDictionary(c.kind, rows, []*memory.Buffer{c.valid.buffer, c.buffer}, c.valid.nulls, 0, dict)
	c.release()
	return d
}

func (c *fixed[T]) release() {
	c.valid.release()
	if c.buffer != nil {
		c.buffer.Release()
		c.buffer, c.values = nil, nil
	}
}

// validity is a bitmap that exists only once a null was seen: most
// columns of most batches have none.
type validity struct {
	buffer *memory.Buffer
	nulls  int
}

func (b *validity) reset() { b.nulls = 0 }

func (b *validity) clear(mem memory.Allocator, row, rows int) {
	if b.buffer == nil {
		b.buffer = memory.NewResizableBuffer(mem)
		b.buffer.Resize(int(bitutil.BytesForBits(int64(rows))))
		memory.Set(b.buffer.Bytes(), 0xff)
	}
	bitutil.ClearBit(b.buffer.Bytes(), row)
	b.nulls++
}

// none makes a bitmap in which all rows are null.
func (b *validity) none(mem memory.Allocator, rows int) {
	b.buffer = memory.NewResizableBuffer(mem)
	b.buffer.Resize(int(bitutil.BytesForBits(int64(rows))))
	memory.Set(b.buffer.Bytes(), 0)
}

func (b *validity) release() {
	if b.buffer != nil {
		b.buffer.Release()
		b.buffer = nil
	}
}

// sparse is a column of integers that are null unless they are set: where a
// source never tells them, a row costs nothing.
type sparse[T int32 | int64] struct {
	fixed[T]
	given int // values set
}

func (c *sparse[T]) reserve(mem memory.Allocator, rows int) {
	c.fixed.reserve(mem, rows)
	clear(c.values)
	c.valid.none(mem, rows)
	c.given = 0
}

func (c *sparse[T]) set(row int, v T) {
	c.values[row] = v
	bitutil.SetBit(c.valid.buffer.Bytes(), row)
	c.given++
}

func (c *sparse[T]) data(rows int, dict *array.Data) *array.Data {
	c.valid.nulls = rows - c.given
	return c.fixed.data(rows, dict)
}

// flags is a column of booleans being filled.
type flags struct{ buffer *memory.Buffer }

func (c *flags) reserve(mem memory.Allocator, rows int) {
	c.buffer = memory.NewResizableBuffer(mem)
	c.buffer.Resize(int(bitutil.BytesForBits(int64(rows))))
	memory.Set(c.buffer.Bytes(), 0)
}

func (c *flags) set(row int, v bool) {
	if v {
		bitutil.SetBit(c.buffer.Bytes(), row)
	}
}

func (c *flags) data(rows int) *array.Data {
	d := array.NewData(arrow.FixedWidthTypes.Boolean, rows, []*memory.Buffer{nil, c.buffer}, nil, 0, 0)
	c.release()
	return d
}

func (c *flags) release() {
	if c.buffer != nil {
		c.buffer.Release()
		c.buffer = nil
	}
}

// blobs is a column of byte strings being filled; an empty one is null.
type blobs struct {
	offsets fixed[int32]
	bytes   *memory.Buffer
	used    int
	given   int // rows that are not null
	valid   validity
}

func (c *blobs) reserve(mem memory.Allocator, rows int) {
	c.offsets.reserve(mem, rows+1)
	c.offsets.values[0] = 0
	c.bytes = memory.NewResizableBuffer(mem)
	c.used, c.given = 0, 0
	c.valid.none(mem, rows)
}

// fits reports whether another n bytes keep the offsets within int32.
func (c *blobs) fits(n int) bool { return c.used+n <= maxBlobBytes }

const maxBlobBytes = 64 << 20

func (c *blobs) set(row int, v []byte) {
	if len(v) > 0 {
		c.grow(len(v))
		c.used += copy(c.bytes.Bytes()[c.used:], v)
		bitutil.SetBit(c.valid.buffer.Bytes(), row)
		c.given++
	}
	c.offsets.values[row+1] = int32(c.used)
}

func (c *blobs) grow(n int) {
	if c.used+n > c.bytes.Len() {
		c.bytes.Resize(max(1<<bits.Len(uint(c.used+n-1)), 4096)) // few lengths, so that buffers can be used again
	}
}

func (c *blobs) data(rows int) *array.Data {
	c.valid.nulls = rows - c.given
	d := array.NewData(arrow.BinaryTypes.Binary, rows, []*memory.Buffer{c.valid.buffer, c.offsets.buffer, c.bytes}, nil, c.valid.nulls, 0)
	c.release()
	return d
}

func (c *blobs) release() {
	c.offsets.release()
	c.valid.release()
	if c.bytes != nil {
		c.bytes.Release()
		c.bytes = nil
	}
}
