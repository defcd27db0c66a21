package ingest

import (
	"slices"
	"strings"
)

// table knows which key of a record means what. It is read-only once made and
// may be shared.
type table struct {
	// known maps a lower-case key to its uses, exact maps a key as the user or a
	// convention writes it.
	known, exact map[string][]use
	// parents are the lower-case and the exact first parts of dotted keys: only
	// objects under these are looked into.
	parents map[string]bool
}

func newTable() *table {
	return &table{known: map[string][]use{}, exact: map[string][]use{}, parents: map[string]bool{}}
}

// use is one meaning of a key: rank orders the candidates of a role, 0 best.
type use struct {
	role  Role
	rank  uint16
	unit  Unit
	first int8   // number of the first attempt, for Attempt
	match string // the only value that counts, for Condition
}

// addExact adds a meaning of a key that must be written just so.
func (t *table) addExact(key string, u use) { t.add(t.exact, key, u) }

// addKnown adds a meaning of a lower-case key that may be written in any case.
func (t *table) addKnown(key string, u use) { t.add(t.known, key, u) }

func (t *table) add(to map[string][]use, key string, u use) {
	to[key] = append(to[key], u)
	for i, c := range key {
		if c == '.' {
			t.parents[key[:i]] = true
		}
	}
}

// look returns the meanings of a key, which is a dotted path for nested ones.
func (t *table) look(key string) []use {
	return slices.Concat(t.exact[key], t.known[strings.ToLower(key)])
}

// opens reports whether objects under key may hold a known key.
func (t *table) opens(key string) bool {
	return t.parents[key] || t.parents[strings.ToLower(key)]
}
