package spans

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Dictionary maps names to dense indices. It only grows, so an index stays
// good for as long as the dictionary lives. Not safe for concurrent use.
type Dictionary struct {
	index map[string]int32
	names []string
	// The array of the first `made` names, made again only after growth.
	array arrow.Array
	made  int
}

func newDictionary() *Dictionary { return &Dictionary{index: map[string]int32{}} }

// Index returns the index of name, adding it where it is new. The bytes are
// copied; two names are the same only if all their bytes are.
func (d *Dictionary) Index(name []byte) int32 {
	if i, ok := d.index[string(name)]; ok {
		return i
	}
	s := strings.Clone(string(name))
	i := int32(len(d.names))
	d.index[s] = i
	d.names = append(d.names, s)
	return i
}

// data returns the names as Arrow data, owned by the dictionary. Arrow strings
// are UTF-8, so bytes that are not become U+FFFD there; the names kept for
// grouping stay as they came.
func (d *Dictionary) data(mem memory.Allocator) *array.Data {
	if d.array == nil || d.made < len(d.names) {
		d.release()
		b := array.NewStringBuilder(mem)
		defer b.Release()
		for _, n := range d.names {
			b.Append(strings.ToValidUTF8(n, "\uFFFD"))
		}
		d.array, d.made = b.NewArray(), len(d.names)
	}
	return d.array.Data().(*array.Data)
}

func (d *Dictionary) release() {
	if d.array != nil {
		d.array.Release()
		d.array = nil
	}
}
