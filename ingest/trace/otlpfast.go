package trace

import (
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// fastAnyValue reads what follows the key of an attribute: a text, a number or a
// boolean.
func fastAnyValue(s *jsonscan.Scanner) (kind jsonscan.Kind, raw []byte, ok bool) {
	if !s.Pass(`,"value":{"`) {
		return jsonscan.Absent, nil, false
	}
	if s.Pass(`stringValue":`) {
		raw, ok = s.Unescaped()
		return jsonscan.Text, raw, ok && s.Pass(`}}`)
	}
	if !s.Pass(`intValue":`) && !s.Pass(`boolValue":`) && !s.Pass(`doubleValue":`) || s.Peek() == '{' || s.Peek() == '[' {
		return jsonscan.Absent, nil, false
	}
	kind, raw, err := s.Any()
	return kind, raw, err == nil && s.Pass(`}}`)
}

// fastLine reads a document that is written as collectors do and has all of v. Where
// anything is unusual or wrong it returns false, and nothing was done.
func (o *otlpReader) fastLine(v located) bool {
	return o.waiting(func() bool {
		s := &o.outer
		s.At(v.raw)
		elements := s.Pass(`{"resourceSpans":[`) && s.CompactList(`]`, func() bool { return o.fastResource(v.at) })
		return elements && s.Pass(`}`) && s.I == len(v.raw)
	})
}

// fastElement reads an element of resourceSpans in the same way.
func (o *otlpReader) fastElement(v located) (n int, ok bool) {
	ok = o.waiting(func() bool {
		o.outer.At(v.raw)
		return o.fastResource(v.at)
	})
	return o.outer.I, ok
}

// fastResource reads the element at hand: its resource, then its scopes.
func (o *otlpReader) fastResource(at int) bool {
	s := &o.outer
	if !s.Pass(`{"resource":`) || s.Peek() != '{' {
		return false
	}
	o.resource = process{}
	n := o.resourceAt(located{s.B[s.I:], at + s.I})
	if s.I += n; n == 0 || !s.Pass(`,"scopeSpans":[`) {
		return false
	}
	if len(o.resource.service) > 0 {
		o.resource.add()
	}
	if !s.CompactList(`]`, func() bool { return o.fastScope(at) }) {
		return false
	}
	return s.CompactRest(`}`, o.passMember)
}

// passMember passes a member of an element that says nothing of its spans.
func (o *otlpReader) passMember() bool {
	name, err := o.outer.Name()
	return err == nil && string(name) != "resource" && !isScopes(name) && o.outer.Skip() == nil
}

// fastScope reads the scope at hand.
func (o *otlpReader) fastScope(at int) bool {
	s := &o.outer
	return s.Pass(`{`) && s.CompactList(`}`, func() bool {
		switch name, err := s.Name(); {
		case err != nil:
			return false
		case string(name) == "spans":
			return s.Pass(`[`) && s.CompactList(`]`, func() bool { return o.fastSpan(at) })
		}
		return s.Skip() == nil
	})
}

// fastSpan reads the span at hand, which then waits.
func (o *otlpReader) fastSpan(at int) bool {
	s := &o.outer
	if s.Peek() != '{' || o.readFields(s.B[s.I:]) != nil || !o.wait(at+s.I) {
		return false
	}
	s.I += o.s.I
	return true
}
