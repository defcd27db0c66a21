package trace

import (
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// Keys as the eight bytes after their first quote; those of six have two more.
const (
	keyTraceId    = 't' | 'r'<<8 | 'a'<<16 | 'c'<<24 | 'e'<<32 | 'I'<<40 | 'd'<<48 | '"'<<56
	keySpanId     = 's' | 'p'<<8 | 'a'<<16 | 'n'<<24 | 'I'<<32 | 'd'<<40 | '"'<<48 | ':'<<56
	keyParentSpan = 'p' | 'a'<<8 | 'r'<<16 | 'e'<<24 | 'n'<<32 | 't'<<40 | 'S'<<48 | 'p'<<56
	keyStartNanos = keyStartTime
	keyEndNanos   = 'e' | 'n'<<8 | 'd'<<16 | 'T'<<24 | 'i'<<32 | 'm'<<40 | 'e'<<48 | 'U'<<56
	keyAttributes = 'a' | 't'<<8 | 't'<<16 | 'r'<<24 | 'i'<<32 | 'b'<<40 | 'u'<<48 | 't'<<56
	keyStatus     = 's' | 't'<<8 | 'a'<<16 | 't'<<24 | 'u'<<32 | 's'<<40 | '"'<<48 | ':'<<56

	sixBytes = 1<<48 - 1
	keyName  = 'n' | 'a'<<8 | 'm'<<16 | 'e'<<24 | '"'<<32 | ':'<<40
	keyKind  = 'k' | 'i'<<8 | 'n'<<16 | 'd'<<24 | '"'<<32 | ':'<<40
)

// member reads one member of a span.
func (o *otlpReader) member() error {
	if done, err := o.shortcut(); done {
		return err
	}
	name, err := o.s.Name()
	if err != nil {
		return err
	}
	return o.field(name)
}

// shortcut reads the member at hand if it is written as usual; else it stays
// where it is.
func (o *otlpReader) shortcut() (done bool, err error) {
	s, from := &o.s, o.s.I
	if o.general || len(s.B)-from < shortest || s.B[from] != '"' {
		return false, nil
	}
	key := moment.Eight(s.B[from+1:])
	if key == keyAttributes && s.Pass(`"attributes":[`) {
		s.I--
		return true, s.Elements(o.eachOfSpan)
	}
	if done = o.usual(key); !done {
		s.I = from
	}
	return done, nil
}

// usual reads the member that starts with key, unless it is the attributes, if
// it is written as usual.
func (o *otlpReader) usual(key uint64) (ok bool) {
	s, f := &o.s, &o.has
	switch key {
	case keyTraceId:
		return s.UnescapedAfter(`"traceId":`, &f.trace)
	case keySpanId:
		return s.UnescapedAfter(`"spanId":`, &f.id)
	case keyParentSpan:
		return s.UnescapedAfter(`"parentSpanId":`, &f.parent)
	case keyStartNanos:
		return startNanos.textAfter(s, `"startTimeUnixNano":`, &f.start)
	case keyEndNanos:
		return endNanos.textAfter(s, `"endTimeUnixNano":`, &f.end)
	case keyStatus:
		return s.Pass(`"status":{}`)
	}
	switch key & sixBytes {
	case keyName:
		return s.UnescapedAfter(`"name":`, &f.operation)
	case keyKind:
		var raw []byte
		if ok = s.Pass(`"kind":`); ok {
			raw, ok = s.Whole()
			f.kind = field.SpanKindOf(raw)
		}
	}
	return ok
}

// spanAttribute reads one attribute of a span.
func (o *otlpReader) spanAttribute() error {
	if !o.general && o.usualAttribute() {
		return nil
	}
	return o.oneAttribute(o.note)
}

// usualAttribute reads {"key":…,"value":{"stringValue":…}} or one of a number or
// a boolean, if the key is the expected one; else it stays where it is.
func (o *otlpReader) usualAttribute() bool {
	s, from := &o.s, o.s.I
	if s.Pass(`{"key":"`) {
		if k := o.memos.expected(s.B[s.I:]); k != nil {
			s.I += len(k.written) + 1
			if kind, raw, ok := usualAnyValue(s); ok {
				o.quickTag(k, kind, raw)
				return true
			}
		}
	}
	s.I = from
	return false
}

func usualAnyValue(s *jsonscan.Scanner) (kind jsonscan.Kind, raw []byte, ok bool) {
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

// fastLine reads a document that is written as usual and has all of v. Where
// anything is unusual or wrong it returns false, and nothing was done.
func (o *otlpReader) fastLine(v located) bool {
	return o.waiting(func() bool {
		s := &o.outer
		s.At(v.raw)
		elements := s.Pass(`{"resourceSpans":[`) && s.Tight(`]`, func() bool { return o.usualResource(v.at) })
		return elements && s.Pass(`}`) && s.I == len(v.raw)
	})
}

// wholeElement reads an element of resourceSpans in the same way.
func (o *otlpReader) wholeElement(v located) (n int, ok bool) {
	ok = o.waiting(func() bool {
		o.outer.At(v.raw)
		return o.usualResource(v.at)
	})
	return o.outer.I, ok
}

// usualResource reads the element at hand: its resource, then its scopes.
func (o *otlpReader) usualResource(at int) bool {
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
	if !s.Tight(`]`, func() bool { return o.usualScope(at) }) {
		return false
	}
	return s.Further(`}`, o.passMember)
}

// passMember passes a member of an element that says nothing of its spans.
func (o *otlpReader) passMember() bool {
	name, err := o.outer.Name()
	return err == nil && string(name) != "resource" && !isScopes(name) && o.outer.Skip() == nil
}

// usualScope reads the scope at hand.
func (o *otlpReader) usualScope(at int) bool {
	s := &o.outer
	return s.Pass(`{`) && s.Tight(`}`, func() bool {
		switch name, err := s.Name(); {
		case err != nil:
			return false
		case string(name) == "spans":
			return s.Pass(`[`) && s.Tight(`]`, func() bool { return o.usualSpan(at) })
		}
		return s.Skip() == nil
	})
}

// usualSpan reads the span at hand, which then waits.
func (o *otlpReader) usualSpan(at int) bool {
	s := &o.outer
	if s.Peek() != '{' {
		return false
	}
	o.begun()
	o.s.At(s.B[s.I:])
	if o.s.List('}', "expected , or }", o.eachMember) != nil || !o.wait(at+s.I) {
		return false
	}
	s.I += o.s.I
	return true
}
