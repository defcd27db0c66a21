package field

import (
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
)

// Table knows which key of a record means what. It is read-only once made and
// may be shared.
type Table struct {
	// known maps a lower-case key to its uses, exact maps a key as the user or a
	// convention writes it.
	known, exact map[string][]Use
	// folded maps keys as FoldKey writes them.
	folded map[string][]Use
	// parents are the lower-case, the exact and the folded first parts of dotted keys:
	// only objects under these are looked into.
	parents, foldedParents map[string]bool
	// Signs says what the mere presence of a key shows, nil where nobody asks. It gets the
	// key without its wrappers, in lower case and folded.
	Signs func(lower, folded string) Signs
	// selection has the conditions on keys, nil for none.
	selection *selection.Selection
}

func NewTable() *Table {
	return &Table{
		known: map[string][]Use{}, exact: map[string][]Use{}, folded: map[string][]Use{},
		parents: map[string]bool{}, foldedParents: map[string]bool{},
	}
}

// Signs is what the key of a field shows by being there, whatever its value.
type Signs uint16

// Signs of a record.
const (
	ShowsHTTP   Signs = 1 << iota // the record is of an HTTP request
	ShowsServer                   // who wrote it served the request, or passed it on
	ShowsClient                   // who wrote it sent the request
	ShowsRPC                      // the record is of a gRPC or another remote call
	ShowsSpan                     // the record is a span as OpenTelemetry writes one
	// The rest is about the key itself.
	IsHTTP // its value is one of HTTP
	IsRPC  // its value is one of gRPC or OpenTelemetry
	IsMute // its text is a name or an address, and no message
)

// Has reports whether one of the signs is there.
func (s Signs) Has(any Signs) bool { return s&any != 0 }

// FoldKey writes a key in lower case without dots, blanks, - and _.
func FoldKey(key string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c | 0x20
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '@':
			return -1
		}
		return c
	}, key)
}

// wrappers are objects that loggers and exporters put fields into; those under them
// count as if they stood by themselves.
var wrappers = map[string]bool{
	"attributes": true, "spanattributes": true, "attrs": true, "tags": true, "tag": true, "fields": true, "jsonpayload": true, "payload": true,
	"data": true, "properties": true, "customdimensions": true, "extra": true, "context": true, "ctx": true, "meta": true, "metadata": true,
}

// unwrapped takes wrappers off a dotted key.
func unwrapped(key string) string {
	for {
		first, rest, nested := strings.Cut(key, ".")
		if !nested || !wrappers[FoldKey(first)] {
			return key
		}
		key = rest
	}
}

// AddFolded adds a meaning of a key that may be written in any case, with or without
// dots, blanks, - and _, and inside of a wrapper. Of two spellings of one key for a role the first counts.
func (t *Table) AddFolded(key string, u Use) {
	folded := FoldKey(key)
	if !slices.ContainsFunc(t.folded[folded], func(o Use) bool { return o.Role == u.Role }) {
		t.folded[folded] = append(t.folded[folded], u)
	}
	for i, c := range key {
		if c == '.' {
			t.foldedParents[FoldKey(key[:i])] = true
		}
	}
}

// Use is one meaning of a key: rank orders the candidates of a role, 0 best.
type Use struct {
	Role  Role
	Rank  uint16
	Unit  moment.Unit
	First int8   // number of the first attempt, for Attempt
	Epoch bool   // as in Flag
	Match string // the only value that counts, for Condition
	Flag  uint8  // number of the --field that named the key, from 1; 0 for none
	// NoMark: of Timeout: a bare number is a time and never a mark.
	NoMark bool
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
	t.open(key)
}

// open has objects looked into in which a dotted key may be.
func (t *Table) open(key string) {
	for i, c := range key {
		if c == '.' {
			t.parents[key[:i]] = true
		}
	}
}

// Select has the values of keys noted on which a selection has conditions.
func (t *Table) Select(s *selection.Selection) {
	if t.selection = s; s == nil {
		return
	}
	for i := range s.Conditions {
		t.open(strings.ToLower(s.Conditions[i].Key))
	}
}

// conditionsOn are those on a key, or on what it is without its wrappers.
func (t *Table) conditionsOn(lower, bare string) []int {
	on := t.selection.Of(lower)
	if bare != lower {
		on = slices.Concat(on, t.selection.Of(bare))
	}
	return on
}

// describe returns what is known of a key, which is a dotted path for nested ones.
func (t *Table) describe(key string) Key {
	bare := unwrapped(key)
	lower, folded := strings.ToLower(bare), FoldKey(bare)
	k := Key{Path: key, Uses: slices.Concat(t.exact[key], t.known[strings.ToLower(key)], t.folded[folded]), Opens: t.opens(key, folded)}
	k.Conditions, k.selection = t.conditionsOn(strings.ToLower(key), lower), t.selection
	if t.Signs != nil {
		k.Signs = t.Signs(lower, folded)
	}
	for _, u := range k.Uses {
		if u.Flag > 0 {
			k.Flags |= 1 << (u.Flag - 1)
		}
	}
	return k
}

// Uses returns the meanings of a key, which is a dotted path for nested ones.
func (t *Table) Uses(key string) []Use { return t.describe(key).Uses }

// Key returns what is known of a key, which is a dotted path for nested ones.
func (t *Table) Key(key string) *Key {
	k := t.describe(key)
	return &k
}

// opens reports whether objects under key may hold a known key.
func (t *Table) opens(key, folded string) bool {
	return t.parents[key] || t.parents[strings.ToLower(key)] || t.foldedParents[folded] || len(t.folded) > 0 && wrappers[folded]
}
