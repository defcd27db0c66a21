package ingest

import "bytes"

// value is one field of a record, a view of the record's bytes.
type value struct {
	raw  []byte
	kind valueKind
	use  *use
	key  *keyInfo
}

// empty reports whether the value says nothing: not there, null or "".
func (v *value) empty() bool { return v.kind <= null }

// String is a value with its key, shortened.
func (v *value) String() string {
	raw := v.raw
	if len(raw) > 60 {
		raw = append(bytes.Clone(raw[:60]), "…"...)
	}
	return v.key.path + " " + string(raw)
}

// yes reads a mark: true, 1, "yes" and so on. A number counts as yes when it is
// not zero ("retry": 2); ok is false for what is neither yes nor no.
func (v *value) yes() (yes, ok bool) {
	switch v.kind {
	case boolTrue:
		return true, true
	case boolFalse, null, absent:
		return false, true
	}
	if d, err := parseDecimal(bytes.TrimSpace(v.raw)); err == nil {
		return d.mantissa != 0, !d.negative
	}
	var buf [maxWord]byte
	switch string(fold(v.raw, &buf)) {
	case "true", "t", "yes", "y":
		return true, true
	case "", "false", "f", "no", "n":
		return false, true
	}
	return false, false
}

// maxWord is the longest text that can be a word with a meaning.
const maxWord = 40

// fold writes a word to buf in lower case without blanks, - and _, so that
// DEADLINE_EXCEEDED and "deadline exceeded" are the same. Longer text is no word
// and comes back as it is.
func fold(b []byte, buf *[maxWord]byte) []byte {
	if len(b) > maxWord {
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

// record holds the known fields of one record while it is read.
type record struct {
	has        uint64 // a bit for each role whose key is there, be it with null
	values     [roles]value
	duplicates int64 // keys that came more than once
}

func (r *record) reset() { r.has, r.duplicates = 0, 0 }

// get returns the value for a role; an absent one is empty.
func (r *record) get(role Role) *value {
	if r.has&(1<<role) == 0 {
		return &absentValue
	}
	return &r.values[role]
}

var absentValue = value{use: new(use)}

// put keeps a value where no better candidate for the role is there yet: null
// and "" give way to any other, but an empty hop stands for itself. The same key
// twice: the last one counts, as in encoding/json.
func (r *record) put(u *use, key *keyInfo, kind valueKind, raw []byte) {
	if u.role == Condition && string(raw) != u.match {
		return
	}
	if len(raw) == 0 && u.role != Hop {
		kind = null
	}
	if r.has&(1<<u.role) != 0 {
		old := &r.values[u.role]
		switch {
		case old.key == key || old.use.rank == u.rank && kind > null:
			r.duplicates++
		case kind == null || old.kind > null && old.use.rank < u.rank:
			return
		}
	}
	r.has |= 1 << u.role
	r.values[u.role] = value{raw, kind, u, key}
}

// known reports whether the record has a value for each of the roles.
func (r *record) known(all ...Role) bool {
	for _, role := range all {
		if r.get(role).empty() {
			return false
		}
	}
	return true
}

// keyInfo is what is known of one key as written.
type keyInfo struct {
	path  string // dotted
	uses  []use
	opens bool     // objects under it may hold known keys
	next  *keyInfo // the key that followed it when it was last read
}

// keyCache remembers the keys seen, so that a key costs one look-up without an
// allocation, and mostly not even that: the lines of a log have their keys in
// the same order. Hostile input with ever new keys must not fill the memory, so
// it stops remembering at a limit.
type keyCache struct {
	table *table
	seen  map[string]*keyInfo
	first keyInfo  // stands before the first key of a record
	last  *keyInfo // that was read
}

const maxCachedKeys = 4096

func newKeyCache(t *table) keyCache { return keyCache{table: t, seen: map[string]*keyInfo{}} }

// rewind starts a record.
func (c *keyCache) rewind() { c.last = &c.first }

// get returns what is known of the next key of a record.
func (c *keyCache) get(path []byte) *keyInfo {
	k := c.last.next
	if k == nil || k.path != string(path) {
		k = c.find(path)
		if len(c.seen) < maxCachedKeys {
			c.last.next = k
		}
	}
	c.last = k
	return k
}

func (c *keyCache) find(path []byte) *keyInfo {
	if k, ok := c.seen[string(path)]; ok {
		return k
	}
	p := string(path)
	k := &keyInfo{path: p, uses: c.table.look(p), opens: c.table.opens(p)}
	if len(c.seen) < maxCachedKeys {
		c.seen[p] = k
	}
	return k
}
