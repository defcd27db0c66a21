// Package format is what the formats of input have in common with those who read
// files: what a format must offer, the open file, its chunks, the tally of a chunk,
// and where rows go.
package format

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/spans"
)

// Format is one kind of input: how to recognise it, where its chunks may end,
// and how a chunk is decoded.
type Format struct {
	Name  string
	Sniff func(head *Head, f *Settings) Sniffed
	// Open prepares a file: it consumes what stands before the records and
	// returns what cuts the rest into chunks.
	Open       func(f *File, fields *Settings) (Chunker, error)
	NewDecoder func(*Settings, spans.Columns) Decoder
	// Lines tells that records end at newlines; Binary, that there are none and that no
	// byte is white space.
	Lines, Binary bool
	// Wrapped tells that the format may lie in something else, a record a line; LineNote is
	// then the note of such chunks.
	Wrapped  bool
	LineNote any
}

// Chunker cuts a file into chunks of whole records.
type Chunker interface {
	// Next returns the next chunk, io.EOF after the last one.
	Next() (*Chunk, error)
	// Count returns how many chunks there were so far.
	Count() int
}

// Decoder decodes the chunks of one format. It hands each attempt to the sink.
type Decoder interface {
	Decode(c *Chunk, t *Tally, s Sink)
}

// Sink takes what a decoder reads. What the arguments point to is valid only
// during the call.
type Sink interface {
	// Attempt takes a line of a hop log; instance and stratum are nil for none.
	Attempt(row *spans.Row, hop, instance, stratum []byte)
	// Span takes a span. Its hop is called name or, where that is nil, after the
	// service and the operation.
	Span(row *spans.Row, name, service, operation []byte, kind spans.Kind)
	// Host, stratum and peer return the index of a name, for rows of spans.
	Host(name []byte) int32
	Stratum(name []byte) int32
	Peer(name []byte) int32
}

// Head is the start of a file, as its format is looked for.
type Head struct {
	Bytes []byte
	Keys  map[string]bool // of its first value, once one of the formats looked for them
	// What formats that tell themselves by keys made of these: the one that it is, and
	// what it is that none of them reads. Nil for none.
	Known   any
	Refused *RefusedError
}

// Sniffed is what a look at the head of a file told about one format.
type Sniffed struct {
	Mine     bool
	Why      string        // why not
	Refused  *RefusedError // set if the input is recognised, but cannot be used
	Unitless *UnitError    // set if the unit of durations is not known
}

// UnitError says that a duration has no unit. The tool does not guess one.
type UnitError struct {
	Path, Key string
	Role      field.Role // of the field: Duration, Start or End
}

func (e *UnitError) Error() string {
	key := field.Shown(e.Key)
	remedy := fmt.Sprintf("--field %s=%s:UNIT", e.Role, key)
	if e.Role == field.Duration {
		remedy = "--unit ns|us|ms|s, or " + remedy
	} else {
		remedy += " with ns, us, ms or s"
	}
	return fmt.Sprintf("%s: the field %q holds bare numbers and its unit is not known: give %s", e.Path, key, remedy)
}

// RefusedError is an input that is recognised, but cannot be used.
type RefusedError struct{ Path, What, Why string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: this is %s: %s", e.Path, e.What, e.Why)
}

// Settings say how records are read. They are read-only once made and may be
// shared.
type Settings struct {
	field.Config
	Rules *outcome.Set
	// Lines are the keys of hop logs, Tags those of the tags of spans.
	Lines, Tags *field.Table
	// Preset is the name of the one by which they are, "" for none.
	Preset string
	// ByPreset returns these settings with those of a preset, nil for one that cannot be.
	ByPreset func(name string) *Settings
	// General turns off the fast paths of traces, for tests to hold them against.
	General bool
}

// On reports whether a rule counts in this run.
func (s *Settings) On(rule string) bool { return s.Rules.On(rule) }

// SpanHop is a hop of spans, called name or, where that is nil, after its parts.
func (s *Settings) SpanHop(name, service, operation []byte, kind spans.Kind) spans.Hop {
	h := spans.Hop{Name: string(name), Service: string(service), Operation: string(operation), Kind: kind}
	switch {
	case name != nil:
	case s.HopName == "service":
		h.Name = h.Service
	case s.HopName == "operation":
		h.Name = h.Operation
	default:
		h.Name = h.Service + " " + h.Operation
	}
	return h
}

// AppendHopKey appends what tells a hop of spans from all others.
func AppendHopKey(key, name, service, operation []byte, kind spans.Kind) []byte {
	key = append(append(key, name...), 0)
	key = append(append(key, service...), 0)
	return append(append(key, operation...), 0, byte(kind))
}
