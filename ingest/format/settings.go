package format

import (
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/spans"
)

// Settings say how records are read. They are read-only once made and may be
// shared.
type Settings struct {
	field.Config
	Rules *outcome.Set
	// Lines are the keys of hop logs, Tags those of the tags of spans.
	Lines, Tags *field.Table
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
