package spans

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// column is what all columns being filled have in common. Each writes straight
// into the buffers that the finished array wraps, so nothing is copied.
type column interface {
	reserve(mem memory.Allocator, rows int)
	// data hands the buffers over to an array of that type, and resets the column.
	data(kind arrow.DataType, rows int) *array.Data
	release()
}

// newBuffer returns a buffer whose bytes are not cleared.
func newBuffer(mem memory.Allocator, size int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(size)
	return b
}

// drop releases a buffer, if there is one.
func drop(b **memory.Buffer) {
	if *b != nil {
		(*b).Release()
		*b = nil
	}
}

// fixed is a column of fixed-width values: an append is one store.
type fixed[T int32 | int64 | uint8 | uint64 | float64] struct {
	buffer *memory.Buffer
	values []T
	names  *names // that the values are indices into, nil where they are not
}

func (c *fixed[T]) reserve(mem memory.Allocator, rows int) {
	var zero T
	c.buffer = newBuffer(mem, rows*len(arrow.GetBytes([]T{zero})))
	c.values = arrow.GetData[T](c.buffer.Bytes())
}

func (c *fixed[T]) set(row int, v T) { c.values[row] = v }

// first returns the first values, nil where the column is not being filled.
func (c *fixed[T]) first(rows int) []T { return c.values[:min(rows, len(c.values))] }

func (c *fixed[T]) data(kind arrow.DataType, rows int) *array.Data {
	defer c.release()
	return c.masked(kind, rows, nil, 0)
}

// masked is data with a bitmap of what is not null.
func (c *fixed[T]) masked(kind arrow.DataType, rows int, valid *memory.Buffer, nulls int) *array.Data {
	var dictionary *array.Data
	if c.names != nil {
		dictionary = c.names.data()
	}
	return array.NewDataWithDictionary(kind, rows, []*memory.Buffer{valid, c.buffer}, nulls, 0, dictionary)
}

func (c *fixed[T]) release() {
	drop(&c.buffer)
	c.values = nil
}

// bitmap has a bit for each row, not set at first.
type bitmap struct {
	buffer *memory.Buffer
	bytes  []byte
	given  int // rows whose bit is set
}

func (m *bitmap) reserve(mem memory.Allocator, rows int) {
	m.buffer = newBuffer(mem, int(bitutil.BytesForBits(int64(rows))))
	m.bytes, m.given = m.buffer.Bytes(), 0
	clear(m.bytes)
}

func (m *bitmap) set(row int) {
	m.bytes[uint(row)/8] |= 1 << (uint(row) % 8)
	m.given++
}

// valid returns the bitmap of the rows that are not null, nil where all are not.
func (m *bitmap) valid(rows int) *memory.Buffer {
	if m.given == rows {
		return nil
	}
	return m.buffer
}

// known is valid for those who read the rows.
func (m *bitmap) known(rows int) known {
	if m.given == rows {
		return nil
	}
	return m.bytes
}

func (m *bitmap) release() {
	drop(&m.buffer)
	m.bytes = nil
}

// known is a bitmap of the rows that have a value, nil where all have.
type known []byte

func (k known) has(row int) bool { return k == nil || bitutil.BitIsSet(k, row) }

// nullable is a column of fixed-width values, 0 where there is none.
type nullable[T int32 | int64] struct {
	fixed[T]
	bitmap bitmap
}

func (c *nullable[T]) reserve(mem memory.Allocator, rows int) {
	c.fixed.reserve(mem, rows)
	c.bitmap.reserve(mem, rows)
}

func (c *nullable[T]) set(row int, v T, given bool) {
	if !given {
		c.values[row] = 0
		return
	}
	c.values[row] = v
	c.bitmap.set(row)
}

func (c *nullable[T]) data(kind arrow.DataType, rows int) *array.Data {
	defer c.release()
	return c.masked(kind, rows, c.bitmap.valid(rows), rows-c.bitmap.given)
}

func (c *nullable[T]) release() {
	c.fixed.release()
	c.bitmap.release()
}

// flags is a column of booleans.
type flags struct{ bitmap }

func (c *flags) set(row int, v bool) {
	if v {
		c.bitmap.set(row)
	}
}

func (c *flags) data(kind arrow.DataType, rows int) *array.Data {
	defer c.release()
	return array.NewData(kind, rows, []*memory.Buffer{nil, c.buffer}, nil, 0, 0)
}

// blobs is a column of byte strings; an empty one is null.
type blobs struct {
	offsets fixed[int32]
	bytes   *memory.Buffer
	used    int
	bitmap  bitmap
}

func (c *blobs) reserve(mem memory.Allocator, rows int) {
	c.offsets.reserve(mem, rows+1)
	c.offsets.values[0] = 0
	c.bytes, c.used = memory.NewResizableBuffer(mem), 0
	c.bitmap.reserve(mem, rows)
}

// fits reports whether another n bytes keep the offsets within int32.
func (c *blobs) fits(n int) bool { return c.used+n <= maxBlobBytes }

// maxBlobBytes is how much text a batch has: ids of a usual length never fill it.
const maxBlobBytes = 8 << 20

func (c *blobs) set(row int, v []byte) {
	if len(v) > 0 {
		c.grow(len(v))
		c.used += copy(c.bytes.Bytes()[c.used:], v)
		c.bitmap.set(row)
	}
	c.offsets.values[row+1] = int32(c.used)
}

func (c *blobs) grow(n int) {
	if c.used+n > c.bytes.Len() {
		c.bytes.Resize(max(1<<bits.Len(uint(c.used+n-1)), 4096)) // few lengths, so that buffers can be used again
	}
}

// first returns the first strings; without any where the column is not being filled.
func (c *blobs) first(rows int) texts {
	if c.bytes == nil {
		return texts{}
	}
	return texts{c.offsets.first(rows + 1), c.bytes.Bytes(), c.bitmap.given}
}

func (c *blobs) data(kind arrow.DataType, rows int) *array.Data {
	defer c.release()
	return array.NewData(kind, rows, []*memory.Buffer{c.bitmap.valid(rows), c.offsets.buffer, c.bytes}, nil, rows-c.bitmap.given, 0)
}

func (c *blobs) release() {
	c.offsets.release()
	c.bitmap.release()
	drop(&c.bytes)
}

// texts are the strings of a column that was filled.
type texts struct {
	offsets []int32
	bytes   []byte
	given   int // that are not empty
}

// at returns a string, nil for an empty one and where there are none at all.
func (t *texts) at(row int) []byte {
	if t.given == 0 || t.offsets[row] == t.offsets[row+1] {
		return nil
	}
	return t.bytes[t.offsets[row]:t.offsets[row+1]:t.offsets[row+1]]
}
