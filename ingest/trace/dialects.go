// Package trace reads traces: the JSON of Jaeger and of OpenTelemetry, and Jaeger's
// protobuf.
//
//	stream ── documents ──> chunks of whole elements ── decoder ──> spans
//
// A dialect says by which keys its values are known; the cutting and the decoding
// look at the list of dialects only.
package trace

import (
	"slices"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// dialects are the JSON formats of traces, in the order in which they are tried.
var dialects = []*dialect{
	&jaegerUI,
	&jaegerModel,
	&otlp,
}

// Formats are the formats of traces, in the order in which they are tried.
func Formats() (all []*format.Format) {
	for _, d := range dialects {
		all = append(all, &format.Format{
			Name:       d.name,
			Sniff:      d.sniff,
			Open:       func(f *format.File, _ *format.Settings) (format.Chunker, error) { return newChunker(f) },
			NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newDecoder(s, c) },
			Wrapped:    true,
			LineNote:   &fragment{lines: true},
		})
	}
	return append(all, protobuf)
}

// dialect is one JSON format of traces: all that is known of it. A file may hold
// values of several, so that each value is told by its keys alone.
type dialect struct {
	name string
	// signatures tell files of the dialect; any of them does.
	signatures []signature
	// own are keys of which an object with any is itself a trace or a span.
	own []string
	// containers are members that hold values of whatever dialect, in an array or
	// as one object.
	containers []string
	// elements are members whose array holds elements of this dialect, as nothing
	// else tells them.
	elements []string
	// scopes are the members of an element that have its arrays of spans; none if
	// the element itself has them.
	scopes []string
	// members are further members that the readers want to see.
	members []string
	// otherSignals are members that say that an object holds no traces.
	otherSignals []string
	// read makes what reads the values; nil where that of another dialect does.
	read func(*spanReader) reader
}

// reader reads the values of one dialect. What returns a length returns that of
// what it read, 0 after a fault.
type reader struct {
	// isTrace and isSpan tell what an object is by its members, of which those that
	// a dialect lists are known.
	isTrace, isSpan func(m *members) bool
	trace           func(m *members)
	span            func(v located) (n int, bad *format.Fault)
	// context reads what spans refer to that come by themselves, and inContext one
	// of them.
	context   func(v located)
	inContext func(v located) (n int, bad *format.Fault)
	// element reads an element of the dialect's arrays.
	element func(v located) (n int, bad *format.Fault)
	// Fast paths of whole values, nil for none: where ok is false, nothing was done.
	fastValue func(v located) (n int, ok bool)
	fastLine  func(v located) (ok bool)
}

// What the keys of the dialects tell, found once from the list.
var (
	// meanings tells what an object with that key is.
	meanings = map[string]meaning{}
	// knownKeys are all keys that the dialects look at.
	knownKeys = keySet("errors", "error")
)

// meaning is what a key says of the object that has it.
type meaning struct {
	content
	// elements is the dialect of the elements that the member holds, nil for values
	// of any.
	elements *dialect
}

func init() {
	for _, d := range dialects {
		d.register(itself, nil, d.own)
		d.register(holdsValues, nil, d.containers)
		d.register(holdsValues, d, d.elements)
		for _, key := range slices.Concat(d.own, d.containers, d.elements, d.members, d.otherSignals) {
			knownKeys[key] = key
		}
	}
}

func (d *dialect) register(is content, elements *dialect, keys []string) {
	for _, key := range keys {
		meanings[key] = meaning{is, elements}
	}
}

// isScopes reports whether a key of an element holds its scopes.
func (d *dialect) isScopes(key string) bool { return d != nil && slices.Contains(d.scopes, key) }
