package field

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// Value is one field of a record, a view of the record's bytes.
type Value struct {
	Raw  []byte
	Kind jsonscan.Kind
	Use  *Use
	Key  *Key
}

// Empty reports whether the value says nothing: not there, null or "".
func (v *Value) Empty() bool { return v.Kind <= jsonscan.Null }

// String is a value with its key, shortened.
func (v *Value) String() string {
	return Shown(v.Key.Path) + " " + Shown(string(v.Raw))
}

// mostShown is how many bytes of a key or a value a message has.
const mostShown = 60

// Shown is a text as it stands in a message, shortened.
func Shown(s string) string {
	if len(s) <= mostShown {
		return s
	}
	return s[:mostShown] + "…"
}

// Yes reads a mark: true, 1, "yes" and so on. A number counts as yes when it is
// not zero ("retry": 2); ok is false for what is neither yes nor no.
func (v *Value) Yes() (yes, ok bool) {
	switch v.Kind {
	case jsonscan.True:
		return true, true
	case jsonscan.False, jsonscan.Null, jsonscan.Absent:
		return false, true
	}
	if d, err := moment.ParseDecimal(bytes.TrimSpace(v.Raw)); err == nil {
		return d.Mantissa != 0, !d.Negative
	}
	var buf [MaxWord]byte
	switch string(Fold(v.Raw, &buf)) {
	case "true", "t", "yes", "y":
		return true, true
	case "", "false", "f", "no", "n":
		return false, true
	}
	return false, false
}

// MaxWord is the longest text that can be a word with a meaning.
const MaxWord = 40

// Fold writes a word to buf in lower case without blanks, - and _, so that
// DEADLINE_EXCEEDED and "deadline exceeded" are the same. Longer text is no word
// and comes back as it is.
func Fold(b []byte, buf *[MaxWord]byte) []byte {
	if len(b) > MaxWord {
		return b
	}
	n := 0
	for _, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '_' || c == '-' || c == ' ':
			continue
		}
		buf[n] = c
		n++
	}
	return buf[:n]
}

// Record holds the known fields of one record while it is read.
type Record struct {
	Has        uint64 // a bit for each role whose key is there, be it with null
	values     [Roles]Value
	Duplicates int64  // keys that came more than once
	Signs      Signs  // of all its keys
	Flags      uint64 // of all its keys
	Selected   selection.Values
}

func (r *Record) Reset() {
	r.Has, r.Duplicates, r.Signs, r.Flags, r.Selected = 0, 0, 0, 0, selection.Values{}
}

// Get returns the value for a role; an absent one is empty.
func (r *Record) Get(role Role) *Value {
	if r.Has&(1<<role) == 0 {
		return &absentValue
	}
	return &r.values[role]
}

var absentValue = Value{Use: new(Use)}

// Put keeps a value where no better candidate for the role is there yet: null
// and "" give way to any other, but an empty hop stands for itself. The same key
// twice: the last one counts, as in encoding/json.
func (r *Record) Put(u *Use, key *Key, kind jsonscan.Kind, raw []byte) {
	if u.Role == Condition && string(raw) != u.Match {
		return
	}
	if len(raw) == 0 && u.Role != Hop {
		kind = jsonscan.Null
	}
	if r.Has&(1<<u.Role) != 0 {
		old := &r.values[u.Role]
		switch {
		case old.Key == key || old.Use.Rank == u.Rank && kind > jsonscan.Null:
			r.Duplicates++
		case kind == jsonscan.Null || old.Kind > jsonscan.Null && old.Use.Rank < u.Rank:
			return
		}
	}
	r.Has |= 1 << u.Role
	r.values[u.Role] = Value{raw, kind, u, key}
}

// Note puts a value under each of the roles of its key.
func (r *Record) Note(key *Key, kind jsonscan.Kind, raw []byte) {
	r.Signs |= key.Signs
	r.Flags |= key.Flags
	for i := range key.Uses {
		r.Put(&key.Uses[i], key, kind, raw)
	}
	r.Select(key, raw)
}

// Select notes a value for the conditions on its key.
func (r *Record) Select(key *Key, raw []byte) {
	if key.Conditions != nil {
		r.Selected.Note(key.selection, key.Conditions, raw)
	}
}

// Known reports whether the record has a value for each of the roles.
func (r *Record) Known(all ...Role) bool {
	for _, role := range all {
		if r.Get(role).Empty() {
			return false
		}
	}
	return true
}

// Key is what is known of one key as written.
type Key struct {
	Path  string // dotted
	Uses  []Use
	Opens bool // objects under it may hold known keys
	Signs Signs
	Flags uint64 // a bit for each --field that names the key
	next  *Key   // the key that followed it when it was last read

	Conditions []int // on its value
	selection  *selection.Selection
}

// Keys remembers the keys seen, so that a key costs one look-up without an
// allocation, and mostly not even that: the lines of a log have their keys in
// the same order. Hostile input with ever new keys must not fill the memory, so
// it stops remembering at a limit.
type Keys struct {
	table *Table
	Seen  map[string]*Key
	first Key  // stands before the first key of a record
	last  *Key // that was read
}

const (
	// MaxCachedKeys is how many keys are remembered.
	MaxCachedKeys = 4096
	LongestKey    = 4 << 10
)

// unknownKey stands for keys that are too long to mean anything.
var unknownKey = Key{Path: "…"}

func NewKeys(t *Table) Keys { return Keys{table: t, Seen: map[string]*Key{}} }

// Rewind starts a record.
func (c *Keys) Rewind() { c.last = &c.first }

// Next returns what is known of the next key of a record.
func (c *Keys) Next(path []byte) *Key {
	k := c.last.next
	if k == nil || k.Path != string(path) {
		k = c.Find(path)
		if k == &unknownKey {
			return k // which is shared, and is followed by any other
		}
		if len(c.Seen) < MaxCachedKeys {
			c.last.next = k
		}
	}
	c.last = k
	return k
}

// Find returns what is known of a key. One longer than any that means something is
// not looked up, let alone remembered.
func (c *Keys) Find(path []byte) *Key {
	if len(path) > LongestKey {
		return &unknownKey
	}
	if k, ok := c.Seen[string(path)]; ok {
		return k
	}
	p := string(path)
	k := c.table.Key(p)
	if len(c.Seen) < MaxCachedKeys {
		c.Seen[p] = k
	}
	return k
}
