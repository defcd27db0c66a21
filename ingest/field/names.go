package field

import (
	"bytes"

	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/spans"
)

// The instance of an attempt is the pod, host or address that it went to. For a
// span of a trace it is the peer that the caller names; what a process says of
// itself is its host.

// Instance returns an instance's name, nil for what loggers write where they have
// none.
func Instance(kind jsonscan.Kind, raw []byte) []byte {
	name := bytes.TrimSpace(raw)
	if kind != jsonscan.Text && kind != jsonscan.Number || len(bytes.Trim(name, "-")) == 0 || !HasDigit(name) && MeansNothing(name) {
		return nil
	}
	return name
}

// Instance returns the instance that a record of a hop log names, nil if none.
func (r *Record) Instance() []byte {
	v := r.Get(InstanceKey)
	return Instance(v.Kind, v.Raw)
}

// Placeholder reports whether an id is what loggers write where they have none.
// Taken for an id it would make one chain of all such lines.
func Placeholder(id []byte) bool {
	return len(bytes.Trim(id, "0-")) == 0 || MeansNothing(id)
}

// MeansNothing reports whether a word says that there is none.
func MeansNothing(word []byte) bool {
	var buf [MaxWord]byte
	switch string(Fold(word, &buf)) {
	case "null", "nil", "none", "unknown", "undefined", "n/a", "na":
		return true
	}
	return false
}

// HasDigit reports whether one of the digits 1 to 9 is in an id; most end in one.
func HasDigit(id []byte) bool {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]-'1' < 9 {
			return true
		}
	}
	return false
}

// SpanKindOf reads a span kind by name, of Jaeger's tag or OpenTelemetry's enum, or
// by OpenTelemetry's number.
func SpanKindOf(raw []byte) spans.Kind {
	var buf [MaxWord]byte
	switch string(bytes.TrimPrefix(Fold(raw, &buf), []byte("spankind"))) {
	case "server", "2":
		return spans.Server
	case "client", "3":
		return spans.Client
	case "producer", "4":
		return spans.Producer
	case "consumer", "5":
		return spans.Consumer
	}
	return spans.Internal
}
