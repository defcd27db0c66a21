package field

import (
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/moment"
)

// Table knows which key of a record means what. It is read-only once made and
// may be shared.
type Table struct {
	// known maps a lower-case key to its uses, exact maps a key as the user or a
	// convention writes it.
	known, exact map[string][]Use
	// parents are the lower-case and the exact first parts of dotted keys: only
	// objects under these are looked into.
	parents map[string]bool
}

func NewTable() *Table {
	return &Table{known: map[string][]Use{}, exact: map[string][]Use{}, parents: map[string]bool{}}
}

// Use is one meaning of a key: rank orders the candidates of a role, 0 best.
type Use struct {
	Role  Role
	Rank  uint16
	Unit  moment.Unit
	First int8   // number of the first attempt, for Attempt
	Match string // the only value that counts, for Condition
}

// AddExact adds a meaning of a key that must be written just so; "" is no key.
func (t *Table) AddExact(key string, u Use) {
	if key != "" {
		t.add(t.exact, key, u)
	}
}

// AddKnown adds a meaning of a lower-case key that may be written in any case.
func (t *Table) AddKnown(key string, u Use) { t.add(t.known, key, u) }

func (t *Table) add(to map[string][]Use, key string, u Use) {
	to[key] = append(to[key], u)
	for i, c := range key {
		if c == '.' {
			t.parents[key[:i]] = true
		}
	}
}

// Uses returns the meanings of a key, which is a dotted path for nested ones.
func (t *Table) Uses(key string) []Use {
	return slices.Concat(t.exact[key], t.known[strings.ToLower(key)])
}

// opens reports whether objects under key may hold a known key.
func (t *Table) opens(key string) bool {
	return t.parents[key] || t.parents[strings.ToLower(key)]
}
