package spans

import (
	"encoding/binary"
	"math"
	"math/bits"
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
	// near holds names that were found, each at a spot of its own, as in hopTable.
	near [256]found
	// The array of the first `made` names, made again only after growth.
	array arrow.Array
	made  int
}

func newDictionary() *Dictionary { return &Dictionary{index: map[string]int32{}} }

// Index returns the index of name, adding it where it is new. The bytes are
// copied; two names are the same only if all their bytes are.
func (d *Dictionary) Index(name []byte) int32 { return d.within(name, math.MaxInt32) }

// within is Index for a dictionary of at most so many names: a new one beyond is 0.
func (d *Dictionary) within(name []byte, most int) int32 {
	near := &d.near[spot(name)]
	if near.key == string(name) && len(name) > 0 {
		return near.at
	}
	i, ok := d.index[string(name)]
	switch {
	case !ok && len(d.names) >= most:
		return 0
	case !ok:
		i = d.add(name)
	}
	*near = found{d.names[i], i}
	return i
}

func (d *Dictionary) add(name []byte) int32 {
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

// hopTable maps hops to dense indices, as Dictionary does with names. The four
// columns that describe a hop share one column of indices.
type hopTable struct {
	index map[string]int32
	keys  []string
	list  []Hop
	parts [4]Dictionary // name, service, operation, kind; their indices are those of list
	// near holds hops that were found, each at a spot of its own: most look-ups are
	// of a few hops, and comparing a key costs less than hashing all of it.
	near [256]found
}

type found struct {
	key string
	at  int32
}

func newHopTable() *hopTable { return &hopTable{index: map[string]int32{}} }

// find returns the index of the hop with that key.
func (t *hopTable) find(key []byte) (int32, bool) {
	near := &t.near[spot(key)]
	if near.key == string(key) && len(key) > 0 {
		return near.at, true
	}
	i, ok := t.index[string(key)]
	if ok {
		*near = found{t.keys[i], i}
	}
	return i, ok
}

// spot mixes the ends of a key.
func spot(key []byte) uint8 {
	mixed := uint64(len(key))
	if n := len(key); n >= 8 {
		mixed += binary.LittleEndian.Uint64(key) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(key[n-8:]), 29)
	} else {
		for _, c := range key {
			mixed = mixed<<8 | uint64(c)
		}
	}
	return uint8(mixed * 0x9e3779b97f4a7c15 >> 56) // Knuth's multiplicative hash
}

func (t *hopTable) add(key []byte, h Hop) int32 {
	i := int32(len(t.list))
	t.keys = append(t.keys, string(key))
	t.index[t.keys[i]] = i
	t.list = append(t.list, h)
	for p, name := range [...]string{h.Name, h.Service, h.Operation, h.Kind.String()} {
		t.parts[p].names = append(t.parts[p].names, name)
	}
	return i
}

func (t *hopTable) release() {
	for p := range t.parts {
		t.parts[p].release()
	}
}
