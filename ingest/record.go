package ingest

import "bytes"

// valueKind is what a value was written as. CSV cells are text.
type valueKind uint8

const (
	absent valueKind = iota
	null
	text
	number
	boolTrue
	boolFalse
)

// value is one field of a record, a view of the record's bytes.
type value struct {
	raw  []byte
	kind valueKind
	use  use
	key  *keyInfo
}

// empty reports whether the value says nothing: not there, null or "".
func (v *value) empty() bool { return v.kind <= null || len(v.raw) == 0 }

// yes reads a mark: true, 1, "yes" and so on. A number counts as yes when it is
// not zero ("retry": 2); ok is false for what is neither yes nor no.
func (v *value) yes() (yes, ok bool) {
	switch v.kind {
	case boolTrue:
		return true, true
	case boolFalse, null, absent:
		return false, true
	}
	b := bytes.TrimSpace(v.raw)
	if d, err := parseDecimal(b); err == nil {
		return d.mantissa != 0, !d.negative
	}
	switch string(bytes.ToLower(b)) {
	case "true", "t", "yes", "y":
		return true, true
	case "", "false", "f", "no", "n", "-":
		return false, true
	}
	return false, false
}

// record holds the known fields of one record while it is read.
type record struct {
	has        uint32 // a bit for each role
	values     [roles]value
	duplicates int // keys that came more than once
}

func (r *record) reset() { r.has, r.duplicates = 0, 0 }

// get returns the value for a role; an absent one is empty.
func (r *record) get(role Role) *value {
	if r.has&(1<<role) == 0 {
		return &absentValue
	}
	return &r.values[role]
}

var absentValue value

// put keeps v where no better candidate for the role is there yet. The same
// key twice: the last one counts, as in encoding/json.
func (r *record) put(u use, key *keyInfo, kind valueKind, raw []byte) {
	if r.has&(1<<u.role) != 0 {
		old := &r.values[u.role]
		if old.use.rank < u.rank {
			return
		}
		if old.key == key {
			r.duplicates++
		}
	}
	r.has |= 1 << u.role
	r.values[u.role] = value{raw, kind, u, key}
}

// keyInfo is what is known of one key as written.
type keyInfo struct {
	path  string // dotted
	uses  []use
	opens bool // objects under it may hold known keys
}

// keyCache remembers the keys seen, so that a key costs one look-up without an
// allocation. Hostile input with ever new keys must not fill the memory, so it
// stops remembering at a limit.
type keyCache struct {
	fields *Fields
	seen   map[string]*keyInfo
}

const maxCachedKeys = 4096

func newKeyCache(f *Fields) keyCache { return keyCache{f, map[string]*keyInfo{}} }

func (c *keyCache) get(path []byte) *keyInfo {
	if k, ok := c.seen[string(path)]; ok {
		return k
	}
	p := string(path)
	k := &keyInfo{p, c.fields.look(p), c.fields.opens(p)}
	if len(c.seen) < maxCachedKeys {
		c.seen[p] = k
	}
	return k
}
