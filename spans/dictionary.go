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

// names are texts that a column holds indices into. They only grow.
type names struct {
	mem  memory.Allocator
	list []string
	// The array of the first `made` names, made again only after growth.
	array arrow.Array
	made  int
}

// data returns the names as Arrow data, which stays theirs. Arrow strings
// are UTF-8, so bytes that are not become U+FFFD there; the names kept for
// grouping stay as they came.
func (n *names) data() *array.Data {
	if n.array == nil || n.made < len(n.list) {
		n.release()
		b := array.NewStringBuilder(n.mem)
		defer b.Release()
		for _, name := range n.list {
			b.Append(strings.ToValidUTF8(name, "\uFFFD"))
		}
		n.array, n.made = b.NewArray(), len(n.list)
	}
	return n.array.Data().(*array.Data)
}

func (n *names) release() {
	if n.array != nil {
		n.array.Release()
		n.array = nil
	}
}

// dictionary maps names to dense indices, which stay good as long as it lives. Not
// safe for concurrent use.
type dictionary struct {
	names
	index map[string]int32
	// near holds names that were found, each at one of two spots: most look-ups are of a
	// few names, and comparing one costs less than hashing all of it.
	near [256]found
}

type found struct {
	ends ends
	at   int32
	key  string
}

// ends are the length of a key and its first and last eight bytes, which may be the same
// and of a shorter one are all there are. Up to sixteen bytes they are the whole key.
type ends struct {
	n           int
	first, last uint64
}

// whole reports whether two keys are the same where their ends are.
func (e *ends) whole() bool { return e.n <= 16 }

// endsOf looks at a key. What stands behind a short one in memory is read too, as to ask
// for the length first takes longer where lengths differ from name to name.
func endsOf(key []byte) ends {
	n := len(key)
	if cap(key) < 8 {
		var room [8]byte
		copy(room[:], key)
		key = room[:]
	}
	beyond := 64 - 8*min(n, 8)
	from := max(n-8, 0)
	return ends{n, binary.LittleEndian.Uint64(key[:8]) << beyond, binary.LittleEndian.Uint64(key[from:from+8]) << beyond}
}

// spot mixes the ends of a key.
func (e *ends) spot() uint8 {
	mixed := (uint64(e.n) + e.first) ^ bits.RotateLeft64(e.last, 29)
	return uint8(mixed * 0x9e3779b97f4a7c15 >> 56) // Knuth's multiplicative hash
}

func newDictionary(mem memory.Allocator) *dictionary {
	return &dictionary{names: names{mem: mem}, index: map[string]int32{}}
}

// at returns the index of name, adding it where it is new. The bytes are
// copied; two names are the same only if all their bytes are.
func (d *dictionary) at(name []byte) int32 { return d.within(name, math.MaxInt32) }

// within is at for a dictionary of at most so many names: a new one beyond is 0.
func (d *dictionary) within(name []byte, most int) int32 {
	i, ok := d.find(name)
	switch {
	case ok:
		return i
	case len(d.list) >= most:
		return 0
	}
	return d.add(name)
}

// find returns the index of a name that is there.
func (d *dictionary) find(name []byte) (int32, bool) {
	e := endsOf(name)
	first := e.spot()
	for i := range uint8(2) {
		near := &d.near[first^i]
		if near.ends == e && (e.whole() || near.key == string(name)) && e.n > 0 {
			return near.at, true
		}
	}
	i, ok := d.index[string(name)]
	if ok {
		d.near[first^1] = d.near[first]
		d.near[first] = found{e, i, d.list[i]}
	}
	return i, ok
}

func (d *dictionary) add(name []byte) int32 {
	s, i := string(name), int32(len(d.list))
	d.index[s] = i
	d.list = append(d.list, s)
	return i
}

// hopTable maps hops to dense indices by keys that differ where the hops do.
type hopTable struct {
	keys *dictionary
	list []Hop
	// shown are the names of the hops, of which several may have the same.
	shown names
	// Once ids are folded: the hops by their names, and some other keys that they have.
	folded  map[Hop]int32
	aliases map[string]int32
	example Folded
}

// mostAliases bounds the keys that are looked up without folding them first.
const mostAliases = 1 << 14

func newHopTable(mem memory.Allocator) *hopTable {
	return &hopTable{keys: newDictionary(mem), shown: names{mem: mem}}
}

func (t *hopTable) add(key []byte, h Hop) int32 {
	t.list = append(t.list, h)
	t.shown.list = append(t.shown.list, h.Name)
	return t.keys.add(key)
}

// addFolded returns the index of the hop that h becomes as the ids in names are folded,
// and whether it is new.
func (t *hopTable) addFolded(key []byte, h Hop, n *Naming) (at int32, fresh bool) {
	to := n.Fold(h)
	if f := folded(h, to); f.before(t.example) {
		t.example = f
		n.note(f)
	}
	if t.folded == nil {
		t.folded, t.aliases = map[Hop]int32{}, map[string]int32{}
	}
	at, known := t.folded[to]
	if !known {
		at = t.add(key, to)
		t.folded[to] = at
	} else if len(t.aliases) < mostAliases {
		t.aliases[string(key)] = at
	}
	return at, !known
}
