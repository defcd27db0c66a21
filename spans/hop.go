package spans

import (
	"cmp"

	"github.com/tailscope/tailscope/internal/jsontype"
)

// Kind is the kind of a span; hop logs have none.
type Kind uint8

const (
	NoKind   Kind = iota // a hop log
	Internal             // work inside a service, also where the source says nothing
	Server
	Client
	Producer
	Consumer
)

// String gives the word used in reports, empty for hop logs.
func (k Kind) String() string { return word(kindWords[:], uint8(k)) }

// MarshalJSON writes the word, null for hop logs.
func (k Kind) MarshalJSON() ([]byte, error) { return jsontype.Text(k.String()).MarshalJSON() }

var kindWords = [...]string{"", "internal", "server", "client", "producer", "consumer"}

// Hop is a named step: a row of the report.
type Hop struct {
	Name      string `json:"hop"`
	Service   string `json:"-"` // empty where the input has only a name
	Operation string `json:"-"`
	Kind      Kind   `json:"kind"`
}

// String gives the name, and the kind where there is one.
func (h Hop) String() string {
	if h.Kind == NoKind {
		return h.Name
	}
	return h.Name + " (" + h.Kind.String() + ")"
}

// Compare orders hops as reports list them: by name, then by the word for their
// kind.
func (h Hop) Compare(o Hop) int {
	return cmp.Or(cmp.Compare(h.Name, o.Name), cmp.Compare(h.Kind.String(), o.Kind.String()),
		cmp.Compare(h.Service, o.Service), cmp.Compare(h.Operation, o.Operation))
}

// Ties are properties of a span's tie to its parent, and of the span itself
// that only traces have.
type Ties uint8

const (
	// Async: the parent does not wait (FOLLOWS_FROM, or messaging).
	Async Ties = 1 << iota
	// MarkedRetry: the source itself says that this is a retry.
	MarkedRetry
	// Shifted: an exporter had moved the span's times and said by how much; they
	// are moved back.
	Shifted
	// SharedHalf: the server half of a span id that client and server share.
	SharedHalf
	// LogLine: the record is a line of a hop log and names no span; its id is
	// made up.
	LogLine
	// Wanted: the span meets all conditions for its trace to be looked at.
	Wanted
	// Unwanted: the span has what its trace is left out for.
	Unwanted
)

// Has reports whether all of want are set.
func (t Ties) Has(want Ties) bool { return t&want == want }
